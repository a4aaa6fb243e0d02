/**
 * Names the wait that never ends: which rank waits for which action on which rank, around the cycle or down to the
 * action that no list holds.
 */

import { KIND_NAMES } from '../model/timeline.ts';
import type { Ops } from './ops.ts';
import { BACKWARD_INPUT, BACKWARD_WEIGHT, FORWARD, type Order } from './order.ts';

const MAX_LINKS = 8;

/** One line. `cursor` holds, per rank, the list entry at which it stands still. */
export function deadlockReason(order: Order, ops: Ops, cursor: ArrayLike<number>): string {
  const stuck = (rank: number) => cursor[rank]! < order.rankStart[rank + 1]!;
  let rank = Array.from({ length: order.pp }, (_, r) => r).findIndex(stuck);
  const seen = new Set<number>();
  const links: string[] = [];
  while (rank >= 0 && !seen.has(rank) && links.length < MAX_LINKS) {
    seen.add(rank);
    const wait = waitOf(order, ops, rank, cursor[rank]!);
    const where = wait.rank === rank ? 'which it has not run yet' : `on rank ${wait.rank}`;
    links.push(`rank ${rank} at ${wait.action} waits for ${wait.needs} ${where}`);
    rank = stuck(wait.rank) ? wait.rank : -1;
  }
  return `the order deadlocks: ${links.join('; ')}`;
}

function waitOf(order: Order, ops: Ops, rank: number, entry: number) {
  const first = order.ids[entry]!;
  const second = entry + 1 < order.rankStart[rank + 1]! ? order.ids[entry + 1]! : 0;
  const options = second < 0 ? [first, ~second] : [first];
  const waits = options.map((id) => needOf(order, ops, rank, id));
  return waits.find((wait) => wait.rank !== rank) ?? waits[0]!;
}

function needOf(order: Order, ops: Ops, rank: number, id: number) {
  const stage = id >> (2 + order.microbatchBits);
  const microbatch = (id >> 2) & ((1 << order.microbatchBits) - 1);
  const kind = id & 3;
  const op = (stage << 2) | kind;
  const source = ops.source[ops.rank[op] === rank ? op : op + order.stages * 4]!;
  const on = source < 0 ? rank : source;
  const action = `${KIND_NAMES[kind]}${stage}.${microbatch}`;
  if (kind === FORWARD) return { action, needs: `F${stage - 1}.${microbatch}`, rank: on };
  if (kind === BACKWARD_WEIGHT) return { action, needs: `${KIND_NAMES[BACKWARD_INPUT]}${stage}.${microbatch}`, rank };
  if (stage === order.stages - 1) return { action, needs: `F${stage}.${microbatch}`, rank };
  return { action, needs: `the gradient of stage ${stage + 1}, microbatch ${microbatch},`, rank: on };
}
