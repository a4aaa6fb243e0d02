/**
 * Where a short run of a schedule can be drawn out: on every rank, a stretch of its list in which each group of
 * microbatches repeats the actions of the group before. Longer runs then differ from the short one by further repeats
 * of the last period of the stretch. Depends on the order alone.
 */

import type { Order } from './order.ts';
import { BACKWARD_INPUT, FORWARD } from './order.ts';
import type { Program } from './program.ts';

export interface SteadyStructure {
  readonly program: Program;
  /** Microbatches after which the lists repeat. */
  readonly period: number;
  /** Per list entry: its node, and the entry that it waits for (-1 for none). */
  readonly nodeAt: Int32Array;
  readonly waitsFor: Int32Array;
  /** Per rank: entries of one period. */
  readonly length: Int32Array;
  /** Per rank: entries from `from` up to `to` are those of one period before, one group later. */
  readonly from: Int32Array;
  readonly to: Int32Array;
}

/**
 * null where the order of one more group, `longer`, is not that of `program` with a period put in, or where a period
 * does not free all that it holds.
 */
export function steadyStructure(program: Program, longer: Order, period: number): SteadyStructure | null {
  const { order } = program;
  const { pp, rankStart } = order;
  const length = new Int32Array(pp);
  const from = new Int32Array(pp);
  const to = new Int32Array(pp);
  for (let rank = 0; rank < pp; rank++) {
    const first = rankStart[rank]!;
    const stop = rankStart[rank + 1]!;
    const more = longer.rankStart[rank + 1]! - longer.rankStart[rank]! - (stop - first);
    if (more <= 0) return null;
    const stretch = longestStretch(order, first, stop, more, period);
    if (stretch === null) return null;
    const [start, end] = stretch;
    const shift = longer.rankStart[rank]! - first;
    for (let i = first; i < end; i++) if (!isMoved(order, i, longer, i + shift, 0)) return null;
    for (let i = start; i < stop; i++) if (!isMoved(order, i, longer, i + shift + more, period)) return null;
    if (!freesAll(order, end - more, end)) return null;
    length[rank] = more;
    from[rank] = start;
    to[rank] = end;
  }
  return { program, period, ...entriesOf(program), length, from, to };
}

/** The longest run of entries of a rank that equal those `length` before, `period` microbatches later. */
function longestStretch(
  order: Order,
  first: number,
  stop: number,
  length: number,
  period: number,
): readonly [number, number] | null {
  let best: readonly [number, number] | null = null;
  let start = -1;
  for (let i = first + length; i <= stop; i++) {
    if (i < stop && isMoved(order, i - length, order, i, period)) {
      if (start < 0) start = i;
      continue;
    }
    if (start >= 0 && (best === null || i - start > best[1] - best[0])) best = [start, i];
    start = -1;
  }
  return best;
}

/** Whether an entry is another one, `microbatches` later. */
function isMoved(before: Order, i: number, after: Order, j: number, microbatches: number): boolean {
  const id = before.ids[i]!;
  const other = after.ids[j]!;
  if (id < 0 !== other < 0) return false;
  const a = id < 0 ? ~id : id;
  const b = other < 0 ? ~other : other;
  if ((a & 3) !== (b & 3)) return false;
  if (a >> (2 + before.microbatchBits) !== b >> (2 + after.microbatchBits)) return false;
  return microbatchOf(before, a) + microbatches === microbatchOf(after, b);
}

function microbatchOf({ microbatchBits }: Order, id: number): number {
  return (id >> 2) & ((1 << microbatchBits) - 1);
}

/** Whether every stage frees as many stage-microbatches as it takes. */
function freesAll({ ids, microbatchBits }: Order, from: number, to: number): boolean {
  const live = new Map<number, number>();
  for (let i = from; i < to; i++) {
    const id = ids[i]! < 0 ? ~ids[i]! : ids[i]!;
    const kind = id & 3;
    const stage = id >> (2 + microbatchBits);
    if (kind !== BACKWARD_INPUT) live.set(stage, (live.get(stage) ?? 0) + (kind === FORWARD ? 1 : -1));
  }
  return [...live.values()].every((count) => count === 0);
}

function entriesOf({ order, ops, code }: Program) {
  const nodes = code.length >> 1;
  const nodeAt = new Int32Array(nodes);
  const entryOf = new Int32Array(nodes + 1).fill(-1);
  const next = order.rankStart.slice(0, order.pp);
  for (let k = 0; k < nodes; k++) {
    const i = next[ops.rank[code[2 * k + 1]!]!]!++;
    nodeAt[i] = k;
    entryOf[k] = i;
  }
  const waitsFor = new Int32Array(nodes);
  for (let i = 0; i < nodes; i++) waitsFor[i] = entryOf[code[2 * nodeAt[i]!]!]!;
  return { nodeAt, waitsFor };
}
