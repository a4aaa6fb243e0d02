/**
 * The pipeline report: what a timing means. Idle time by cause per rank, the three definitions of the bubble, and the
 * waterfall that splits the headline by simulating three times.
 */

import type { Costs } from '../model/costs.ts';
import type { PipelineReport, RankReport, Stall, Waterfall } from '../model/report.ts';
import { peakBytes } from './memory.ts';
import { type Prices, price } from './ops.ts';
import type { Program } from './program.ts';
import { makeEnds, scanMakespan, scanTiming, type Timing } from './scan.ts';

const ROUNDING = 1e-12;

/** `costs` hold one entry per stage of the program, all finite and not negative. */
export function reportOf(program: Program, costs: Costs, overlapFactor: number): PipelineReport {
  const prices = price(program.ops, costs, overlapFactor);
  const end = makeEnds(program);
  const timing = scanTiming(program, prices, end);
  const busy = busyByRank(program, prices);
  const { makespan } = timing;
  const bubbleFraction = bubbleOf(makespan, busy);
  const meanBusy = sum(busy) / busy.length;
  let span = 0;
  for (let r = 0; r < busy.length; r++) span = Math.max(span, timing.lastEnd[r]! - timing.firstStart[r]!);
  return {
    makespan,
    bubbleFraction,
    bubbleOverIdeal: bubbleFraction / (1 - bubbleFraction),
    spanBubbleFraction: span > 0 ? withoutNoise((span - meanBusy) / span) : 0,
    waterfall: waterfallOf(program, costs, overlapFactor, end, bubbleFraction),
    ranks: rankReports(program, timing, busy, peakBytes(program, costs)),
  };
}

/** Sum of (makespan - busy) over pp times makespan; 0 where nothing runs. */
function bubbleOf(makespan: number, busy: Float64Array): number {
  const total = busy.length * makespan;
  return total > 0 ? withoutNoise((total - sum(busy)) / total) : 0;
}

/** A busy rank adds its times up in another order than the clock did: what that leaves is not idle time. */
function withoutNoise(fraction: number): number {
  return Math.abs(fraction) < ROUNDING ? 0 : fraction;
}

function busyByRank({ ops, occurrences, order }: Program, { duration }: Prices): Float64Array {
  const busy = new Float64Array(order.pp);
  for (let op = 0; op < ops.count; op++) {
    if (occurrences[op]! > 0) busy[ops.rank[op]!]! += occurrences[op]! * duration[op]!;
  }
  return busy;
}

/** Equal stages without transfers, then real stages, then transfers; a simulation that would repeat one is spared. */
function waterfallOf(
  program: Program,
  costs: Costs,
  overlapFactor: number,
  end: Float64Array,
  bubbleFraction: number,
): Waterfall {
  const bubbleAt = (at: Costs): number => {
    const prices = price(program.ops, at, overlapFactor);
    return bubbleOf(scanMakespan(program, prices, end), busyByRank(program, prices));
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
  const { makespan } = timing;
  const fraction = (time: number) => (makespan > 0 ? time / makespan : 0);
  const stalls = stallsByRank(program, timing);
  return Array.from(busy, (time, rank) => {
    const empty = program.order.rankStart[rank] === program.order.rankStart[rank + 1];
    const stalled = stalls[rank]!.reduce((total, stall) => total + stall.time, 0);
    return {
      busy: time,
      end: timing.lastEnd[rank]!,
      idleFraction: withoutNoise(fraction(makespan - time)),
      warmupFraction: fraction(empty ? makespan : timing.firstStart[rank]!),
      cooldownFraction: fraction(empty ? 0 : makespan - timing.lastEnd[rank]!),
      stallFraction: fraction(stalled),
      stalls: stalls[rank]!.map(
        (stall): Stall => ({
          waitedForRank: stall.waitedForRank,
          fraction: fraction(stall.time),
          transferFraction: fraction(stall.transfer),
        }),
      ),
      peakActivations: program.peakActivations[rank]!,
      peakBytes: bytes[rank] ?? null,
    };
  });
}

interface StallTime {
  readonly waitedForRank: number;
  time: number;
  transfer: number;
}

/** Per rank, the stalls by the rank waited for, in rank order. */
function stallsByRank({ ops, order }: Program, timing: Timing): readonly (readonly StallTime[])[] {
  const byRank: StallTime[][] = Array.from({ length: order.pp }, () => []);
  for (let op = 0; op < ops.count; op++) {
    if (timing.stalled[op] === 0) continue;
    const stalls = byRank[ops.rank[op]!]!;
    const waitedForRank = ops.source[op]!;
    let stall = stalls.find((each) => each.waitedForRank === waitedForRank);
    if (stall === undefined) {
      stall = { waitedForRank, time: 0, transfer: 0 };
      stalls.push(stall);
    }
    stall.time += timing.stalled[op]!;
    stall.transfer += timing.stalledByTransfer[op]!;
  }
  for (const stalls of byRank) stalls.sort((a, b) => a.waitedForRank - b.waitedForRank);
  return byRank;
}

function sum(values: Float64Array): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
