/**
 * The keys of a DeepSpeed config that bear on a pipeline. Mirrors deepspeedai/DeepSpeed@edaa7221
 * deepspeed/runtime/config.py and deepspeed/runtime/zero/config.py.
 */

import type { KeyHelp } from '../completion/tree.ts';

const HELP = {
  train_batch_size: { about: 'Samples of one step: micro batch x accumulation steps x data-parallel size.' },
  train_micro_batch_size_per_gpu: { about: 'Samples of one microbatch on one data-parallel rank.' },
  gradient_accumulation_steps: { about: 'Microbatches of one step: more of them, less idle time.' },
  'zero_optimization.stage': {
    about: 'What ZeRO shards over data-parallel ranks. Stages 2 and 3 exclude a pipeline.',
    words: [
      { word: '0', meaning: 'Shards nothing.', quoted: false },
      { word: '1', meaning: 'Shards the state of the optimizer: goes with a pipeline.', quoted: false },
      { word: '2', meaning: 'Shards gradients too. DeepSpeed refuses it with a pipeline.', quoted: false },
      { word: '3', meaning: 'Shards weights too. DeepSpeed refuses it with a pipeline.', quoted: false },
    ],
  },
} as const satisfies Readonly<Record<string, KeyHelp>>;

export type DeepSpeedKey = keyof typeof HELP;

export const DEEPSPEED_KEYS: ReadonlyMap<string, KeyHelp> = new Map(Object.entries(HELP));
