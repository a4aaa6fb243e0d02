/**
 * ZB-H1 as the authors' quick-start patch of Megatron runs it: 1F1B in which rank 0 never splits a backward, and rank
 * r > 0 splits its first r, its last steady one and all of its cool-down, whose weight gradients wait their turn.
 * Mirrors sail-sg/zero-bubble-pipeline-parallelism (branch zb-h1-quick-start, c5d50741)
 * megatron/core/pipeline_parallel/schedules.py, forward_backward_pipelining_without_interleaving.
 */

import { BACKWARD, BACKWARD_INPUT, BACKWARD_WEIGHT, type Order, orderByRank } from '../order.ts';
import type { PipelineShape } from '../shape.ts';
import { loopSizes, splitBackwardActions } from './common.ts';

export function quickStartOrder(shape: PipelineShape): Order {
  const { pp, microbatches } = shape;
  return orderByRank(loopSizes(shape), splitBackwardActions(shape), (ids, start, rank, steps) => {
    const id = (microbatch: number) => rank * steps.stage + microbatch * steps.microbatch;
    const warmUp = Math.min(microbatches, pp - 1 - rank);
    const steady = microbatches - warmUp;
    const pending: number[] = [];
    let at = start;
    for (let m = 0; m < warmUp; m++) ids[at++] = id(m);
    for (let m = 0; m < microbatches; m++) {
      const isLastSteady = m === steady - 1;
      if (m < steady) ids[at++] = id(warmUp + m);
      const splits = rank > 0 && (m < rank || m >= steady - 1);
      ids[at++] = id(m) + (splits ? BACKWARD_INPUT : BACKWARD);
      if (splits) pending.push(m);
      if (rank > 0 && m >= rank && (isLastSteady || m >= steady)) ids[at++] = id(pending.shift()!) + BACKWARD_WEIGHT;
    }
    for (const m of pending) ids[at++] = id(m) + BACKWARD_WEIGHT;
    return at;
  });
}
