/**
 * ZB-V by counting, as torch runs it: without bubble when F, I and W take the same time. The order is made for at
 * least 2 pp - 1 microbatches; those that do not exist are left out. Mirrors pytorch
 * torch/distributed/pipelining/schedules.py, ScheduleZBVZeroBubble.
 */

import { BACKWARD_INPUT, BACKWARD_WEIGHT, FORWARD, type Order, orderByRank } from '../order.ts';
import type { PipelineShape } from '../shape.ts';
import { splitBackwardActions, vSizes } from './common.ts';

/** Per kind of step and half of the V, the next microbatch. */
interface Counts {
  forward: [number, number];
  input: [number, number];
  weight: [number, number];
}

export function torchZbvOrder(shape: PipelineShape): Order {
  const { pp, microbatches } = shape;
  const planned = Math.max(2 * pp - 1, microbatches);
  return orderByRank(vSizes(shape), splitBackwardActions(shape), (ids, start, rank, steps) => {
    const stages = [rank, 2 * pp - 1 - rank] as const;
    const next: Counts = { forward: [0, 0], input: [0, 0], weight: [0, 0] };
    let at = start;
    const put = (kind: number, counts: [number, number], half: 0 | 1) => {
      const microbatch = counts[half]++;
      if (microbatch < microbatches) ids[at++] = stages[half] * steps.stage + microbatch * steps.microbatch + kind;
    };
    const forward = (half: 0 | 1) => put(FORWARD, next.forward, half);
    const input = (half: 0 | 1) => put(BACKWARD_INPUT, next.input, half);
    const weight = (half: 0 | 1) => put(BACKWARD_WEIGHT, next.weight, half);
    const backward = (half: 0 | 1) => {
      input(half);
      weight(half);
    };

    for (let i = 0; i < 2 * (pp - rank) - 1; i++) forward(0);
    for (let i = 0; i < rank; i++) {
      forward(1);
      forward(0);
    }
    for (let i = 0; i < pp - rank; i++) {
      forward(1);
      backward(1);
    }
    while (next.forward[1] < next.forward[0] || next.forward[0] < planned) {
      if (next.forward[0] < planned) forward(0);
      backward(0);
      forward(1);
      backward(1);
    }
    for (let i = 0; i < rank; i++) {
      input(0);
      input(1);
    }
    for (let i = 0; i < pp - rank; i++) backward(0);
    while (next.weight[1] < next.input[1]) weight(1);
    while (next.weight[0] < next.input[0]) weight(0);
    return at;
  });
}
