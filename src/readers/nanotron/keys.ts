/**
 * The keys of a nanotron YAML that bear on a pipeline. Mirrors huggingface/nanotron at 2411b022
 * src/nanotron/config/{config,parallelism_config,models_config}.py.
 */

import type { NANOTRON_ENGINES } from '../../frameworks/nanotron.ts';
import { type KeyHelp, quotedWords, switchWords } from '../completion/tree.ts';

const ENGINES: Readonly<Record<keyof typeof NANOTRON_ENGINES, string>> = {
  '1f1b': 'One forward, one backward: as many live microbatches as ranks. Needs microbatches >= pp - 1.',
  afab: 'All forward, all backward: every microbatch is live at once.',
};
const RECOMPUTE = 'Whole layers are computed again in the backward: least memory.';

const HELP = {
  'parallelism.dp': { about: 'Data-parallel replicas. dp x pp x tp x context_parallel_size must be the GPU count.' },
  'parallelism.pp': { about: 'Pipeline ranks, one stage each.' },
  'parallelism.tp': { about: 'Tensor-parallel ranks.' },
  'parallelism.context_parallel_size': { about: 'Context-parallel ranks; 1 when absent.' },
  'parallelism.expert_parallel_size': { about: 'Expert-parallel ranks; 1 when absent.' },
  'parallelism.pp_engine': { about: 'The schedule; afab when absent.', words: quotedWords(ENGINES) },
  'parallelism.recompute_layer': { about: RECOMPUTE, words: switchWords(RECOMPUTE) },
  'tokens.micro_batch_size': { about: 'Samples of one microbatch.' },
  'tokens.batch_accumulation_per_replica': { about: 'Microbatches of one step: more of them, less idle time.' },
  'tokens.sequence_length': { about: 'Tokens of one sample.' },
  'tokens.train_steps': { about: 'Steps of the run.' },
} as const satisfies Readonly<Record<string, KeyHelp>>;

export type NanotronKey = keyof typeof HELP;

export const NANOTRON_KEYS: ReadonlyMap<string, KeyHelp> = new Map(Object.entries(HELP));
