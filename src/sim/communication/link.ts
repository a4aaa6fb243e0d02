/**
 * Joins the instruction lists of all ranks into one sequence in which everything that an instruction needs stands before
 * it, so that a timing is one linear scan. A rank follows its list until it waits for a transfer that is not there yet,
 * and is woken by it; a transfer is there once both sides have posted it and, on streams, once it stands at the head of
 * both. The sequence does not depend on costs.
 */

import { communicationDeadlock } from './deadlock.ts';
import {
  type Instructions,
  POST_RECEIVE,
  POST_SEND,
  rankOfEntry,
  TRANSFER,
  type Transfers,
  WAIT_AFTER_ALL,
  WAIT_RECEIVE,
  WAIT_SEND,
} from './transfers.ts';

/** A program with its transfers as steps of their own. */
export interface Linked {
  readonly transfers: Transfers;
  /** Instructions and transfers, `entry * 8 + verb`. */
  readonly code: Int32Array;
  /** Whether the transfers of a rank follow each other, one at a time, in the order in which it posts them. */
  readonly streams: boolean;
}

export type Linking = { readonly ok: true; readonly linked: Linked } | { readonly ok: false; readonly reason: string };

/** How far every rank and transfer has come. */
export interface Progress {
  /** Per rank: the instruction at which it stands. */
  readonly cursor: Int32Array;
  /** Per entry: 1 for the sender's post, 2 for the receiver's, 4 when it is done. */
  readonly state: Uint8Array;
  /** Per rank, with streams: the first post in its list whose transfer is not done. */
  readonly head: Int32Array;
}

const SENT = 1;
const TAKEN = 2;
const DONE = 4;

interface Run extends Progress {
  readonly transfers: Transfers;
  readonly instructions: Instructions;
  readonly code: Int32Array;
  nodes: number;
  /** Ranks that can go on, as a stack. */
  readonly ready: number[];
  /** Per rank: the entry it waits for; -1 while it goes on. */
  readonly parked: Int32Array;
}

/** Refuses lists that lock up, with the waits that never end. */
export function link(transfers: Transfers, instructions: Instructions, streams: boolean): Linking {
  const { pp, ids } = transfers.program.order;
  const { list, start } = instructions;
  const run: Run = {
    transfers,
    instructions,
    code: new Int32Array(list.length + ids.length),
    nodes: 0,
    ready: Array.from({ length: pp }, (_, i) => pp - 1 - i),
    parked: new Int32Array(pp).fill(-1),
    cursor: start.slice(0, pp),
    state: new Uint8Array(ids.length),
    head: start.slice(0, pp),
  };
  for (let rank = run.ready.pop(); rank !== undefined; rank = run.ready.pop()) follow(run, rank, streams);
  for (let rank = 0; rank < pp; rank++) {
    if (run.cursor[rank]! < start[rank + 1]!) {
      return { ok: false, reason: communicationDeadlock(transfers, instructions, run, rank) };
    }
  }
  return { ok: true, linked: { transfers, code: run.code.slice(0, run.nodes), streams } };
}

function follow(run: Run, rank: number, streams: boolean): void {
  const { list, start } = run.instructions;
  const stop = start[rank + 1]!;
  let i = run.cursor[rank]!;
  for (; i < stop; i++) {
    const word = list[i]!;
    const verb = word & 7;
    const entry = word >> 3;
    if ((verb === WAIT_SEND || verb === WAIT_RECEIVE || verb === WAIT_AFTER_ALL) && (run.state[entry]! & DONE) === 0) {
      run.parked[rank] = entry;
      break;
    }
    run.code[run.nodes++] = word;
    if (verb !== POST_SEND && verb !== POST_RECEIVE) continue;
    run.state[entry]! |= verb === POST_SEND ? SENT : TAKEN;
    if (!streams) {
      if (run.state[entry] === (SENT | TAKEN)) finish(run, entry);
    } else {
      // A transfer that is done may have stood before another one on either of its streams.
      let moved = moveStream(run, rank);
      while (moved.length > 0) moved = moved.flatMap((each) => moveStream(run, each));
    }
  }
  run.cursor[rank] = i;
}

/** Does the transfer at the head of a rank's stream where it can be done; returns the ranks whose heads have moved. */
function moveStream(run: Run, rank: number): readonly number[] {
  const entry = headOf(run, rank);
  if (entry < 0 || run.state[entry] !== (SENT | TAKEN)) return [];
  const { transfers } = run;
  const sender = rankOfEntry(transfers, entry);
  const other = sender === rank ? rankOfEntry(transfers, transfers.consumer[entry]!) : sender;
  if (headOf(run, other) !== entry) return [];
  finish(run, entry);
  return [rank, other];
}

/** The first transfer of a rank's list that is not done, posted or not; -1 where there is none. */
function headOf(run: Run, rank: number): number {
  const { list, start } = run.instructions;
  const stop = start[rank + 1]!;
  let i = run.head[rank]!;
  for (; i < stop; i++) {
    const verb = list[i]! & 7;
    if ((verb === POST_SEND || verb === POST_RECEIVE) && (run.state[list[i]! >> 3]! & DONE) === 0) break;
  }
  run.head[rank] = i;
  return i < stop ? list[i]! >> 3 : -1;
}

function finish(run: Run, entry: number): void {
  const { transfers, parked } = run;
  run.code[run.nodes++] = entry * 8 + TRANSFER;
  run.state[entry]! |= DONE;
  for (const rank of [rankOfEntry(transfers, entry), rankOfEntry(transfers, transfers.consumer[entry]!)]) {
    if (parked[rank] !== entry) continue;
    parked[rank] = -1;
    run.ready.push(rank);
  }
}
