/**
 * What an order search works on: the sizes of a pipeline, the time of every action and transfer, and how many
 * stage-microbatches a rank may hold. Also what no order can beat.
 */

import { type Order, type OrderSizes, orderByRank } from '../order.ts';
import type { OrderTimes } from '../schedules/row.ts';
import { rankOfStage } from '../shape.ts';

export interface Problem extends OrderSizes {
  /** Stages per rank. */
  readonly vpp: number;
  /** Live stage-microbatches that a rank may hold; at least `vpp`, or no microbatch gets through. */
  readonly memoryLimit: number;
  /** Per stage: its rank. */
  readonly rankOf: Int32Array;
  /** Stage c of rank r, the earliest first, is `stageOf[r * vpp + c]`. */
  readonly stageOf: Int32Array;
  /** Times per stage. */
  readonly forward: Float64Array;
  readonly backwardInput: Float64Array;
  readonly backwardWeight: Float64Array;
  /** Per stage: the transfer to the next one; 0 on the same rank and after the last. */
  readonly transfer: Float64Array;
}

/** A complete order as a search leaves it: rank r owns the r-th of `pp` equal parts of `ids`. */
export interface Found {
  readonly ids: Int32Array;
  readonly makespan: number;
  /** The longest time from a rank's own first start to its own last end. */
  readonly span: number;
}

export function makeProblem(sizes: OrderSizes, times: OrderTimes, memoryLimit: number): Problem {
  const { pp, stages, placement } = sizes;
  const vpp = stages / pp;
  const rankOf = Int32Array.from({ length: stages }, (_, stage) => rankOfStage(placement, pp, stage));
  const stageOf = new Int32Array(stages);
  rankOf.forEach((rank, stage) => {
    stageOf[rank * vpp + Math.floor(stage / pp)] = stage;
  });
  const transfer = new Float64Array(stages);
  for (let s = 0; s + 1 < stages; s++) if (rankOf[s] !== rankOf[s + 1]) transfer[s] = times.transfer[s]!;
  return {
    ...sizes,
    vpp,
    memoryLimit: Math.max(vpp, memoryLimit),
    rankOf,
    stageOf,
    forward: Float64Array.from(times.forward),
    backwardInput: Float64Array.from(times.backwardInput),
    backwardWeight: Float64Array.from(times.backwardWeight),
    transfer,
  };
}

export function orderOf(problem: Problem, { ids }: Found): Order {
  const each = ids.length / problem.pp;
  return orderByRank(problem, ids.length, (all, at, rank) => {
    all.set(ids.subarray(rank * each, (rank + 1) * each), at);
    return at + each;
  });
}

/** What one microbatch takes on a rank. */
function workOf(problem: Problem, rank: number): number {
  const { vpp, stageOf, forward, backwardInput, backwardWeight } = problem;
  let work = 0;
  for (let c = 0; c < vpp; c++) {
    const s = stageOf[rank * vpp + c]!;
    work += forward[s]! + backwardInput[s]! + backwardWeight[s]!;
  }
  return work;
}

/** What one microbatch takes on the rank where it takes the longest. */
export function heaviestWork(problem: Problem): number {
  let most = 0;
  for (let rank = 0; rank < problem.pp; rank++) most = Math.max(most, workOf(problem, rank));
  return most;
}

/**
 * What no order's makespan goes below: the way of one microbatch through all stages and back, and on every rank the
 * way of the first microbatch there and then all of its work.
 */
export function lowerBound(problem: Problem): number {
  const { pp, vpp, stages, microbatches, stageOf, forward, backwardInput, backwardWeight, transfer } = problem;
  if (microbatches === 0) return 0;
  const reached = new Float64Array(stages);
  for (let s = 1; s < stages; s++) reached[s] = reached[s - 1]! + forward[s - 1]! + transfer[s - 1]!;
  let bound = reached[stages - 1]! + forward[stages - 1]! + backwardWeight[0]!;
  for (let s = 0; s < stages; s++) bound += backwardInput[s]! + transfer[s]!;
  for (let rank = 0; rank < pp; rank++) {
    bound = Math.max(bound, reached[stageOf[rank * vpp]!]! + microbatches * workOf(problem, rank));
  }
  return bound;
}
