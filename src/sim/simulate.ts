/**
 * The simulator's front door: a shape and its costs in, the report and the timeline out. Every rank runs its list in
 * order, as soon as possible; a transfer adds its time between different ranks and nothing on the same rank; sends do
 * not block.
 */

import type { Costs } from '../model/costs.ts';
import type { PipelineReport } from '../model/report.ts';
import type { Timeline } from '../model/timeline.ts';
import { programFor } from './cache.ts';
import { DEFAULT_OVERLAP_FACTOR, price } from './ops.ts';
import { orderLines } from './order-text.ts';
import { reportOf } from './report.ts';
import { legality, stageCount } from './schedules/table.ts';
import { MAX_ACTIONS, type PipelineShape } from './shape.ts';
import { timelineOf } from './timeline.ts';

export interface SimulationOptions {
  /** Larger plans are refused; the default keeps a simulation short enough for typing. */
  readonly maxActions?: number;
  /** How much of the sum of its two actions an overlapped pair takes. */
  readonly overlapFactor?: number;
}

export type Simulated =
  | {
      readonly ok: true;
      readonly report: PipelineReport;
      /** Made on first use: a report alone does not pay for its columns. */
      readonly timeline: Timeline;
    }
  | { readonly ok: false; readonly reason: string };

/** Refuses, in one line, a shape without a legal order, one too large, and costs that do not fit it. */
export function pipelineReport(shape: PipelineShape, costs: Costs, options: SimulationOptions = {}): Simulated {
  const { maxActions = MAX_ACTIONS, overlapFactor = DEFAULT_OVERLAP_FACTOR } = options;
  const problem = legality(shape, maxActions) ?? costsProblem(shape, costs);
  if (problem !== null) return { ok: false, reason: problem };
  const compiled = programFor(shape);
  if (!compiled.ok) return compiled;
  const { program } = compiled;
  let timeline: Timeline | null = null;
  return {
    ok: true,
    report: reportOf(program, costs, overlapFactor),
    get timeline() {
      timeline ??= timelineOf(program, price(program.ops, costs, overlapFactor), costs.unit);
      return timeline;
    },
  };
}

/** The per-rank order of a legal shape, one line per rank (see `legality`); no lines for one that is not. */
export function orderText(shape: PipelineShape, maxActions = MAX_ACTIONS): string[] {
  if (legality(shape, maxActions) !== null) return [];
  const compiled = programFor(shape);
  return compiled.ok ? orderLines(compiled.program.order) : [];
}

function costsProblem(shape: PipelineShape, costs: Costs): string | null {
  const stages = stageCount(shape);
  const columns = [
    ['forward', costs.forward, stages],
    ['backward input', costs.backwardInput, stages],
    ['backward weight', costs.backwardWeight, stages],
    ['transfer', costs.transfer, stages - 1],
  ] as const;
  for (const [what, times, length] of columns) {
    if (times.length !== length) return `${times.length} ${what} times are given for ${stages} stages`;
    const bad = times.find((time) => !Number.isFinite(time) || time < 0);
    if (bad !== undefined) return `a ${what} time is ${bad}; times are finite and not negative`;
  }
  return null;
}
