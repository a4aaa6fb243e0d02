/**
 * GPipe: all forwards, then all backwards, microbatches in order both times. Mirrors pytorch
 * torch/distributed/pipelining/schedules.py, ScheduleGPipe; Huang et al., arXiv 1811.06965.
 */

import { BACKWARD } from '../order.ts';
import { forwardBackwardActions, forwardBackwardOrder, noGroups, noSearch, oneStagePerRank } from './common.ts';
import type { ScheduleRow } from './row.ts';

export const GPIPE: ScheduleRow = {
  id: 'gpipe',
  title: 'GPipe',
  source: 'Huang et al., GPipe, arXiv 1811.06965',
  placement: 'loop',
  virtualStages: 'one',
  splitsBackward: false,
  aliases: ['gpipe', 'afab', 'all-forward-all-backward', 'allforwardallbackward', 'fthenb', 'f-then-b'],
  refuse: oneStagePerRank,
  defaultGroupSize: noGroups,
  actions: forwardBackwardActions,
  searches: noSearch,
  order: (shape) =>
    forwardBackwardOrder(shape, (ids, start, rank, steps) => {
      let at = start;
      const first = rank * steps.stage;
      for (let m = 0; m < shape.microbatches; m++) ids[at++] = first + m * steps.microbatch;
      for (let m = 0; m < shape.microbatches; m++) ids[at++] = first + m * steps.microbatch + BACKWARD;
      return at;
    }),
};
