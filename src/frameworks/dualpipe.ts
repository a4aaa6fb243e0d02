/**
 * DeepSeek's own DualPipe and DualPipeV. Both fill the pipeline from two ends, which takes at least twice as many
 * microbatches as ranks; DualPipe also needs both counts to be even. Mirrors deepseek-ai/DualPipe at 3da1bbea,
 * dualpipe/dualpipe.py and dualpipe/dualpipev.py.
 */

import type { ScheduleId } from '../model/schedule.ts';
import type { Framework, Refusal, ScheduleRequest } from './framework.ts';
import { firstRefusal, forSchedules, onlySchedules, twoStages } from './schedule-rules.ts';

const TITLE = 'DualPipe';
const SCHEDULES: readonly ScheduleId[] = ['dualpipe', 'dualpipev'];

export const DUALPIPE: Framework = {
  id: 'dualpipe',
  title: TITLE,
  source: 'deepseek-ai/DualPipe@3da1bbea dualpipe/dualpipe.py, dualpipe/dualpipev.py',
  schedules: SCHEDULES,
  refuse: firstRefusal([
    onlySchedules(TITLE, SCHEDULES),
    twoStages(TITLE, ['dualpipev']),
    forSchedules(['dualpipe'], evenRefusal),
    enoughRefusal,
  ]),
  defaultGroupSize: () => 1,
  variant: () => null,
};

function evenRefusal({ pp, microbatches }: ScheduleRequest): Refusal | null {
  if (pp % 2 !== 0) {
    return {
      code: 'schedule-not-legal',
      message: `${TITLE}: num_ranks must be even, but it is ${pp}`,
      about: ['pp', 'schedule'],
    };
  }
  if (microbatches % 2 !== 0) {
    return {
      code: 'batch-not-divisible',
      message: `${TITLE}: num_chunks must be even, half for each direction, but it is ${microbatches}`,
      about: ['microbatches', 'schedule'],
    };
  }
  return null;
}

function enoughRefusal({ pp, microbatches }: ScheduleRequest): Refusal | null {
  return microbatches > 0 && microbatches >= 2 * pp
    ? null
    : {
        code: 'microbatches-below-minimum',
        message: `${TITLE}: num_chunks must be at least num_ranks * 2 = ${2 * pp}, but num_chunks=${microbatches}, num_ranks=${pp}`,
        about: ['microbatches', 'pp'],
      };
}
