/**
 * Interleaved 1F1B: every rank holds vpp stages and runs microbatches in groups, a whole group through one stage
 * before the next. With group size pp it is Megatron's default; torch's order is the same with its own group size.
 * Mirrors NVIDIA/Megatron-LM megatron/core/pipeline_parallel/schedules.py (get_schedule_table,
 * get_pp_rank_microbatches); Narayanan et al., arXiv 2104.04473.
 */

import { BACKWARD, type IdSteps } from '../order.ts';
import type { PipelineShape } from '../shape.ts';
import { forwardBackwardActions, forwardBackwardOrder, noRefusal, noSearch } from './common.ts';
import { groupedSteps, type Steps } from './grouped-steps.ts';
import type { ScheduleRow } from './row.ts';

export const INTERLEAVED: ScheduleRow = {
  id: 'interleaved-1f1b',
  title: 'Interleaved 1F1B',
  source: 'Narayanan et al., arXiv 2104.04473',
  placement: 'loop',
  virtualStages: 'any',
  splitsBackward: false,
  aliases: ['interleaved-1f1b', 'interleaved1f1b', 'interleaved', 'vpp', 'interleaved-pp'],
  refuse: noRefusal,
  defaultGroupSize: (shape) => Math.max(1, Math.min(shape.pp, shape.microbatches)),
  actions: forwardBackwardActions,
  searches: noSearch,
  order: (shape) => {
    const steps = groupedSteps(shape);
    return forwardBackwardOrder(shape, (ids, start, rank, idSteps) =>
      writeRank(shape, steps, ids, start, rank, idSteps),
    );
  },
};

function writeRank(
  shape: PipelineShape,
  { chunk, microbatch }: Steps,
  ids: Int32Array,
  start: number,
  rank: number,
  steps: IdSteps,
): number {
  const { pp, vpp, groupSize } = shape;
  const total = chunk.length;
  const warmUp = Math.min(total, 2 * (pp - 1 - rank) + (vpp - 1) * groupSize);
  const own = rank * steps.stage;
  const chunkStep = pp * steps.stage;
  const last = own + (vpp - 1) * chunkStep + BACKWARD;
  let at = start;
  for (let i = 0; i < warmUp; i++) ids[at++] = own + chunk[i]! * chunkStep + microbatch[i]! * steps.microbatch;
  for (let i = warmUp, j = 0; i < total; i++, j++) {
    ids[at++] = own + chunk[i]! * chunkStep + microbatch[i]! * steps.microbatch;
    ids[at++] = last - chunk[j]! * chunkStep + microbatch[j]! * steps.microbatch;
  }
  for (let j = total - warmUp; j < total; j++) {
    ids[at++] = last - chunk[j]! * chunkStep + microbatch[j]! * steps.microbatch;
  }
  return at;
}
