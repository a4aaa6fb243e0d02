/**
 * The steady state of a run: after some groups of microbatches every action ends a fixed time after the same action
 * `cyclicity` groups before. The engine is a max-plus system, whose steady state is periodic but not with every single
 * group: 1F1B over pp ranks can take pp groups to repeat. Cohen, Dubois, Quadrat and Viot, A Linear-System-Theoretic
 * View of Discrete-Event Processes, IEEE TAC 30 (1985); Baccelli et al., Synchronization and Linearity, chapter 3.
 *
 * Why drawing a run out is exact. Let the cut be a moment at which every rank is in its steady stretch. What ends before
 * the cut does not depend on what comes after, and is the same in the longer run. What is put in at the cut waits for
 * actions that are put in too or lie in a window before the cut; maximum and addition commute with adding a constant;
 * so if the window repeats after `cyclicity` groups, all that is put in does, and all behind it is late by as much.
 */

import type { Prices } from './ops.ts';
import type { SteadyStructure } from './steady-structure.ts';

export interface SteadyState {
  /** Per rank: the first entry after the cut. */
  readonly cut: Int32Array;
  /** Groups of microbatches after which the ends repeat, and how much later they then are. */
  readonly cyclicity: number;
  readonly lag: number;
}

/** `end` by list entry, sums of whole ticks. null where the short run is too short to show a steady state. */
export function steadyState(structure: SteadyStructure, end: Float64Array): SteadyState | null {
  const cut = cutOf(structure, end);
  const window = windowBefore(structure, cut);
  for (let cyclicity = 1; hasRoom(structure, cut, window, cyclicity); cyclicity++) {
    const lag = lagOf(structure, end, cut, window, cyclicity);
    if (lag !== null) return { cut, cyclicity, lag };
  }
  return null;
}

/** Idle time by operation, and its transfer part, over the last `cyclicity` periods before the cut. */
export function idleOfCycle(
  { program, nodeAt, waitsFor, length }: SteadyStructure,
  end: Float64Array,
  prices: Prices,
  state: SteadyState,
) {
  const stalled = new Float64Array(program.ops.count);
  const stalledByTransfer = new Float64Array(program.ops.count);
  for (let rank = 0; rank < program.order.pp; rank++) {
    for (let i = state.cut[rank]! - state.cyclicity * length[rank]!; i < state.cut[rank]!; i++) {
      if (waitsFor[i]! < 0) continue;
      const op = program.code[2 * nodeAt[i]! + 1]!;
      const idle = end[waitsFor[i]!]! + prices.latency[op]! - end[i - 1]!;
      if (idle <= 0) continue;
      stalled[op]! += idle;
      stalledByTransfer[op]! += Math.min(idle, prices.latency[op]!);
    }
  }
  return { stalled, stalledByTransfer };
}

/** Everything that ends before the first rank leaves its stretch: nothing in that waits for anything later. */
function cutOf({ program, to }: SteadyStructure, end: Float64Array): Int32Array {
  const { pp, rankStart } = program.order;
  let moment = Number.POSITIVE_INFINITY;
  for (let rank = 0; rank < pp; rank++) {
    if (to[rank]! < rankStart[rank + 1]!) moment = Math.min(moment, end[to[rank]!]!);
  }
  const cut = new Int32Array(pp);
  for (let rank = 0; rank < pp; rank++) {
    let at = to[rank]!;
    while (at > rankStart[rank]! && end[at - 1]! >= moment) at--;
    cut[rank] = at;
  }
  return cut;
}

/** Per rank: how far before the cut lies what is waited for by anything after it, or put in at it. */
function windowBefore({ program, nodeAt, waitsFor, length }: SteadyStructure, cut: Int32Array): Int32Array {
  const { order, ops, code } = program;
  const window = new Int32Array(order.pp).fill(1);
  for (let rank = 0; rank < order.pp; rank++) {
    const from = Math.max(order.rankStart[rank]!, cut[rank]! - length[rank]!);
    for (let i = from; i < order.rankStart[rank + 1]!; i++) {
      const source = waitsFor[i]!;
      if (source < 0) continue;
      const on = ops.rank[code[2 * nodeAt[source]! + 1]!]!;
      if (cut[on]! - source > window[on]!) window[on] = cut[on]! - source;
    }
  }
  return window;
}

/** Whether the window, moved `cyclicity` groups back, still lies where periods repeat. */
function hasRoom({ from, length }: SteadyStructure, cut: Int32Array, window: Int32Array, cyclicity: number): boolean {
  return cut.every((at, rank) => at - window[rank]! - cyclicity * length[rank]! >= from[rank]! - length[rank]!);
}

/** By how much everything in the window is later than `cyclicity` groups before; null where that is not one number. */
function lagOf(
  { length }: SteadyStructure,
  end: Float64Array,
  cut: Int32Array,
  window: Int32Array,
  cyclicity: number,
): number | null {
  const lag = end[cut[0]! - 1]! - end[cut[0]! - 1 - cyclicity * length[0]!]!;
  for (let rank = 0; rank < cut.length; rank++) {
    const back = cyclicity * length[rank]!;
    for (let i = cut[rank]! - window[rank]!; i < cut[rank]!; i++) if (end[i]! - end[i - back]! !== lag) return null;
  }
  return lag;
}
