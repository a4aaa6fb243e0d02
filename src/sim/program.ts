/**
 * Compiles an order into a program: all actions in one sequence in which everything an action waits for stands
 * before it, so that a timing is one linear scan. The program does not depend on costs. Ranks are run in turn by a
 * worklist: a rank runs until it waits for a neighbour's result, parks on it, and is woken by that result, so the
 * work is linear in the actions whatever the number of ranks.
 */

import { deadlockReason } from './deadlock.ts';
import { makeOps, type Ops } from './ops.ts';
import { BACKWARD_WEIGHT, FORWARD, NOTHING, type Order } from './order.ts';
import { type CompiledNodes, compileNodes, type EntryOps, WORTHWHILE_NODES } from './wasm/engine.ts';
import { HOLDS_PAIRS } from './wasm/order-kernel.ts';

export interface Program {
  readonly order: Order;
  readonly ops: Ops;
  /**
   * Two per node: the node it waits for (`order.ids.length` for none) and its operation. A rank's nodes follow the
   * entries of its list one to one; the first of an overlapped pair is a gate that takes no time.
   */
  readonly code: Int32Array;
  /** How often each operation occurs. */
  readonly occurrences: Int32Array;
  /** Per rank: the largest number of live stage-microbatches. */
  readonly peakActivations: Int32Array;
}

export type Compiled =
  | { readonly ok: true; readonly program: Program }
  | { readonly ok: false; readonly reason: string };

/** By kind (F, I, W, B): what an action adds to the live stage-microbatches of its rank. */
const LIVE = new Int32Array([1, 0, -1, -1]);

/** The state of a compilation. A result's key is 2 * cell for a forward and 2 * cell + 1 for a gradient. */
interface Run {
  readonly order: Order;
  readonly ops: Ops;
  readonly pairOps: ReadonlyMap<number, number>;
  /** Per operation: from twice its cell to the key that it waits for. */
  readonly waits: Int32Array;
  /** Per key: its node + 1; 0 while it is not there. */
  readonly done: Int32Array;
  /** Per rank: the key it waits for; -1 while it runs. */
  readonly parked: Int32Array;
  readonly cursor: Int32Array;
  readonly live: Int32Array;
  readonly code: Int32Array;
  readonly occurrences: Int32Array;
  readonly peakActivations: Int32Array;
  /** Ranks that can run, as a stack. */
  readonly ready: Int32Array;
  top: number;
  nodes: number;
}

/** Refuses an order that deadlocks, with the wait that never ends. */
export function compile(order: Order): Compiled {
  const { placement, pp, stages } = order;
  if (order.ids.length < WORTHWHILE_NODES) return compilePlain(order);
  // Whether there are pairs is seen on the way: to look for them first would take as long as to order the actions.
  if (placement !== 'bidirectional') {
    const ops = makeOps(placement, pp, stages, []);
    const nodes = compileNodes(order, ops, entryOps(order, ops, []));
    if (nodes === null) return compilePlain(order);
    if (nodes !== HOLDS_PAIRS) return compiled(order, ops, nodes);
  }
  const pairs = pairsOf(order);
  const ops = makeOps(placement, pp, stages, pairs);
  const nodes = compileNodes(order, ops, entryOps(order, ops, pairs));
  return nodes === null || nodes === HOLDS_PAIRS ? compileInPlace(order, ops, pairs) : compiled(order, ops, nodes);
}

/** The same without WebAssembly: what stands in where it is missing, and what its results are held against. */
export function compilePlain(order: Order): Compiled {
  const pairs = pairsOf(order);
  return compileInPlace(order, makeOps(order.placement, order.pp, order.stages, pairs), pairs);
}

type OpPair = readonly [first: number, second: number];

function compileInPlace(order: Order, ops: Ops, pairs: readonly OpPair[]): Compiled {
  const run = begin(order, ops, pairs);
  if (pairs.length === 0 && ops.directions === 1) runRanks(run);
  else while (run.top > 0) runRankWithPairs(run, run.ready[--run.top]!);
  return compiled(order, ops, run);
}

function compiled(
  order: Order,
  ops: Ops,
  { nodes, cursor, code, occurrences, peakActivations }: CompiledNodes,
): Compiled {
  if (nodes < order.ids.length) return { ok: false, reason: deadlockReason(order, ops, cursor) };
  return { ok: true, program: { order, ops, code, occurrences, peakActivations } };
}

function begin(order: Order, ops: Ops, pairs: readonly OpPair[]): Run {
  const { pp, stages, ids, microbatchBits } = order;
  const plain = ops.directions * stages * 4;
  const ready = new Int32Array(pp);
  for (let i = 0; i < pp; i++) ready[i] = pp - 1 - i;
  return {
    order,
    ops,
    pairOps: pairOpsOf(pairs, plain),
    waits: waitOffsets(order, ops),
    done: new Int32Array(stages * 2 ** (microbatchBits + 1)),
    parked: new Int32Array(pp).fill(-1),
    cursor: order.rankStart.slice(0, pp),
    live: new Int32Array(pp),
    code: new Int32Array(2 * ids.length),
    occurrences: new Int32Array(ops.count),
    peakActivations: new Int32Array(pp),
    ready,
    top: pp,
    nodes: 0,
  };
}

/** Runs all ranks of plain actions: each until it has to wait or its list ends. */
function runRanks(run: Run): void {
  const { waits, done, parked, code, occurrences, live, ready, cursor, peakActivations } = run;
  const { ids, microbatchBits, rankStart } = run.order;
  const { wakes } = run.ops;
  const nothing = ids.length;
  let next = 0;
  let top = run.top;
  while (top > 0) {
    const rank = ready[--top]!;
    const stop = rankStart[rank + 1]!;
    let alive = live[rank]!;
    let peak = peakActivations[rank]!;
    let i = cursor[rank]!;
    for (; i < stop; i++) {
      const id = ids[i]!;
      const cell = id >> 2;
      const kind = id & 3;
      const op = ((cell >> microbatchBits) << 2) | kind;
      const offset = waits[op]!;
      let from = nothing;
      if (offset !== NOTHING) {
        from = done[2 * cell + offset]! - 1;
        if (from < 0) {
          parked[rank] = 2 * cell + offset;
          break;
        }
      }
      code[2 * next] = from;
      code[2 * next + 1] = op;
      next++;
      occurrences[op]!++;
      alive += LIVE[kind]!;
      if (alive > peak) peak = alive;
      if (kind === BACKWARD_WEIGHT) continue;
      const result = 2 * cell + (kind === FORWARD ? 0 : 1);
      done[result] = next;
      const waiting = wakes[op]!;
      if (waiting >= 0 && parked[waiting] === result) {
        parked[waiting] = -1;
        ready[top++] = waiting;
      }
    }
    live[rank] = alive;
    peakActivations[rank] = peak;
    cursor[rank] = i;
  }
  run.nodes = next;
  run.top = 0;
}

/**
 * The same for lists with overlapped pairs and for stages that live on two ranks. A pair is two nodes: a gate that
 * waits for the first action's input and takes no time, then the pair itself, whose end both results carry.
 */
function runRankWithPairs(run: Run, rank: number): void {
  const { ids, rankStart } = run.order;
  const plain = run.ops.directions * run.ops.stages * 4;
  const stop = rankStart[rank + 1]!;
  let i = run.cursor[rank]!;
  while (i < stop) {
    const id = ids[i]!;
    const op = operationOn(run, rank, id);
    const from = resultFor(run, rank, id, op);
    if (from < 0) break;
    const second = i + 1 < stop ? ids[i + 1]! : 0;
    if (second >= 0) {
      node(run, from, op);
      account(run, rank, id, op);
      i++;
      continue;
    }
    const op2 = operationOn(run, rank, ~second);
    const from2 = resultFor(run, rank, ~second, op2);
    if (from2 < 0) break;
    node(run, from, plain + op);
    node(run, from2, run.pairOps.get(op * plain + op2)!);
    account(run, rank, id, op);
    account(run, rank, ~second, op2);
    i += 2;
  }
  run.cursor[rank] = i;
}

function node(run: Run, from: number, op: number): void {
  run.code[2 * run.nodes] = from;
  run.code[2 * run.nodes + 1] = op;
  run.nodes++;
  run.occurrences[op]!++;
}

/** Counts what the last node's action holds or frees, publishes its result and wakes who waits for it. */
function account(run: Run, rank: number, id: number, op: number): void {
  run.live[rank]! += LIVE[id & 3]!;
  if (run.live[rank]! > run.peakActivations[rank]!) run.peakActivations[rank] = run.live[rank]!;
  if ((id & 3) === BACKWARD_WEIGHT) return;
  const result = 2 * (id >> 2) + ((id & 3) === FORWARD ? 0 : 1);
  run.done[result] = run.nodes;
  const waiting = run.ops.wakes[op]!;
  if (waiting >= 0 && run.parked[waiting] === result) {
    run.parked[waiting] = -1;
    run.ready[run.top++] = waiting;
  }
}

/** The node an action waits for; -1, and the rank parked, while that is not there. */
function resultFor(run: Run, rank: number, id: number, op: number): number {
  const offset = run.waits[op]!;
  if (offset === NOTHING) return run.order.ids.length;
  const key = 2 * (id >> 2) + offset;
  const from = run.done[key]! - 1;
  if (from < 0) run.parked[rank] = key;
  return from;
}

function operationOn(run: Run, rank: number, id: number): number {
  const op = operationOf(run.order, id);
  return run.ops.rank[op] === rank ? op : op + run.ops.stages * 4;
}

/** The operation of an action in direction 0. */
export function operationOf(order: Order, id: number): number {
  return ((id >> (2 + order.microbatchBits)) << 2) | (id & 3);
}

/**
 * A forward waits for the stage before, a gradient for the stage after (on the last stage: for its own forward), a
 * weight gradient for its own input gradient.
 */
export function waitOffsets(order: Order, ops: Ops): Int32Array {
  const stage = 2 << order.microbatchBits;
  const waits = new Int32Array(ops.directions * ops.stages * 4);
  for (let op = 0; op < waits.length; op++) {
    const at = (op >> 2) % ops.stages;
    if ((op & 3) === FORWARD) waits[op] = at === 0 ? NOTHING : -stage;
    else if ((op & 3) === BACKWARD_WEIGHT) waits[op] = 1;
    else waits[op] = at === ops.stages - 1 ? 0 : stage + 1;
  }
  return waits;
}

/** What the entries of an order are: gates wait and wake as the first action of their pair, pairs as the second. */
export function entryOps(order: Order, ops: Ops, pairs: readonly OpPair[]): EntryOps {
  const waits = waitOffsets(order, ops);
  if (pairs.length === 0 && ops.directions === 1) return { waits, wakes: ops.wakes, opAt: null };
  const plain = waits.length;
  const allWaits = new Int32Array(ops.count);
  const allWakes = new Int32Array(ops.count);
  for (let op = 0; op < ops.count; op++) {
    const as = op < plain ? op : op < 2 * plain ? op - plain : ops.second[op]!;
    allWaits[op] = waits[as]!;
    allWakes[op] = ops.wakes[as]!;
  }
  const pairOps = pairOpsOf(pairs, plain);
  const { ids, rankStart, pp } = order;
  const opAt = new Int32Array(ids.length);
  // By first operation: the second of its last pair, and the pair.
  const recent = new Int32Array(2 * plain).fill(-1);
  for (let rank = 0; rank < pp; rank++) {
    for (let i = rankStart[rank]!; i < rankStart[rank + 1]!; i++) {
      const id = ids[i]!;
      const op = operationAt(order, rank, id < 0 ? ~id : id);
      opAt[i] = op;
      if (id >= 0) continue;
      const first = opAt[i - 1]!;
      if (recent[2 * first] !== op) {
        recent[2 * first] = op;
        recent[2 * first + 1] = pairOps.get(first * plain + op)!;
      }
      opAt[i] = recent[2 * first + 1]!;
      opAt[i - 1] = first + plain;
    }
  }
  return { waits: allWaits, wakes: allWakes, opAt };
}

function pairOpsOf(pairs: readonly OpPair[], plain: number): ReadonlyMap<number, number> {
  return new Map(pairs.map(([first, second], i) => [first * plain + second, 2 * plain + i]));
}

/** The operation of an action on a rank. */
function operationAt(order: Order, rank: number, id: number): number {
  const op = operationOf(order, id);
  return order.placement === 'bidirectional' && op >> 2 !== rank ? op + order.stages * 4 : op;
}

/** The distinct overlapped pairs, as operations. */
export function pairsOf(order: Order): readonly OpPair[] {
  const { ids, rankStart } = order;
  const found = new Map<number, OpPair>();
  if (!holdsPairs(ids)) return [];
  // By first operation: the second of its last pair, since most pairs are like one just before.
  const recent = new Int32Array(order.stages * 8).fill(-1);
  for (let rank = 0; rank < order.pp; rank++) {
    for (let i = rankStart[rank]!; i < rankStart[rank + 1]!; i++) {
      if (ids[i]! >= 0) continue;
      const first = operationAt(order, rank, ids[i - 1]!);
      const second = operationAt(order, rank, ~ids[i]!);
      if (recent[first] === second) continue;
      recent[first] = second;
      const key = first * order.stages * 8 + second;
      if (!found.has(key)) found.set(key, [first, second]);
    }
  }
  return [...found.values()];
}

function holdsPairs(ids: Int32Array): boolean {
  for (let i = 0; i < ids.length; i++) if (ids[i]! < 0) return true;
  return false;
}
