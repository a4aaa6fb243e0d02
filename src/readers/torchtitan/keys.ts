/**
 * The pipeline and batch keys of a torchtitan config, with the eras in which it takes them. An era without a key either
 * had another name for it or did not have it yet. Mirrors pytorch/torchtitan torchtitan/config/job_config.py and
 * torchtitan/config_manager.py, as `config.ts` tells.
 */

import { TORCH_NAMES } from '../../frameworks/torch-names.ts';
import type { KeyHelp, Word } from '../completion/tree.ts';
import type { Era } from './config.ts';

export interface TitanKey extends KeyHelp {
  readonly eras: readonly Era[];
}

const ALWAYS: readonly Era[] = ['count', 'size', 'local', 'tokens'];
const SINCE_2025_04: readonly Era[] = ['size', 'local', 'tokens'];
const SINCE_2025_06: readonly Era[] = ['local', 'tokens'];
const STAGES = { one: 'one stage on each rank', many: 'several stages on each rank', two: 'two stages on each rank' };

const SCHEDULES: readonly Word[] = TORCH_NAMES.flatMap(({ name, id, stagesPerRank }) =>
  id === null ? [] : [{ word: name, meaning: `${id}: ${STAGES[stagesPerRank]}.`, quoted: true }],
);

/** Keys of the parallel sizes; which section they stand in is a matter of the era. */
export const PARALLEL_KEYS: Readonly<Record<string, TitanKey>> = {
  pipeline_parallel_degree: { about: 'Pipeline ranks; 1 when absent.', eras: ALWAYS },
  pipeline_parallel_schedule: {
    about: "torch's name of the schedule; 1F1B when absent.",
    eras: ALWAYS,
    words: SCHEDULES,
  },
  pipeline_parallel_schedule_csv: { about: 'A file that holds the order, in the place of a schedule.', eras: ALWAYS },
  pipeline_parallel_split_mode: { about: 'How the model was split, until 2024-08.', eras: [] },
  pipeline_parallel_split_points: {
    about: 'The layers that start a stage, such as layers.4; as many as stages less one.',
    eras: ['count', 'size'],
  },
  pipeline_parallel_microbatches: {
    about: 'Microbatches of a local batch; as many as stages when absent.',
    eras: ['count', 'tokens'],
  },
  pipeline_parallel_microbatch_size: {
    about: 'Samples of one microbatch, which must divide the local batch; 1 when absent.',
    eras: ['size', 'local'],
  },
  pipeline_parallel_layers_per_stage: {
    about: 'Layers of one stage: with an interleaved schedule it gives the stages on each rank.',
    eras: SINCE_2025_04,
  },
  pipeline_parallel_first_stage_less_layers: {
    about: 'So many layers fewer on the first stage, for its embedding; 1 when absent.',
    eras: SINCE_2025_06,
  },
  pipeline_parallel_last_stage_less_layers: {
    about: 'So many layers fewer on the last stage, for its output layer; 1 when absent.',
    eras: SINCE_2025_06,
  },
  pipeline_parallel_expert_parallel_overlap: {
    about: 'Hides the exchange of tokens between experts behind another microbatch, with DualPipeV.',
    eras: SINCE_2025_06,
  },
  module_fqns_per_model_part: { about: 'The modules of every stage, by name.', eras: SINCE_2025_06 },
  tensor_parallel_degree: { about: 'Tensor-parallel ranks; 1 when absent.', eras: ALWAYS },
  context_parallel_degree: { about: 'Context-parallel ranks that share a sequence; 1 when absent.', eras: ALWAYS },
  expert_parallel_degree: { about: 'Expert-parallel ranks; 1 when absent.', eras: SINCE_2025_06 },
  data_parallel_shard_degree: {
    about: 'Data-parallel ranks that shard the weights; -1 is what is left.',
    eras: ALWAYS,
  },
  data_parallel_replicate_degree: { about: 'Replicas of the weights; 1 when absent.', eras: ALWAYS },
};

/** Keys with a section of their own. */
export const OTHER_KEYS: Readonly<Record<string, TitanKey>> = {
  'training.local_batch_size': {
    about: 'Samples of one data-parallel rank in one forward and backward of the pipeline; 8 when absent.',
    eras: ['local'],
  },
  'training.batch_size': {
    about: 'Samples of one data-parallel rank in one step; 8 when absent.',
    eras: ['count', 'size'],
  },
  'training.global_batch_size': {
    about: 'Samples of one step: a multiple of local batch x data-parallel ranks; -1 is one local batch each.',
    eras: ['local'],
  },
  'training.seq_len': { about: 'Tokens of one sample; 2048 when absent.', eras: ['count', 'size', 'local'] },
  'training.steps': { about: 'Steps of the run; 10000 when absent.', eras: ALWAYS },
};

/** Whether some torchtitan has, or had, the key. */
export function isParallelKey(name: string): boolean {
  return Object.hasOwn(PARALLEL_KEYS, name);
}
