/**
 * torchtitan: torch's schedules and refusals; without a pipeline it has nothing to refuse. Its own rules about splits
 * and batches need the config's keys and stand in the reader. Mirrors pytorch/torchtitan
 * torchtitan/distributed/pipeline_parallel.py.
 */

import type { Framework } from './framework.ts';
import { TORCH_SCHEDULES, torchGroupSize, torchRefusal, torchVariant } from './torch.ts';

export const TORCHTITAN: Framework = {
  id: 'torchtitan',
  title: 'torchtitan',
  source: 'pytorch/torchtitan@238fa9953 torchtitan/distributed/pipeline_parallel.py',
  schedules: ['none', ...TORCH_SCHEDULES],
  refuse: (request) => (request.schedule === 'none' ? null : torchRefusal(request)),
  defaultGroupSize: torchGroupSize,
  variant: torchVariant,
};
