/**
 * Megatron-LM: which schedules it runs and what it refuses of them. Mirrors NVIDIA/Megatron-LM
 * megatron/core/pipeline_parallel/schedules.py (forward_backward_pipelining_with_interleaving) and
 * megatron/training/arguments.py at d98e8a64.
 */

import type { ScheduleId } from '../model/schedule.ts';
import type { Framework, Refusal, ScheduleRequest } from './framework.ts';
import { firstRefusal, forSchedules, oneStage, onlySchedules } from './schedule-rules.ts';

const TITLE = 'Megatron-LM';
const SCHEDULES: readonly ScheduleId[] = ['none', '1f1b', 'interleaved-1f1b'];

export const MEGATRON_LM: Framework = {
  id: 'megatron-lm',
  title: TITLE,
  source: 'NVIDIA/Megatron-LM@d98e8a64 megatron/core/pipeline_parallel/schedules.py',
  schedules: SCHEDULES,
  refuse: firstRefusal([
    onlySchedules(TITLE, SCHEDULES),
    oneStage(TITLE, ['none', '1f1b']),
    forSchedules(['1f1b'], overlapRefusal),
    forSchedules(['interleaved-1f1b'], interleavedRefusal),
  ]),
  defaultGroupSize: ({ pp }) => pp,
  variant: () => null,
};

function overlapRefusal({ communication }: ScheduleRequest): Refusal | null {
  if (communication !== 'overlap' && communication !== 'overlap-flush') return null;
  return {
    code: 'options-conflict',
    message: `${TITLE}: non-interleaved pipeline parallelism does not support overlapping p2p communication`,
    about: ['schedule'],
  };
}

function interleavedRefusal({ pp, microbatches, groupSize }: ScheduleRequest): Refusal | null {
  const group = groupSize ?? pp;
  if (pp < 2) {
    return {
      code: 'schedule-not-legal',
      message: `${TITLE}: the interleaved schedule needs a pipeline-model-parallel size greater than 1, but it is ${pp}`,
      about: ['pp', 'vpp'],
    };
  }
  if (group < pp || group > microbatches) {
    return {
      code: 'group-size-out-of-range',
      message:
        `${TITLE}: the number of contiguous micro-batches in a virtual pipeline stage should range in ` +
        `[PP=${pp}, M=${microbatches}], but it is ${group}`,
      about: groupSize === null ? ['microbatches', 'pp'] : ['groupSize', 'microbatches', 'pp'],
    };
  }
  const remainder = microbatches % group;
  if (remainder > 0 && remainder < pp) {
    return {
      code: 'group-size-out-of-range',
      message:
        `${TITLE}: the remainder of M=${microbatches} micro-batches divided by N=${group} contiguous micro-batches ` +
        `in a virtual pipeline stage should be 0, or at least the pipeline-parallel size ${pp}, but it is ${remainder}`,
      about: groupSize === null ? ['microbatches', 'pp'] : ['groupSize', 'microbatches', 'pp'],
    };
  }
  return null;
}
