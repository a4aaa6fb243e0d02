/**
 * The simulator's front door: a shape and its costs in, the report and the timeline out. Every rank runs its list in
 * order, as soon as possible; a transfer adds its time between different ranks and nothing on the same rank; sends do
 * not block, unless another mode of communication is asked for.
 */

import type { Costs } from '../model/costs.ts';
import { counted } from '../model/counted.ts';
import type { PipelineReport } from '../model/report.ts';
import type { CommunicationMode } from '../model/schedule.ts';
import type { Timeline } from '../model/timeline.ts';
import { programFor } from './cache.ts';
import { linked } from './communication/modes.ts';
import { linkedTimeline, linkedTimer } from './communication/timing.ts';
import { costsProblem } from './costs-problem.ts';
import { DEFAULT_OVERLAP_FACTOR, price } from './ops.ts';
import { parseOrder } from './order-parse.ts';
import { orderLines } from './order-text.ts';
import { isLong, longReport } from './periodic.ts';
import { type Compiled, compile, type Program } from './program.ts';
import { reportBy, reportOf } from './report.ts';
import { legality, scheduleRow, stageCount } from './schedules/table.ts';
import { MAX_ACTIONS, type PipelineShape, sizeProblem } from './shape.ts';
import { timelineOf } from './timeline.ts';

export interface SimulationOptions {
  /** Larger plans are refused; the default keeps a simulation short enough for typing. */
  readonly maxActions?: number;
  /** How much of the sum of its two actions an overlapped pair takes. */
  readonly overlapFactor?: number;
  /** A custom order, one line per rank; the schedule then says the placement alone. */
  readonly order?: readonly string[] | null;
  /** How transfers behave; `async` unless said. */
  readonly communication?: CommunicationMode;
}

export type Simulated =
  | {
      readonly ok: true;
      readonly report: PipelineReport;
      /** Made on first use: a report alone does not pay for its columns. null where the run is too long for one. */
      readonly timeline: Timeline | null;
    }
  | { readonly ok: false; readonly reason: string };

/**
 * Refuses, in one line, a shape without a legal order, one too large, and costs that do not fit it. Very many equal
 * microbatches are not too large where the order repeats.
 */
export function pipelineReport(shape: PipelineShape, costs: Costs, options: SimulationOptions = {}): Simulated {
  const { overlapFactor = DEFAULT_OVERLAP_FACTOR, order = null, communication = 'async' } = options;
  const canBeLong = order === null && communication === 'async' && isLong(shape);
  const report = canBeLong ? reportOfLong(shape, costs, options) : null;
  const compiled = report === null ? programOf(shape, costs, options) : null;
  if (compiled?.ok === false) return compiled;
  const timed = compiled === null ? null : timedProgram(compiled.program, costs, overlapFactor, communication);
  if (timed?.ok === false) return timed;
  let timeline: Timeline | null | undefined;
  return {
    ok: true,
    report: report ?? timed!.report,
    get timeline() {
      if (timeline !== undefined) return timeline;
      const made = timed ?? fullProgram(shape, costs, options);
      timeline = made.ok ? made.timeline() : null;
      return timeline;
    },
  };
}

type Timed =
  | { readonly ok: true; readonly report: PipelineReport; readonly timeline: () => Timeline }
  | { readonly ok: false; readonly reason: string };

/** A compiled order at its costs. Refuses transfers that lock up. */
export function timedProgram(
  program: Program,
  costs: Costs,
  overlapFactor: number,
  communication: CommunicationMode,
): Timed {
  const prices = () => price(program.ops, costs, overlapFactor);
  if (communication === 'async') {
    return {
      ok: true,
      report: reportOf(program, costs, overlapFactor),
      timeline: () => timelineOf(program, prices(), costs.unit),
    };
  }
  const joined = linked(program, communication);
  if (!joined.ok) return joined;
  return {
    ok: true,
    report: reportBy(linkedTimer(joined.linked), program, costs, overlapFactor)!,
    timeline: () => linkedTimeline(joined.linked, prices(), costs.unit),
  };
}

function fullProgram(shape: PipelineShape, costs: Costs, options: SimulationOptions): Timed {
  const { overlapFactor = DEFAULT_OVERLAP_FACTOR, communication = 'async' } = options;
  const compiled = programOf(shape, costs, options);
  return compiled.ok ? timedProgram(compiled.program, costs, overlapFactor, communication) : compiled;
}

/** null where the shape and its costs are refused, and where only the full run can tell. */
function reportOfLong(shape: PipelineShape, costs: Costs, options: SimulationOptions): PipelineReport | null {
  const { overlapFactor = DEFAULT_OVERLAP_FACTOR, maxActions = MAX_ACTIONS } = options;
  if ((legality(shape, Number.POSITIVE_INFINITY) ?? costsProblem(shape, costs, overlapFactor)) !== null) return null;
  return longReport(shape, costs, overlapFactor, maxActions, () => {
    const full = programOf(shape, costs, options);
    return full.ok ? full.program : null;
  });
}

/**
 * The per-rank order, one line per rank, as `pipelineReport` with the same arguments runs it; no lines where that
 * refuses. Costs matter to searched orders alone; without them every action takes the same time.
 */
export function orderText(shape: PipelineShape, costs?: Costs, options: SimulationOptions = {}): string[] {
  if (sizeProblem(shape) !== null) return [];
  const compiled = programOf(shape, costs ?? unitCosts(stageCount(shape)), options);
  return compiled.ok ? orderLines(compiled.program.order) : [];
}

/** The compiled order that a simulation runs. Custom orders are compiled each time. */
export function programOf(shape: PipelineShape, costs: Costs, options: SimulationOptions): Compiled {
  const { maxActions = MAX_ACTIONS, order = null, overlapFactor = DEFAULT_OVERLAP_FACTOR } = options;
  const sizes = order === null ? legality(shape, maxActions) : sizeProblem(shape);
  const problem = sizes ?? costsProblem(shape, costs, overlapFactor);
  if (problem !== null) return { ok: false, reason: problem };
  if (order === null) return programFor(shape, costs);
  const row = scheduleRow(shape.schedule);
  if (row === null) return { ok: false, reason: `the schedule ${shape.schedule} cannot be simulated` };
  const { pp, microbatches } = shape;
  const stages = stageCount(shape);
  if (3 * stages * microbatches > maxActions)
    return {
      ok: false,
      reason: `${counted(stages, 'stage')} of ${counted(microbatches, 'microbatch')} are too many to simulate`,
    };
  const parsed = parseOrder(order, { pp, stages, microbatches, placement: row.placement });
  return parsed.ok ? compile(parsed.order) : parsed;
}

/** Every action takes 1, every transfer nothing. */
function unitCosts(stages: number): Costs {
  const ones = new Array<number>(stages).fill(1);
  return {
    badge: 'relative',
    unit: 'layer',
    how: 'every action takes the same time',
    forward: ones,
    backwardInput: ones,
    backwardWeight: ones,
    transfer: new Array<number>(stages - 1).fill(0),
    activationBytes: new Array<null>(stages).fill(null),
  };
}
