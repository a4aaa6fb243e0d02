/**
 * MaxText: a circular pipeline whose backward is the forward run in reverse. Mirrors AI-Hypercomputer/maxtext at
 * e591f30c: src/maxtext/layers/pipeline.py and the pipeline checks in src/maxtext/configs/types.py.
 */

import type { ScheduleId } from '../model/schedule.ts';
import type { Framework } from './framework.ts';
import { firstRefusal, forSchedules, oneStage, onlySchedules } from './schedule-rules.ts';

const TITLE = 'MaxText';
const SCHEDULES: readonly ScheduleId[] = ['none', 'circular'];

export const MAXTEXT: Framework = {
  id: 'maxtext',
  title: TITLE,
  source: 'AI-Hypercomputer/maxtext@e591f30c src/maxtext/configs/types.py',
  schedules: SCHEDULES,
  refuse: firstRefusal([
    onlySchedules(TITLE, SCHEDULES),
    oneStage(TITLE, ['none']),
    forSchedules(['circular'], ({ pp, microbatches }) =>
      microbatches % pp === 0
        ? null
        : {
            code: 'batch-not-divisible',
            message: `The number of microbatches (${microbatches}) must be divisible by the number of stages (${pp})`,
            about: ['microbatches', 'pp'],
          },
    ),
  ]),
  defaultGroupSize: ({ microbatches }) => Math.max(1, microbatches),
  variant: () => null,
};
