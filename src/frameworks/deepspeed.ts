/**
 * DeepSpeed's pipeline engine: 1F1B is the only training schedule, with any number of microbatches. Mirrors
 * deepspeedai/DeepSpeed deepspeed/runtime/pipe/schedule.py (TrainSchedule) at edaa7221.
 */

import type { ScheduleId } from '../model/schedule.ts';
import type { Framework } from './framework.ts';
import { firstRefusal, oneStage, onlySchedules } from './schedule-rules.ts';

const TITLE = 'DeepSpeed';
const SCHEDULES: readonly ScheduleId[] = ['1f1b'];

export const DEEPSPEED: Framework = {
  id: 'deepspeed',
  title: TITLE,
  source: 'deepspeedai/DeepSpeed@edaa7221 deepspeed/runtime/pipe/schedule.py',
  schedules: SCHEDULES,
  refuse: firstRefusal([onlySchedules(TITLE, SCHEDULES), oneStage(TITLE, SCHEDULES)]),
  defaultGroupSize: () => 1,
  variant: () => null,
};
