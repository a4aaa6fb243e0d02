/**
 * Runs of very many equal microbatches at the cost of a short one: the short run is drawn out by its steady state. The
 * times are held in ticks, so that the result is that of the full run to the last bit. It pays only where there are
 * far more microbatches than ranks; where no steady state shows, the full run is the answer.
 */

import type { Costs } from '../model/costs.ts';
import type { PipelineReport } from '../model/report.ts';
import { fastEnds, fastMakespan, fastTiming } from './fast-scan.ts';
import type { Prices } from './ops.ts';
import { compile, type Program } from './program.ts';
import { reportBy, type Timer } from './report.ts';
import type { Timing } from './scan.ts';
import type { OrderTimes } from './schedules/row.ts';
import { scheduleRow } from './schedules/table.ts';
import type { PipelineShape } from './shape.ts';
import { idleOfCycle, type SteadyState, steadyState } from './steady-state.ts';
import { type SteadyStructure, steadyStructure } from './steady-structure.ts';
import { tickPrices } from './ticks.ts';

/** A short run and what is made of it take as long as a full run of some times its length. */
const WORTHWHILE_TIMES = 16;
/** Microbatches per rank of a first short run. */
const PER_RANK = 3;
/** Actions below which the full run takes no time to speak of. */
const WORTHWHILE_ACTIONS = 65_536;

/** With more microbatches ticks grow too coarse for times that are not multiples of one. */
const MAX_MICROBATCHES = 100_000_000;

/** Microbatches after which a schedule's order repeats; schedules that are not here run in full. */
const PERIODS: Readonly<Partial<Record<PipelineShape['schedule'], (shape: PipelineShape) => number>>> = {
  '1f1b': () => 1,
  'interleaved-1f1b': (shape) => shape.groupSize,
  'grouped-interleaved': (shape) => shape.groupSize,
  'zb-h1': () => 1,
  'zb-h2': () => 1,
  'interleaved-zb': (shape) => shape.groupSize,
  zbv: () => 1,
  dualpipev: () => 1,
};

/** A short run in place of a long one. */
export interface ShortRuns {
  /** A short run's program with the operations counted as in the long one: all that a report asks of a program. */
  readonly program: Program;
  /** Takes prices in ticks. null where no short run up to the limit shows a steady state. */
  readonly timing: (prices: Prices) => Timing | null;
  readonly makespan: (prices: Prices) => number | null;
}

/**
 * The report of a long run in ticks, by short runs, or by the full run where they show no steady state and `full` has
 * one. null where neither can tell, or the order does not repeat.
 */
export function longReport(
  shape: PipelineShape,
  costs: Costs,
  overlapFactor: number,
  maxActions: number,
  full: () => Program | null,
): PipelineReport | null {
  const runs = shortRunsOf(shape, costs, maxActions);
  if (runs === null) return null;
  const { program } = runs;
  let whole: Program | null | undefined;
  const inFull = <T>(time: (program: Program) => T): T | null => {
    if (whole === undefined) whole = full();
    return whole === null ? null : time(whole);
  };
  const timer: Timer = {
    priced: (prices) => tickPrices(prices, program.occurrences),
    timing: (prices) => runs.timing(prices) ?? inFull((each) => fastTiming(each, prices)),
    makespan: (prices) => runs.makespan(prices) ?? inFull((each) => fastMakespan(each, prices)),
  };
  return reportBy(timer, program, costs, overlapFactor);
}

/** Whether a shape has so many microbatches, in an order that repeats, that short runs pay. */
export function isLong(shape: PipelineShape): boolean {
  const row = scheduleRow(shape.schedule);
  const period = periodOf(shape);
  if (row === null || period === null) return false;
  const { microbatches } = shape;
  if (microbatches < WORTHWHILE_TIMES * period * shortGroups(shape, period) || microbatches > MAX_MICROBATCHES)
    return false;
  return row.actions(shape) >= WORTHWHILE_ACTIONS;
}

/** null where the order does not repeat. */
function periodOf(shape: PipelineShape): number | null {
  const period = PERIODS[shape.schedule]?.(shape) ?? 0;
  return period < 1 || scheduleRow(shape.schedule)?.searches(shape) === true ? null : period;
}

/** Groups that fill the pipeline, and some in which a steady state can show. */
function shortGroups({ pp }: PipelineShape, period: number): number {
  return Math.ceil((PER_RANK * pp) / period) + 6;
}

/** null where the order does not repeat. `maxActions` bounds a short run. */
export function shortRunsOf(shape: PipelineShape, times: OrderTimes, maxActions: number): ShortRuns | null {
  const period = periodOf(shape);
  if (period === null) return null;
  const runs = new Map<number, SteadyStructure | null>();
  const structureOf = (groups: number): SteadyStructure | null => {
    const held = runs.get(groups);
    if (held !== undefined) return held;
    const made = shortRun(shape, times, period, groups);
    runs.set(groups, made);
    return made;
  };
  const groups = Math.floor(shape.microbatches / period);
  const actions = scheduleRow(shape.schedule)!.actions({ ...shape, microbatches: period });
  // Half of what there is, or a short run would not be short.
  const most = Math.min(Math.floor(groups / 2), Math.floor(maxActions / actions));
  const first = shortGroups(shape, period);
  const base = first <= most ? structureOf(first) : null;
  if (base === null) return null;
  const find = (prices: Prices) => drawnOut(structureOf, prices, groups, first, most);
  return {
    program: { ...base.program, occurrences: occurrencesOf(base, groups - first) },
    timing: (prices) => {
      const found = find(prices);
      return found === null ? null : timingOf(found, prices);
    },
    makespan: (prices) => {
      const found = find(prices);
      return found === null ? null : largest(found.end) + found.cycles * found.state.lag;
    },
  };
}

interface DrawnOut {
  readonly structure: SteadyStructure;
  /** By list entry. */
  readonly end: Float64Array;
  readonly state: SteadyState;
  /** How often `state.cyclicity` groups are put in. */
  readonly cycles: number;
}

/** A short run whose missing groups are whole cycles; twice as long a run where none shows. */
function drawnOut(
  structureOf: (groups: number) => SteadyStructure | null,
  prices: Prices,
  groups: number,
  first: number,
  most: number,
): DrawnOut | null {
  for (let short = first; short <= most; short *= 2) {
    const run = settled(structureOf(short), prices);
    if (run === null) continue;
    const rest = (groups - short) % run.state.cyclicity;
    const whole = rest === 0 ? run : settled(structureOf(short + rest), prices);
    const missing = groups - short - rest;
    if (whole !== null && missing % whole.state.cyclicity === 0) {
      return { ...whole, cycles: missing / whole.state.cyclicity };
    }
  }
  return null;
}

function settled(structure: SteadyStructure | null, prices: Prices) {
  if (structure === null) return null;
  const ends = fastEnds(structure.program, prices);
  const end = new Float64Array(structure.nodeAt.length);
  for (let i = 0; i < end.length; i++) end[i] = ends[structure.nodeAt[i]!]!;
  const state = steadyState(structure, end);
  return state === null ? null : { structure, end, state };
}

function shortRun(shape: PipelineShape, times: OrderTimes, period: number, groups: number): SteadyStructure | null {
  const row = scheduleRow(shape.schedule)!;
  const microbatches = (shape.microbatches % period) + groups * period;
  const compiled = compile(row.order({ ...shape, microbatches }, times));
  if (!compiled.ok) return null;
  return steadyStructure(compiled.program, row.order({ ...shape, microbatches: microbatches + period }, times), period);
}

function occurrencesOf({ program, to, length, nodeAt }: SteadyStructure, missing: number): Int32Array {
  const occurrences = program.occurrences.slice();
  for (let rank = 0; rank < program.order.pp; rank++) {
    for (let i = to[rank]! - length[rank]!; i < to[rank]!; i++) {
      occurrences[program.code[2 * nodeAt[i]! + 1]!]! += missing;
    }
  }
  return occurrences;
}

function timingOf({ structure, end, state, cycles }: DrawnOut, prices: Prices): Timing {
  const short = fastTiming(structure.program, prices);
  const idle = idleOfCycle(structure, end, prices, state);
  const late = cycles * state.lag;
  return {
    makespan: short.makespan + late,
    firstStart: short.firstStart,
    lastEnd: short.lastEnd.map((time) => time + late),
    stalled: short.stalled.map((time, op) => time + cycles * idle.stalled[op]!),
    stalledByTransfer: short.stalledByTransfer.map((time, op) => time + cycles * idle.stalledByTransfer[op]!),
  };
}

function largest(values: Float64Array): number {
  let most = 0;
  for (const value of values) if (value > most) most = value;
  return most;
}
