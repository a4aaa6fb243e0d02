/**
 * What one can point at on the timeline: an action, or a gap between actions. Found by binary search in the rank's
 * slice, since a rank runs its actions one after another. Pure.
 */

import type { GapCause } from '../src/model/protocol.ts';
import type { Timeline } from '../src/model/timeline.ts';

export interface ActionItem {
  readonly type: 'action';
  readonly rank: number;
  readonly index: number;
  readonly start: number;
  readonly end: number;
}

export interface GapItem {
  readonly type: 'gap';
  readonly rank: number;
  /** The action that ends the gap; the end of the rank's slice for the cool-down. */
  readonly index: number;
  readonly start: number;
  readonly end: number;
  readonly cause: GapCause;
  /** -1 where nobody was waited for. */
  readonly waitedForRank: number;
}

export type Item = ActionItem | GapItem;

/** What an action is, whatever the timeline: survives a re-simulation. */
export interface ActionIdentity {
  readonly rank: number;
  readonly kind: number;
  readonly stage: number;
  readonly microbatch: number;
}

/** Gaps shorter than this share of the makespan are rounding. */
const SHORTEST_GAP = 1e-9;

/**
 * The other action of an overlapped pair: both share start and end and lie next to each other. -1 where there is none.
 */
export function pairedWith(timeline: Timeline, rank: number, index: number): number {
  const { start, end, rankStart } = timeline;
  if (!(end[index]! > start[index]!)) return -1;
  const twin = (other: number) => start[other] === start[index] && end[other] === end[index];
  if (index > rankStart[rank]! && twin(index - 1)) return index - 1;
  return index + 1 < rankStart[rank + 1]! && twin(index + 1) ? index + 1 : -1;
}

/** First index of the rank's slice whose end lies after `time`; the slice's end if there is none. */
export function firstEndingAfter(timeline: Timeline, rank: number, time: number): number {
  let low = timeline.rankStart[rank]!;
  let high = timeline.rankStart[rank + 1]!;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeline.end[middle]! > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function actionItem(timeline: Timeline, rank: number, index: number): ActionItem {
  return { type: 'action', rank, index, start: timeline.start[index]!, end: timeline.end[index]! };
}

/** The gap that ends where action `index` starts, or at the makespan for the end of the slice; null if there is none. */
export function gapBefore(timeline: Timeline, rank: number, index: number): GapItem | null {
  const first = timeline.rankStart[rank]!;
  const end = timeline.rankStart[rank + 1]!;
  const from = index === first ? 0 : timeline.end[index - 1]!;
  const to = index === end ? timeline.makespan : timeline.start[index]!;
  if (to - from <= timeline.makespan * SHORTEST_GAP) return null;
  const cause: GapCause = index === first ? 'warmup' : index === end ? 'cooldown' : 'stall';
  const waitedForRank = index === end ? -1 : timeline.waitedFor[index]!;
  return { type: 'gap', rank, index, start: from, end: to, cause, waitedForRank };
}

/**
 * The item at a time. Within `slack` of an action the action is taken, so that one thinner than a pixel can be hit.
 */
export function itemAt(timeline: Timeline, rank: number, time: number, slack: number): Item | null {
  if (time < -slack || time > timeline.makespan + slack) return null;
  const index = firstEndingAfter(timeline, rank, time);
  const end = timeline.rankStart[rank + 1]!;
  if (index < end && timeline.start[index]! <= time) return actionItem(timeline, rank, index);
  const gap = gapBefore(timeline, rank, index);
  if (gap !== null && gap.end - gap.start > 2 * slack) return gap;
  if (index < end && timeline.start[index]! - time <= slack) return actionItem(timeline, rank, index);
  if (index > timeline.rankStart[rank]! && time - timeline.end[index - 1]! <= slack) {
    return actionItem(timeline, rank, index - 1);
  }
  return gap;
}

/** The next (`step` 1) or previous (-1) action of the rank, seen from an item; null at its ends. */
export function neighbourAction(timeline: Timeline, from: Item, step: 1 | -1): ActionItem | null {
  const index = from.type === 'gap' && step === 1 ? from.index : from.index + step;
  const inside = index >= timeline.rankStart[from.rank]! && index < timeline.rankStart[from.rank + 1]!;
  return inside ? actionItem(timeline, from.rank, index) : null;
}

/** The next or previous gap, row by row; from nowhere, the first or last one. */
export function neighbourGap(timeline: Timeline, from: Item | null, step: 1 | -1): GapItem | null {
  let rank = from?.rank ?? (step === 1 ? 0 : timeline.pp - 1);
  let index =
    from === null
      ? timeline.rankStart[step === 1 ? 0 : timeline.pp]!
      : from.type === 'action' && step === -1
        ? from.index
        : from.index + step;
  while (rank >= 0 && rank < timeline.pp) {
    const first = timeline.rankStart[rank]!;
    const end = timeline.rankStart[rank + 1]!;
    for (; index >= first && index <= end; index += step) {
      const gap = gapBefore(timeline, rank, index);
      if (gap !== null) return gap;
    }
    rank += step;
    index = rank >= 0 && rank < timeline.pp ? timeline.rankStart[step === 1 ? rank : rank + 1]! : index;
  }
  return null;
}

/** The item of another rank at the middle of this one. */
export function itemAbove(timeline: Timeline, from: Item, step: 1 | -1): Item | null {
  const rank = from.rank + step;
  if (rank < 0 || rank >= timeline.pp) return null;
  return itemAt(timeline, rank, (from.start + from.end) / 2, timeline.makespan * SHORTEST_GAP);
}

export function identityOf(timeline: Timeline, item: ActionItem): ActionIdentity {
  return {
    rank: item.rank,
    kind: timeline.kind[item.index]!,
    stage: timeline.stage[item.index]!,
    microbatch: timeline.microbatch[item.index]!,
  };
}

/** The same action in another timeline; null where it is gone. */
export function findAction(timeline: Timeline, identity: ActionIdentity): ActionItem | null {
  if (identity.rank >= timeline.pp) return null;
  const end = timeline.rankStart[identity.rank + 1]!;
  for (let i = timeline.rankStart[identity.rank]!; i < end; i++) {
    if (
      timeline.microbatch[i] === identity.microbatch &&
      timeline.stage[i] === identity.stage &&
      timeline.kind[i] === identity.kind
    ) {
      return actionItem(timeline, identity.rank, i);
    }
  }
  return null;
}
