/**
 * Interleaved zero bubble: the interleaved order with half its extra warm-up, the backward split, and rank r's weight
 * gradients postponed by r. Mirrors pytorch torch/distributed/pipelining/schedules.py,
 * ScheduleInterleavedZeroBubble, which calls it ZB1P; with one stage per rank it is ZB-H1. Qi et al., arXiv
 * 2401.10241.
 */

import { BACKWARD_INPUT, BACKWARD_WEIGHT, orderByRank } from '../order.ts';
import { loopSizes, noRefusal, noSearch, splitBackwardActions } from './common.ts';
import { groupedSteps } from './grouped-steps.ts';
import type { ScheduleRow } from './row.ts';

export const INTERLEAVED_ZB: ScheduleRow = {
  id: 'interleaved-zb',
  title: 'Interleaved zero bubble',
  source: 'pytorch torch/distributed/pipelining/schedules.py; Qi et al., arXiv 2401.10241',
  placement: 'loop',
  virtualStages: 'any',
  splitsBackward: true,
  aliases: ['interleaved-zb', 'interleavedzb', 'interleavedzerobubble', 'interleaved-zero-bubble'],
  refuse: noRefusal,
  defaultGroupSize: (shape) => Math.max(1, Math.min(shape.pp, shape.microbatches)),
  actions: splitBackwardActions,
  searches: noSearch,
  order: (shape) => {
    const { pp, vpp, groupSize } = shape;
    const { chunk, microbatch } = groupedSteps(shape);
    const total = chunk.length;
    return orderByRank(loopSizes(shape), splitBackwardActions(shape), (ids, start, rank, steps) => {
      const warmUp = Math.min(total, pp - 1 - rank + (vpp - 1) * groupSize);
      const postponed = Math.min(total, rank);
      const forward = (i: number) => (chunk[i]! * pp + rank) * steps.stage + microbatch[i]! * steps.microbatch;
      const backward = (i: number) =>
        ((vpp - 1 - chunk[i]!) * pp + rank) * steps.stage + microbatch[i]! * steps.microbatch;
      let at = start;
      for (let i = 0; i < warmUp; i++) ids[at++] = forward(i);
      for (let i = 0; i < total; i++) {
        if (warmUp + i < total) ids[at++] = forward(warmUp + i);
        ids[at++] = backward(i) + BACKWARD_INPUT;
        if (i >= postponed) ids[at++] = backward(i - postponed) + BACKWARD_WEIGHT;
      }
      for (let i = total - postponed; i < total; i++) ids[at++] = backward(i) + BACKWARD_WEIGHT;
      return at;
    });
  },
};
