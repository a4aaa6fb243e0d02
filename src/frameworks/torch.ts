/**
 * torch.distributed.pipelining: which schedules it runs, what it refuses, and the group size that its interleaved
 * schedules derive from the microbatches. Mirrors pytorch/pytorch torch/distributed/pipelining/schedules.py at
 * release 2.14.1. torchtitan runs on it.
 */

import type { ScheduleId } from '../model/schedule.ts';
import type { Framework, Refusal, ScheduleRequest } from './framework.ts';
import { firstRefusal, forSchedules, oneStage, onlySchedules, twoStages } from './schedule-rules.ts';

const TITLE = 'torch';

export const TORCH_SCHEDULES: readonly ScheduleId[] = [
  'gpipe',
  '1f1b',
  'interleaved-1f1b',
  'looped-bfs',
  'interleaved-zb',
  'zbv',
  'dualpipev',
];

export const TORCH: Framework = {
  id: 'torch',
  title: TITLE,
  source: 'pytorch/pytorch 2.14.1 torch/distributed/pipelining/schedules.py',
  schedules: TORCH_SCHEDULES,
  refuse: torchRefusal,
  defaultGroupSize: torchGroupSize,
  variant: torchVariant,
};

/** What torch refuses, for frameworks that run on it as well. */
export function torchRefusal(request: ScheduleRequest): Refusal | null {
  return RULES(request);
}

/** Rounds are as many as whole pipelines fill; their microbatches make a group. */
export function torchGroupSize({ pp, microbatches }: ScheduleRequest): number {
  return Math.max(1, Math.floor(microbatches / rounds(pp, microbatches)));
}

export function torchVariant(schedule: ScheduleId): string | null {
  return schedule === 'zbv' ? 'torch' : null;
}

const RULES = firstRefusal([
  onlySchedules(TITLE, TORCH_SCHEDULES),
  oneStage(TITLE, ['gpipe', '1f1b']),
  twoStages(TITLE, ['zbv', 'dualpipev']),
  forSchedules(['1f1b'], ({ pp, microbatches }) =>
    microbatches >= pp
      ? null
      : {
          code: 'microbatches-below-minimum',
          message: `${TITLE}: the number of microbatches (${microbatches}) must be greater than or equal to the number of stages (${pp})`,
          about: ['microbatches', 'pp'],
        },
  ),
  forSchedules(['interleaved-1f1b'], (request) => roundsRefusal('Interleaved 1F1B', request)),
  forSchedules(['interleaved-zb'], (request) => roundsRefusal('Zero bubble', request)),
  forSchedules(['dualpipev'], ({ pp, microbatches }) =>
    microbatches >= 2 * pp
      ? null
      : {
          code: 'microbatches-below-minimum',
          message: `${TITLE}: DualPipeV requires at least as many microbatches as stages, but got ${microbatches} microbatches and ${2 * pp} stages`,
          about: ['microbatches', 'pp'],
        },
  ),
]);

function rounds(pp: number, microbatches: number): number {
  return Math.max(1, Math.floor(microbatches / pp));
}

function roundsRefusal(what: string, { pp, microbatches }: ScheduleRequest): Refusal | null {
  const count = rounds(pp, microbatches);
  return microbatches % count === 0
    ? null
    : {
        code: 'batch-not-divisible',
        message: `${TITLE}: ${what} requires the number of microbatches to be a multiple of the number of rounds (${count}), but got ${microbatches}`,
        about: ['microbatches', 'pp'],
      };
}
