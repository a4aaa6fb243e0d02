/** What the searched orders share: growing per-rank lists, times by stage, and the choice among candidates. */

import { type Order, type OrderSizes, orderByRank } from '../order.ts';
import type { PipelineShape } from '../shape.ts';
import type { OrderTimes } from './row.ts';

/** Per rank, the ids in the order in which it runs them, and what the search measured on the way. */
export interface Candidate {
  readonly lists: readonly (readonly number[])[];
  /** The longest time from a rank's own first start to its own last end, or what stands for it in the search. */
  readonly span: number;
  readonly makespan: number;
}

/** The candidate with the shortest span, then makespan; the first of equals. Failed attempts are null. */
export function bestOf(candidates: readonly (Candidate | null)[]): Candidate | null {
  let best: Candidate | null = null;
  for (const each of candidates) {
    if (each === null) continue;
    const better = best === null || each.span < best.span || (each.span === best.span && each.makespan < best.makespan);
    if (better) best = each;
  }
  return best;
}

export function orderFromLists(sizes: OrderSizes, lists: readonly (readonly number[])[]): Order {
  const total = lists.reduce((sum, list) => sum + list.length, 0);
  return orderByRank(sizes, total, (ids, at, rank) => {
    const list = lists[rank]!;
    ids.set(list, at);
    return at + list.length;
  });
}

/** The time of a transfer into a stage from the one before (forward) or after (backward). */
export function transferInto(times: OrderTimes, stage: number, isForward: boolean): number {
  return times.transfer[isForward ? stage - 1 : stage] ?? 0;
}

/** The shape's memory limit, else the schedule's own. */
export function limitOf(shape: PipelineShape, own: number): number {
  return shape.memoryLimit ?? own;
}
