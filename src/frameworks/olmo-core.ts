/**
 * OLMo-core: torch's schedules and refusals, two stages per rank for those that interleave. Mirrors
 * allenai/OLMo-core@fa6c5014c src/olmo_core/distributed/parallel/pipeline_parallel.py.
 */

import type { Framework } from './framework.ts';
import { TORCH_SCHEDULES, torchGroupSize, torchRefusal, torchVariant } from './torch.ts';

export const OLMO_CORE: Framework = {
  id: 'olmo-core',
  title: 'OLMo-core',
  source: 'allenai/OLMo-core@fa6c5014c src/olmo_core/distributed/parallel/pipeline_parallel.py',
  schedules: ['none', ...TORCH_SCHEDULES.filter((id) => id !== 'dualpipev')],
  refuse: (request) => (request.schedule === 'none' ? null : torchRefusal(request)),
  defaultGroupSize: torchGroupSize,
  variant: torchVariant,
};
