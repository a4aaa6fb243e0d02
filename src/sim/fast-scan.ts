/**
 * The scans of `scan.ts`, by WebAssembly where that is there and the program is worth it. The results agree bit for
 * bit, so callers need not know which one ran.
 */

import type { Prices } from './ops.ts';
import type { Program } from './program.ts';
import { makeEnds, scanMakespan, scanTiming, type Timing } from './scan.ts';
import { scanEnds, scanIdle, WORTHWHILE_NODES } from './wasm/engine.ts';

export function fastMakespan(program: Program, prices: Prices): number {
  const clocks = isWorthwhile(program) ? scanEnds(program, prices, null) : null;
  return clocks === null ? scanMakespan(program, prices, makeEnds(program)) : largest(clocks);
}

export function fastTiming(program: Program, prices: Prices): Timing {
  const scanned = isWorthwhile(program) ? scanIdle(program, prices) : null;
  if (scanned === null) return scanTiming(program, prices, makeEnds(program));
  const { lastEnd, firstStart } = scanned;
  return { ...scanned, makespan: largest(lastEnd), firstStart: firstStart.map((time) => Math.max(time, 0)) };
}

/** The ends of all nodes, as `scanMakespan` fills them in; the last entry stands for "waits for nothing". */
export function fastEnds(program: Program, prices: Prices): Float64Array {
  const end = makeEnds(program);
  if (!isWorthwhile(program) || scanEnds(program, prices, end) === null) scanMakespan(program, prices, end);
  return end;
}

function isWorthwhile(program: Program): boolean {
  return program.order.ids.length >= WORTHWHILE_NODES;
}

function largest(values: Float64Array): number {
  let most = 0;
  for (const value of values) if (value > most) most = value;
  return most;
}
