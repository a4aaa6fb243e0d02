/**
 * OLMo-core: torch's schedules and refusals, two stages per rank for those that interleave. Mirrors
 * allenai/OLMo-core@fa6c5014c src/olmo_core/distributed/parallel/pipeline_parallel.py.
 */

import type { ScheduleId } from '../model/schedule.ts';
import type { Framework } from './framework.ts';
import { firstRefusal, onlySchedules } from './schedule-rules.ts';
import { TORCH_SCHEDULES, torchGroupSize, torchRefusal, torchVariant } from './torch.ts';

const TITLE = 'OLMo-core';
const SCHEDULES: readonly ScheduleId[] = ['none', ...TORCH_SCHEDULES.filter((id) => id !== 'dualpipev')];

export const OLMO_CORE: Framework = {
  id: 'olmo-core',
  title: TITLE,
  source: 'allenai/OLMo-core@fa6c5014c src/olmo_core/distributed/parallel/pipeline_parallel.py',
  schedules: SCHEDULES,
  refuse: firstRefusal([
    onlySchedules(TITLE, SCHEDULES),
    (request) => (request.schedule === 'none' ? null : torchRefusal(request)),
  ]),
  defaultGroupSize: torchGroupSize,
  variant: torchVariant,
};
