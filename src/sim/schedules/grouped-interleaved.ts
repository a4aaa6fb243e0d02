/**
 * Grouped interleaved 1F1B: a building block of slots, repeated for every group of microbatches, in which a rank's
 * second stage starts as soon as half a pipeline has passed, so that it holds fewer activations than interleaved 1F1B.
 * Mirrors sail-sg/zero-bubble-pipeline-parallelism
 * megatron/core/pipeline_parallel/zerobubble/scheduler/group_interleaved_1f1b.py at 39f2c186 (get_optimal_building_block,
 * repeat_building_block), for actions of equal time; PipeOffload, arXiv 2503.01328.
 */

import { counted, grouped } from '../../model/counted.ts';
import { BACKWARD_INPUT, BACKWARD_WEIGHT, FORWARD, idSteps } from '../order.ts';
import type { PipelineShape } from '../shape.ts';
import { loopSizes, noSearch, splitBackwardActions } from './common.ts';
import type { ScheduleRow } from './row.ts';
import { orderFromLists } from './search.ts';
import { idsBySlot, slotKey } from './slots.ts';

export const GROUPED_INTERLEAVED: ScheduleRow = {
  id: 'grouped-interleaved',
  title: 'Grouped interleaved 1F1B',
  source: 'PipeOffload, arXiv 2503.01328; sail-sg/zero-bubble-pipeline-parallelism group_interleaved_1f1b.py',
  placement: 'loop',
  virtualStages: 'any',
  splitsBackward: true,
  aliases: ['grouped-interleaved', 'group-interleaved', 'pipeoffload'],
  refuse: ({ pp, groupSize, microbatches }) =>
    groupSize > pp && microbatches > 0
      ? `the group size ${grouped(groupSize)} must not exceed the ${counted(pp, 'rank')}`
      : null,
  defaultGroupSize: ({ pp }) => halfOf(pp),
  actions: splitBackwardActions,
  searches: noSearch,
  order: (shape) =>
    orderFromLists(
      loopSizes(shape),
      Array.from({ length: shape.pp }, (_, rank) => idsBySlot(slotKeys(shape, rank))),
    ),
};

/** Ranks that a microbatch passes before its next stage starts on rank 0. */
function halfOf(pp: number): number {
  return (pp + 1) >> 1;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/** Every action of a rank with its slot. */
function slotKeys(shape: PipelineShape, rank: number): Float64Array {
  const { pp, vpp, microbatches, groupSize } = shape;
  const steps = idSteps(microbatches);
  const groupsPerTurn = Math.ceil(halfOf(pp) / groupSize);
  // Every so many stages the block is one group late, or two actions would want the same slot.
  const stagesPerDelay = vpp / greatestCommonDivisor(vpp, groupsPerTurn);
  const turn = (chunk: number) => 3 * groupSize * (groupsPerTurn * chunk + Math.floor(chunk / stagesPerDelay));
  const firstBackward = turn(vpp - 1) + rank + 3 * (pp - 1 - rank) + 1;
  const keys = new Float64Array(3 * vpp * microbatches);
  let at = 0;
  for (let m = 0; m < microbatches; m++) {
    const late = 3 * groupSize * vpp * Math.floor(m / groupSize) + 3 * (m % groupSize);
    for (let chunk = 0; chunk < vpp; chunk++) {
      const id = (c: number) => (c * pp + rank) * steps.stage + m * steps.microbatch;
      keys[at++] = slotKey(turn(chunk) + rank + late, id(chunk) + FORWARD);
      const backward = firstBackward + turn(chunk) + late;
      keys[at++] = slotKey(backward, id(vpp - 1 - chunk) + BACKWARD_INPUT);
      keys[at++] = slotKey(backward + 1, id(vpp - 1 - chunk) + BACKWARD_WEIGHT);
    }
  }
  return keys;
}
