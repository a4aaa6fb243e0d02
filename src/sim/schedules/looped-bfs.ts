/**
 * Looped BFS: all microbatches forward through a rank's first stage, then through its next; backward the exact
 * reverse, microbatches included. Mirrors pytorch torch/distributed/pipelining/schedules.py, ScheduleLoopedBFS;
 * Lamy-Poirier, Breadth-First Pipeline Parallelism, arXiv 2211.05953.
 */

import type { Order } from '../order.ts';
import { BACKWARD } from '../order.ts';
import type { PipelineShape } from '../shape.ts';
import { forwardBackwardActions, forwardBackwardOrder, noGroups, noRefusal, noSearch } from './common.ts';
import type { ScheduleRow } from './row.ts';

export const LOOPED_BFS: ScheduleRow = {
  id: 'looped-bfs',
  title: 'Looped BFS',
  source: 'Lamy-Poirier, arXiv 2211.05953',
  placement: 'loop',
  virtualStages: 'any',
  splitsBackward: false,
  aliases: ['looped-bfs', 'loopedbfs', 'breadth-first', 'bfs'],
  refuse: noRefusal,
  defaultGroupSize: noGroups,
  actions: forwardBackwardActions,
  searches: noSearch,
  order: allForwardThenReversed,
};

/** Every rank runs all its forwards stage by stage, then its backwards in the exact reverse. */
export function allForwardThenReversed(shape: PipelineShape): Order {
  const { pp, vpp, microbatches } = shape;
  return forwardBackwardOrder(shape, (ids, start, rank, steps) => {
    let at = start;
    for (let c = 0; c < vpp; c++) {
      for (let m = 0; m < microbatches; m++) ids[at++] = (c * pp + rank) * steps.stage + m * steps.microbatch;
    }
    for (let i = at - 1; i >= start; i--) ids[at++] = ids[i]! + BACKWARD;
    return at;
  });
}
