/**
 * The pipeline report: what a timing means. Idle time by cause per rank, the three definitions of the bubble, and the
 * waterfall that splits the headline by simulating three times.
 */

import type { Costs } from '../model/costs.ts';
import type { PipelineReport, RankReport, Stall, Waterfall } from '../model/report.ts';
import { fastMakespan, fastTiming } from './fast-scan.ts';
import { peakBytes } from './memory.ts';
import { type Prices, price } from './ops.ts';
import type { Program } from './program.ts';
import type { Timing } from './scan.ts';

const ROUNDING = 1e-12;

/** What times a program: the scan, or a way to the same result; null where that way does not exist. */
export interface Timer {
  readonly timing: (prices: Prices) => Timing | null;
  readonly makespan: (prices: Prices) => number | null;
  /** The prices that are timed: those of the operations, or what they are rounded to. */
  readonly priced: (prices: Prices) => Prices;
}

/** `costs` hold one entry per stage of the program, all finite and not negative. */
export function reportOf(program: Program, costs: Costs, overlapFactor: number): PipelineReport {
  return reportBy(scanning(program), program, costs, overlapFactor)!;
}

/** Every timing by a scan of the program. */
function scanning(program: Program): Timer {
  return {
    timing: (prices) => fastTiming(program, prices),
    makespan: (prices) => fastMakespan(program, prices),
    priced: (prices) => prices,
  };
}

/** The report of timings from elsewhere; null where one of them does not exist. */
export function reportBy(timer: Timer, program: Program, costs: Costs, overlapFactor: number): PipelineReport | null {
  const prices = timer.priced(price(program.ops, costs, overlapFactor));
  const timing = timer.timing(prices);
  if (timing === null) return null;
  const busy = busyByRank(program, prices);
  const { makespan } = timing;
  const bubbleFraction = bubbleOf(makespan, busy);
  const meanBusy = sum(busy) / busy.length;
  let span = 0;
  for (let r = 0; r < busy.length; r++) span = Math.max(span, timing.lastEnd[r]! - timing.firstStart[r]!);
  const waterfall = waterfallOf(timer, program, costs, overlapFactor, bubbleFraction);
  if (waterfall === null) return null;
  return {
    makespan,
    bubbleFraction,
    bubbleOverIdeal: bubbleFraction / (1 - bubbleFraction),
    spanBubbleFraction: span > 0 ? withoutNoise((span - meanBusy) / span) : 0,
    waterfall,
    ranks: rankReports(program, timing, busy, peakBytes(program, costs)),
  };
}

/** Sum of (makespan - busy) over pp times makespan; 0 where nothing runs. */
export function bubbleOf(makespan: number, busy: Float64Array): number {
  const total = busy.length * makespan;
  return total > 0 ? withoutNoise((total - sum(busy)) / total) : 0;
}

/** A busy rank adds its times up in another order than the clock did: what that leaves is not idle time. */
function withoutNoise(fraction: number): number {
  return Math.abs(fraction) < ROUNDING ? 0 : fraction;
}

/** Per rank: the sum of its actions' times. */
export function busyByRank({ ops, occurrences, order }: Program, { duration }: Prices): Float64Array {
  const busy = new Float64Array(order.pp);
  for (let op = 0; op < ops.count; op++) {
    if (occurrences[op]! > 0) busy[ops.rank[op]!]! += occurrences[op]! * duration[op]!;
  }
  return busy;
}

/** Equal stages without transfers, then real stages, then transfers; a simulation that would repeat one is spared. */
function waterfallOf(
  timer: Timer,
  program: Program,
  costs: Costs,
  overlapFactor: number,
  bubbleFraction: number,
): Waterfall | null {
  const bubbleAt = (at: Costs): number | null => {
    const prices = timer.priced(price(program.ops, at, overlapFactor));
    const makespan = timer.makespan(prices);
    return makespan === null ? null : bubbleOf(makespan, busyByRank(program, prices));
  };
  const still = costs.transfer.every((time) => time === 0);
  const equal = [costs.forward, costs.backwardInput, costs.backwardWeight].every((times) =>
    times.every((time) => time === times[0]),
  );
  const noTransfers = { ...costs, transfer: costs.transfer.map(() => 0) };
  const withStages = still ? bubbleFraction : bubbleAt(noTransfers);
  const schedule = equal
    ? withStages
    : bubbleAt({
        ...noTransfers,
        forward: evenly(costs.forward),
        backwardInput: evenly(costs.backwardInput),
        backwardWeight: evenly(costs.backwardWeight),
      });
  if (withStages === null || schedule === null) return null;
  return { schedule, imbalance: withStages - schedule, communication: bubbleFraction - withStages };
}

function evenly(times: readonly number[]): readonly number[] {
  const mean = times.reduce((total, time) => total + time, 0) / times.length;
  return times.map(() => mean);
}

function rankReports(
  program: Program,
  timing: Timing,
  busy: Float64Array,
  bytes: readonly (number | null)[],
): readonly RankReport[] {
  const { makespan, firstStart, lastEnd } = timing;
  const { rankStart } = program.order;
  // Nothing takes time where the makespan is 0.
  const whole = makespan > 0 ? makespan : 1;
  const stallsOf = stallsByRank(program, timing);
  const reports: RankReport[] = [];
  for (let rank = 0; rank < busy.length; rank++) {
    const empty = rankStart[rank] === rankStart[rank + 1];
    const stalls = stallsOf[rank]!;
    let stalled = 0;
    for (const stall of stalls) {
      stalled += stall.fraction;
      stall.fraction /= whole;
      stall.transferFraction /= whole;
    }
    reports.push({
      busy: busy[rank]!,
      end: lastEnd[rank]!,
      idleFraction: withoutNoise((makespan - busy[rank]!) / whole),
      warmupFraction: (empty ? makespan : firstStart[rank]!) / whole,
      cooldownFraction: (empty ? 0 : makespan - lastEnd[rank]!) / whole,
      stallFraction: stalled / whole,
      stalls,
      peakActivations: program.peakActivations[rank]!,
      peakBytes: bytes[rank] ?? null,
    });
  }
  return reports;
}

/** A stall while it is added up: times at first, fractions of the makespan in the end. */
type GrowingStall = { -readonly [K in keyof Stall]: Stall[K] };

/** Per rank, its stalls by the rank waited for, in rank order, as times. */
function stallsByRank({ ops, order }: Program, { stalled, stalledByTransfer }: Timing): readonly GrowingStall[][] {
  const byRank: GrowingStall[][] = [];
  for (let rank = 0; rank < order.pp; rank++) byRank.push([]);
  for (let op = 0; op < ops.count; op++) {
    if (stalled[op] === 0) continue;
    const stalls = byRank[ops.rank[op]!]!;
    const waitedForRank = ops.source[op]!;
    let at = 0;
    while (at < stalls.length && stalls[at]!.waitedForRank !== waitedForRank) at++;
    if (at === stalls.length) stalls.push({ waitedForRank, fraction: 0, transferFraction: 0 });
    stalls[at]!.fraction += stalled[op]!;
    stalls[at]!.transferFraction += stalledByTransfer[op]!;
  }
  for (const stalls of byRank) if (stalls.length > 1) stalls.sort((a, b) => a.waitedForRank - b.waitedForRank);
  return byRank;
}

function sum(values: Float64Array): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
