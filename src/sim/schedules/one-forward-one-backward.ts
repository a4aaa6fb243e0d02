/**
 * 1F1B: rank r warms up with pp - 1 - r forwards (or as many as there are microbatches), then alternates, then drains.
 * Megatron-LM (forward_backward_pipelining_without_interleaving), DeepSpeed (TrainSchedule) and torch (Schedule1F1B)
 * run the same order. Narayanan et al., PipeDream, arXiv 1806.03377; the flushing form in arXiv 2104.04473.
 */

import { BACKWARD } from '../order.ts';
import { forwardBackwardActions, forwardBackwardOrder, noGroups, noSearch, oneStagePerRank } from './common.ts';
import type { ScheduleRow } from './row.ts';

export const ONE_FORWARD_ONE_BACKWARD: ScheduleRow = {
  id: '1f1b',
  title: '1F1B',
  source: 'Narayanan et al., arXiv 1806.03377 and 2104.04473',
  placement: 'loop',
  virtualStages: 'one',
  splitsBackward: false,
  aliases: ['1f1b', 'one-forward-one-backward', 'oneforwardonebackward', 'pipedream-flush', 'onefoneb'],
  refuse: oneStagePerRank,
  defaultGroupSize: noGroups,
  actions: forwardBackwardActions,
  searches: noSearch,
  order: (shape) =>
    forwardBackwardOrder(shape, (ids, start, rank, steps) => {
      const { microbatches } = shape;
      const warmUp = Math.min(microbatches, shape.pp - 1 - rank);
      const step = steps.microbatch;
      let at = start;
      let forward = rank * steps.stage;
      let backward = forward + BACKWARD;
      for (let i = 0; i < warmUp; i++, forward += step) ids[at++] = forward;
      for (let i = warmUp; i < microbatches; i++, forward += step, backward += step) {
        ids[at++] = forward;
        ids[at++] = backward;
      }
      for (let i = 0; i < warmUp; i++, backward += step) ids[at++] = backward;
      return at;
    }),
};
