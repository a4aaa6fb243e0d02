/**
 * One program at many prices: what a search over costs, splits or transfers asks. Prices run eight to a scan where
 * WebAssembly has SIMD, else one by one; the makespans are those of the plain scan, bit for bit.
 */

import { fastMakespan } from './fast-scan.ts';
import type { Prices } from './ops.ts';
import type { Program } from './program.ts';
import { threadsOf } from './threads.ts';
import { PRICED_LANES } from './wasm/lane-kernels.ts';
import { pricedScan } from './wasm/lanes.ts';

/** With fewer prices than these the preparation costs more than the lanes gain. */
const WORTHWHILE_PRICES = 4;

/** The makespan of every set of prices, in order. */
export function makespansOf(program: Program, prices: readonly Prices[]): readonly number[] {
  const scan = prices.length < WORTHWHILE_PRICES ? null : pricedScan(program, threadsOf(program));
  if (scan === null) return prices.map((each) => fastMakespan(program, each));
  const makespans: number[] = [];
  for (let at = 0; at < prices.length; at += PRICED_LANES) makespans.push(...scan(prices.slice(at, at + PRICED_LANES)));
  return makespans;
}
