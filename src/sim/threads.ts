/**
 * A program made ready for many timings side by side: every end gets a slot that is used again once nothing waits for
 * it any more, so that the ends of all lanes stay in the processor's cache however long the program is. A rank's clock
 * is the end of its previous node, and needs no table of its own.
 */

import type { Program } from './program.ts';

/** Slots that always hold the time 0, at which every rank starts, and no time at all: what nothing is waited for. */
const START_SLOT = 0;
export const NEVER_SLOT = 1;

export interface Threads {
  readonly nodes: number;
  /** Three per node: the slots of what it waits for, of the node before it on its rank, and of its own end. */
  readonly slots: Int32Array;
  readonly slotCount: number;
  /** Per rank: the slot that holds the end of its last node when all have run. */
  readonly last: Int32Array;
}

/** Slots are handed out again in the order in which the scan has read them for the last time. */
export function threadsOf({ order, ops, code }: Program): Threads {
  const nodes = code.length >> 1;
  const lastUse = lastUses(code, ops.rank, order.pp);
  const slots = new Int32Array(3 * nodes);
  const slotOf = new Int32Array(nodes + 1);
  slotOf[nodes] = NEVER_SLOT;
  const last = new Int32Array(order.pp).fill(nodes);
  const free: number[] = [];
  let slotCount = 2;
  for (let k = 0; k < nodes; k++) {
    const from = code[2 * k]!;
    const rank = ops.rank[code[2 * k + 1]!]!;
    const before = last[rank]!;
    slots[3 * k] = slotOf[from]!;
    slots[3 * k + 1] = before === nodes ? START_SLOT : slotOf[before]!;
    if (from < nodes && lastUse[from] === k) free.push(slotOf[from]!);
    if (before < nodes && before !== from && lastUse[before] === k) free.push(slotOf[before]!);
    const own = free.pop() ?? slotCount++;
    slots[3 * k + 2] = own;
    slotOf[k] = own;
    last[rank] = k;
  }
  return { nodes, slots, slotCount, last: last.map((k) => (k === nodes ? START_SLOT : slotOf[k]!)) };
}

/** Per node: the last node that reads its end; the number of nodes where it is its rank's last. */
function lastUses(code: Int32Array, rankOf: Int32Array, pp: number): Int32Array {
  const nodes = code.length >> 1;
  const lastUse = new Int32Array(nodes + 1);
  const previous = new Int32Array(pp).fill(nodes);
  for (let k = 0; k < nodes; k++) {
    const rank = rankOf[code[2 * k + 1]!]!;
    lastUse[code[2 * k]!] = k;
    lastUse[previous[rank]!] = k;
    previous[rank] = k;
  }
  for (let rank = 0; rank < pp; rank++) lastUse[previous[rank]!] = nodes;
  return lastUse;
}
