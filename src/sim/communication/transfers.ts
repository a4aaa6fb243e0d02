/**
 * Which results of a program cross from one rank to another, and the lists of instructions that say when a rank
 * offers, takes and waits for them. A transfer goes by the list entry of the action that makes the result; a result has
 * exactly one action that uses it. A mode of communication is a way of writing these lists; `link.ts` joins them.
 */

import { BACKWARD_INPUT, BACKWARD_WEIGHT, FORWARD, NOTHING } from '../order.ts';
import { operationOf, type Program, waitOffsets } from '../program.ts';

/** All columns go by list entry. */
export interface Transfers {
  readonly program: Program;
  /** The entry's plain operation. */
  readonly op: Int32Array;
  /** The entry whose result comes in from another rank; -1 where none does. */
  readonly input: Int32Array;
  /** The entry on another rank that uses the result; -1 where none does. */
  readonly consumer: Int32Array;
  /** The operation of that entry; -1 where there is none. */
  readonly useOp: Int32Array;
  /** What runs at the entry: a pair stands at its second one, as an operation of its own. */
  readonly runOp: Int32Array;
}

/** What an instruction says of its entry. A rank's clock stands still while it posts. */
export const RUN = 0;
/** From now on the sender offers the result, or the receiver takes it. */
export const POST_SEND = 1;
export const POST_RECEIVE = 2;
/** The transfer itself: only in linked programs, once both sides have posted. */
export const TRANSFER = 3;
/** The rank goes on when the transfer is done. */
export const WAIT_SEND = 4;
export const WAIT_RECEIVE = 5;
/** The same after a rank's last action, where waiting is not idle time any more. */
export const WAIT_AFTER_ALL = 6;

/** An instruction is `entry * 8 + verb`. */
export interface Instructions {
  readonly list: Int32Array;
  /** Rank r follows `list[start[r] .. start[r + 1])`. */
  readonly start: Int32Array;
}

export function transfersOf(program: Program): Transfers {
  const { order, ops } = program;
  const { ids, rankStart, pp } = order;
  const count = ids.length;
  const op = new Int32Array(count);
  const input = new Int32Array(count).fill(-1);
  const consumer = new Int32Array(count).fill(-1);
  const waits = waitOffsets(order, ops);
  const makerOf = new Int32Array(order.stages * 2 ** (order.microbatchBits + 1)).fill(-1);
  for (let rank = 0; rank < pp; rank++) {
    for (let i = rankStart[rank]!; i < rankStart[rank + 1]!; i++) {
      const id = plainId(ids, i);
      const direct = operationOf(order, id);
      op[i] = ops.rank[direct] === rank ? direct : direct + ops.stages * 4;
      if ((id & 3) !== BACKWARD_WEIGHT) makerOf[2 * (id >> 2) + ((id & 3) === FORWARD ? 0 : 1)] = i;
    }
  }
  for (let i = 0; i < count; i++) {
    const offset = waits[op[i]!]!;
    if (ops.edge[op[i]!]! < 0 || offset === NOTHING) continue;
    const maker = makerOf[2 * (plainId(ids, i) >> 2) + offset]!;
    input[i] = maker;
    consumer[maker] = i;
  }
  const useOp = consumer.map((use) => (use < 0 ? -1 : op[use]!));
  return { program, op, input, consumer, useOp, runOp: runOperations(program, op) };
}

function runOperations({ order, ops }: Program, op: Int32Array): Int32Array {
  const plain = ops.directions * ops.stages * 4;
  if (ops.count === plain) return op;
  const pairOf = new Map<number, number>();
  for (let each = 2 * plain; each < ops.count; each++) pairOf.set(ops.first[each]! * plain + ops.second[each]!, each);
  return op.map((own, i) => (order.ids[i]! < 0 ? pairOf.get(op[i - 1]! * plain + own)! : own));
}

/** The operation whose source is the receiver: what a wait for a send is booked on. */
export function sendOperation(op: number): number {
  return (op & 3) === FORWARD ? (op & ~3) | BACKWARD_INPUT : (op & ~3) | FORWARD;
}

export function isForward({ op }: Transfers, entry: number): boolean {
  return (op[entry]! & 3) === FORWARD;
}

export function isWeights({ op }: Transfers, entry: number): boolean {
  return (op[entry]! & 3) === BACKWARD_WEIGHT;
}

export function rankOfEntry({ program, op }: Transfers, entry: number): number {
  return program.ops.rank[op[entry]!]!;
}

/** An action, or two that run as one. The second is -1 where there is one action. */
export interface Step {
  readonly first: number;
  readonly second: number;
}

/** What a rank runs, in order. */
export function stepsOf({ program }: Transfers, rank: number): readonly Step[] {
  const { ids, rankStart } = program.order;
  const stop = rankStart[rank + 1]!;
  const steps: Step[] = [];
  for (let i = rankStart[rank]!; i < stop; i++) {
    const paired = i + 1 < stop && ids[i + 1]! < 0;
    steps.push({ first: i, second: paired ? i + 1 : -1 });
    if (paired) i++;
  }
  return steps;
}

export function entriesOf({ first, second }: Step): readonly number[] {
  return second < 0 ? [first] : [first, second];
}

/** The entries of a step whose results go to another rank. */
export function sendsOf({ consumer }: Transfers, step: Step): readonly number[] {
  return entriesOf(step).filter((entry) => consumer[entry]! >= 0);
}

/** The entries on other ranks that a step has its inputs from. */
export function receivesOf({ input }: Transfers, step: Step): readonly number[] {
  return entriesOf(step)
    .map((entry) => input[entry]!)
    .filter((entry) => entry >= 0);
}

/** Writes the lists rank by rank. */
export interface Writer {
  readonly run: (step: Step) => void;
  readonly post: (sends: readonly number[], receives: readonly number[]) => void;
  readonly wait: (sends: readonly number[], receives: readonly number[]) => void;
}

/** Every rank's list, written by `writeRank`. A transfer is posted once and waited for at most once on each side. */
export function instructions(transfers: Transfers, writeRank: (writer: Writer, rank: number) => void): Instructions {
  const { order } = transfers.program;
  const list = new Int32Array(5 * order.ids.length);
  const start = new Int32Array(order.pp + 1);
  let at = 0;
  const put = (verb: number, entries: readonly number[]) => {
    for (const entry of entries) list[at++] = entry * 8 + verb;
  };
  const writer: Writer = {
    run: ({ first, second }) => {
      list[at++] = (second < 0 ? first : second) * 8 + RUN;
    },
    post: (sends, receives) => {
      put(POST_RECEIVE, receives);
      put(POST_SEND, sends);
    },
    wait: (sends, receives) => {
      put(WAIT_RECEIVE, receives);
      put(WAIT_SEND, sends);
    },
  };
  for (let rank = 0; rank < order.pp; rank++) {
    writeRank(writer, rank);
    start[rank + 1] = at;
    endRank(list, start[rank]!, at);
  }
  return { list: list.subarray(0, at), start };
}

/** What a rank waits for after its last action is no idle time. */
export function endRank(list: Int32Array, from: number, to: number): void {
  for (let i = to - 1; i >= from && (list[i]! & 7) !== RUN; i--) {
    if ((list[i]! & 7) === WAIT_SEND) list[i] = (list[i]! & ~7) | WAIT_AFTER_ALL;
  }
}

function plainId(ids: Int32Array, i: number): number {
  return ids[i]! < 0 ? ~ids[i]! : ids[i]!;
}
