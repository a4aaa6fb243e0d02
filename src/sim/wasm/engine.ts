/**
 * The engine's two inner loops by WebAssembly: compiling an order, and scanning a program. Each answers exactly as the
 * plain loop does, or null where there is no WebAssembly or not enough memory for it; then the plain loop runs.
 */

import type { Ops, Prices } from '../ops.ts';
import { NOTHING, type Order } from '../order.ts';
import { type Machine, machineSource } from './machine.ts';
import {
  COMPILE,
  COMPILE_PAIRS,
  COUNT_AT,
  HOLDS_PAIRS,
  PEAK_AT,
  RUN_BYTES,
  STEP_BYTES,
  STOP_AT,
  WAKES_AT,
} from './order-kernel.ts';
import {
  CLOCK_AT,
  FIRST_AT,
  IDLE_BYTES,
  LATENCY_AT,
  OP_BYTES,
  RANK_BYTES,
  SCAN,
  SCAN_IDLE,
  TRANSFER_AT,
} from './scan-kernels.ts';

/** What a compilation fills in; see `Program`. `cursor` is where every rank's list stopped. */
export interface CompiledNodes {
  readonly nodes: number;
  readonly code: Int32Array;
  readonly occurrences: Int32Array;
  readonly peakActivations: Int32Array;
  readonly cursor: Int32Array;
}

/** What a scan needs of a program. */
interface Scannable {
  readonly order: { readonly pp: number };
  readonly ops: Ops;
  readonly code: Int32Array;
}

/** Times by rank and by operation; see `Timing`. `firstStart` is -1 for a rank that never starts. */
export interface ScannedIdle {
  readonly firstStart: Float64Array;
  readonly lastEnd: Float64Array;
  readonly stalled: Float64Array;
  readonly stalledByTransfer: Float64Array;
}

/** With fewer nodes than these the copying costs more than a kernel gains. */
export const WORTHWHILE_NODES = 1024;

/** A program's code lies at the start, behind what no address may be. */
const CODE_AT = 64;

const source = machineSource([COMPILE, COMPILE_PAIRS, SCAN, SCAN_IDLE]);

/** The code that lies in the memory, and in which generation of it. */
let loaded: WeakRef<Int32Array> | null = null;
let loadedIn = -1;

/** What a compilation has to know of operations and entries. */
export interface EntryOps {
  /** Per operation: from twice its action's cell to the key that it waits for; see `../program.ts`. */
  readonly waits: Int32Array;
  /** Per operation: the rank that can be waiting for its action's result, or -1. */
  readonly wakes: Int32Array;
  /** Per entry: its operation. null where an id tells it: without pairs, and without stages on two ranks. */
  readonly opAt: Int32Array | null;
}

/** `HOLDS_PAIRS` where the order does, and `opAt` is null. */
export function compileNodes(
  order: Order,
  ops: Ops,
  { waits, wakes, opAt }: EntryOps,
): CompiledNodes | typeof HOLDS_PAIRS | null {
  const { ids, pp, stages, microbatchBits, rankStart } = order;
  const count = ids.length;
  const idsAt = CODE_AT + 8 * count;
  const opsAt = idsAt + 4 * count;
  const doneAt = opAt === null ? opsAt : opsAt + 4 * count;
  const stepsAt = roundUp(doneAt + 8 * stages * 2 ** microbatchBits);
  const ranksAt = stepsAt + STEP_BYTES * ops.count;
  const readyAt = ranksAt + RUN_BYTES * (pp + 1);
  const machine = source.reserve(readyAt + 4 * pp);
  if (machine === null) return null;
  const { i32 } = machine;
  i32.set(ids, idsAt >> 2);
  if (opAt !== null) i32.set(opAt, opsAt >> 2);
  i32.fill(0, doneAt >> 2, (readyAt >> 2) + pp);
  for (let rank = 0, run = ranksAt >> 2; rank < pp; rank++, run += RUN_BYTES >> 2) {
    i32[run] = idsAt + 4 * rankStart[rank]!;
    i32[run + (STOP_AT >> 2)] = idsAt + 4 * rankStart[rank + 1]!;
    i32[(readyAt >> 2) + rank] = ranksAt + RUN_BYTES * (pp - 1 - rank);
  }
  // The record after the last rank's waits for nothing: what operations wake that wake no rank.
  for (let op = 0, step = stepsAt >> 2; op < waits.length; op++, step += STEP_BYTES >> 2) {
    i32[step] = waits[op] === NOTHING ? NOTHING : 4 * waits[op]!;
    i32[step + (WAKES_AT >> 2)] = ranksAt + RUN_BYTES * (wakes[op]! < 0 ? pp : wakes[op]!);
  }
  const tables = [readyAt, readyAt + 4 * pp, stepsAt, doneAt, CODE_AT, count] as const;
  const nodes =
    opAt === null
      ? machine.call('compile', ...tables, 2 + microbatchBits)
      : machine.call('compilePairs', ...tables, opsAt - idsAt);
  loaded = null;
  if (nodes === HOLDS_PAIRS) return HOLDS_PAIRS;
  const code = i32.slice(CODE_AT >> 2, (CODE_AT >> 2) + 2 * count);
  markLoaded(code);
  return {
    nodes,
    code,
    occurrences: whole(i32, (stepsAt + COUNT_AT) >> 2, STEP_BYTES >> 2, ops.count),
    peakActivations: whole(i32, (ranksAt + PEAK_AT) >> 2, RUN_BYTES >> 2, pp),
    cursor: whole(i32, ranksAt >> 2, RUN_BYTES >> 2, pp).map((at) => (at - idsAt) >> 2),
  };
}

/** The last end of every rank; fills `end`, where one is given, with the ends of the nodes. */
export function scanEnds(program: Scannable, prices: Prices, end: Float64Array | null): Float64Array | null {
  const at = prepare(program, prices);
  if (at === null) return null;
  const { machine, opsAt, clocksAt, endAt } = at;
  machine.call('scan', CODE_AT, CODE_AT + 4 * program.code.length, opsAt, clocksAt, endAt);
  end?.set(machine.f64.subarray(endAt >> 3, (endAt >> 3) + end.length));
  return real(machine.f64, clocksAt >> 3, RANK_BYTES >> 3, program.order.pp);
}

export function scanIdle(program: Scannable, prices: Prices): ScannedIdle | null {
  const at = prepare(program, prices);
  if (at === null) return null;
  const { machine, opsAt, clocksAt, endAt, idlesAt } = at;
  const { f64 } = machine;
  const { pp } = program.order;
  f64.fill(0, idlesAt >> 3, (idlesAt + IDLE_BYTES * program.ops.count) >> 3);
  for (let rank = 0; rank < pp; rank++) f64[(clocksAt + RANK_BYTES * rank + FIRST_AT) >> 3] = -1;
  machine.call('scanIdle', CODE_AT, CODE_AT + 4 * program.code.length, opsAt, clocksAt, endAt, idlesAt);
  return {
    firstStart: real(f64, (clocksAt + FIRST_AT) >> 3, RANK_BYTES >> 3, pp),
    lastEnd: real(f64, clocksAt >> 3, RANK_BYTES >> 3, pp),
    stalled: real(f64, idlesAt >> 3, IDLE_BYTES >> 3, program.ops.count),
    stalledByTransfer: real(f64, (idlesAt + TRANSFER_AT) >> 3, IDLE_BYTES >> 3, program.ops.count),
  };
}

interface Prepared {
  readonly machine: Machine;
  readonly opsAt: number;
  readonly clocksAt: number;
  readonly idlesAt: number;
  readonly endAt: number;
}

/** Loads the program, unless it is there, and its prices; clocks at 0. */
function prepare({ order, ops, code }: Scannable, { duration, latency }: Prices): Prepared | null {
  const nodes = code.length >> 1;
  const opsAt = roundUp(CODE_AT + 8 * nodes);
  const clocksAt = opsAt + OP_BYTES * ops.count;
  const idlesAt = clocksAt + RANK_BYTES * order.pp;
  const endAt = idlesAt + IDLE_BYTES * ops.count;
  const machine = source.reserve(endAt + 8 * (nodes + 1));
  if (machine === null) return null;
  const { i32, f64 } = machine;
  if (loaded?.deref() !== code || loadedIn !== source.generation()) {
    i32.set(code, CODE_AT >> 2);
    markLoaded(code);
  }
  const { rank, count } = ops;
  for (let op = 0, at = opsAt >> 3; op < count; op++, at += OP_BYTES >> 3) {
    f64[at] = duration[op]!;
    f64[at + (LATENCY_AT >> 3)] = latency[op]!;
    i32[2 * at + (CLOCK_AT >> 2)] = RANK_BYTES * rank[op]!;
  }
  f64.fill(0, clocksAt >> 3, (clocksAt + RANK_BYTES * order.pp) >> 3);
  f64[(endAt >> 3) + nodes] = Number.NEGATIVE_INFINITY;
  return { machine, opsAt, clocksAt, idlesAt, endAt };
}

function markLoaded(code: Int32Array): void {
  loaded = new WeakRef(code);
  loadedIn = source.generation();
}

/** One field of records in a row, `stride` numbers apart. */
function whole(memory: Int32Array, from: number, stride: number, length: number): Int32Array {
  const field = new Int32Array(length);
  for (let i = 0, at = from; i < length; i++, at += stride) field[i] = memory[at]!;
  return field;
}

function real(memory: Float64Array, from: number, stride: number, length: number): Float64Array {
  const field = new Float64Array(length);
  for (let i = 0, at = from; i < length; i++, at += stride) field[i] = memory[at]!;
  return field;
}

function roundUp(address: number): number {
  return Math.ceil(address / 64) * 64;
}
