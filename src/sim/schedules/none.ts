/** No pipeline: one rank runs every microbatch forward through its stages and back again. */

import { counted } from '../../model/counted.ts';
import { BACKWARD } from '../order.ts';
import { forwardBackwardActions, forwardBackwardOrder, noGroups, noSearch } from './common.ts';
import type { ScheduleRow } from './row.ts';

export const NONE: ScheduleRow = {
  id: 'none',
  title: 'No pipeline',
  source: 'NVIDIA/Megatron-LM megatron/core/pipeline_parallel/schedules.py, forward_backward_no_pipelining',
  placement: 'loop',
  virtualStages: 'any',
  splitsBackward: false,
  aliases: ['none'],
  refuse: (shape) => (shape.pp === 1 ? null : `${counted(shape.pp, 'rank')} need a pipeline schedule`),
  defaultGroupSize: noGroups,
  actions: forwardBackwardActions,
  searches: noSearch,
  order: (shape) =>
    forwardBackwardOrder(shape, (ids, start, _rank, steps) => {
      let at = start;
      for (let m = 0; m < shape.microbatches; m++) {
        const id = m * steps.microbatch;
        for (let s = 0; s < shape.vpp; s++) ids[at++] = s * steps.stage + id;
        for (let s = shape.vpp - 1; s >= 0; s--) ids[at++] = s * steps.stage + id + BACKWARD;
      }
      return at;
    }),
};
