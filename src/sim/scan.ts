/**
 * The timing of a compiled program: one linear scan. Every rank runs its list in order and as soon as possible; a
 * node starts when its rank is free and what it waits for has arrived.
 */

import type { Prices } from './ops.ts';
import type { Program } from './program.ts';

/** Idle time by operation, and the rank's first start and last end. All in the unit of the prices. */
export interface Timing {
  readonly makespan: number;
  /** Per rank; both 0 for a rank without actions. */
  readonly firstStart: Float64Array;
  readonly lastEnd: Float64Array;
  /** Per operation: how long its rank stood idle for it, after the rank's first action. */
  readonly stalled: Float64Array;
  /** Per operation: the part of that in which the result was under way. */
  readonly stalledByTransfer: Float64Array;
}

/** Room for the ends of a program's nodes; the last entry stands for "waits for nothing". */
export function makeEnds(program: Program): Float64Array {
  const end = new Float64Array(program.order.ids.length + 1);
  end[end.length - 1] = Number.NEGATIVE_INFINITY;
  return end;
}

/** The makespan alone; fills `end` per node. */
export function scanMakespan(program: Program, prices: Prices, end: Float64Array): number {
  const { code } = program;
  const { rank } = program.ops;
  const { duration, latency } = prices;
  const clock = new Float64Array(program.order.pp);
  const nodes = end.length - 1;
  for (let k = 0; k < nodes; k++) {
    const op = code[2 * k + 1]!;
    const on = rank[op]!;
    let time = clock[on]!;
    const arrival = end[code[2 * k]!]! + latency[op]!;
    if (arrival > time) time = arrival;
    time += duration[op]!;
    end[k] = time;
    clock[on] = time;
  }
  return largest(clock);
}

/** The makespan with idle time by cause; fills `end` per node. */
export function scanTiming(program: Program, prices: Prices, end: Float64Array): Timing {
  const { code } = program;
  const { rank } = program.ops;
  const { duration, latency } = prices;
  const { pp } = program.order;
  const clock = new Float64Array(pp);
  const firstStart = new Float64Array(pp).fill(-1);
  const stalled = new Float64Array(program.ops.count);
  const stalledByTransfer = new Float64Array(program.ops.count);
  const nodes = end.length - 1;
  for (let k = 0; k < nodes; k++) {
    const op = code[2 * k + 1]!;
    const on = rank[op]!;
    let time = clock[on]!;
    const arrival = end[code[2 * k]!]! + latency[op]!;
    if (arrival > time) {
      if (firstStart[on]! >= 0) {
        const idle = arrival - time;
        stalled[op]! += idle;
        stalledByTransfer[op]! += Math.min(idle, latency[op]!);
      }
      time = arrival;
    }
    if (firstStart[on]! < 0) firstStart[on] = time;
    time += duration[op]!;
    end[k] = time;
    clock[on] = time;
  }
  for (let r = 0; r < pp; r++) if (firstStart[r]! < 0) firstStart[r] = 0;
  return { makespan: largest(clock), firstStart, lastEnd: clock, stalled, stalledByTransfer };
}

function largest(values: Float64Array): number {
  let most = 0;
  for (const value of values) if (value > most) most = value;
  return most;
}
