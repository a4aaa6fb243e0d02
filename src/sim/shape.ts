/**
 * The shape of a pipeline: what determines the order of actions, and nothing of what they cost. A compiled order is
 * cached by its shape.
 */

import { counted } from '../model/counted.ts';
import type { Placement, ScheduleId } from '../model/schedule.ts';

export interface PipelineShape {
  readonly schedule: ScheduleId;
  readonly pp: number;
  readonly vpp: number;
  readonly microbatches: number;
  readonly groupSize: number;
  /** A framework's own variant of the order; null is the paper's. */
  readonly variant: string | null;
  /** Live stage-microbatches that a searched schedule may hold per rank; absent or null is the schedule's own. */
  readonly memoryLimit?: number | null;
}

/** Actions that a plan may have and still be simulated while the user types. */
export const MAX_ACTIONS = 8_000_000;

/** Actions up to which an order is searched for: a search tries several orders, each at several times the cost. */
export const MAX_SEARCHED_ACTIONS = 400_000;

/** Ranks up to which an order is searched for: parts of a search grow with the square of the ranks. */
export const MAX_SEARCHED_RANKS = 512;

/** Stages that a plan may have: tables of this length are made before the first action. */
export const MAX_STAGES = 65_536;

/** The rank that holds a stage under `loop` and `v` placement; ranks count from 0. */
export function rankOfStage(placement: Placement, pp: number, stage: number): number {
  const turn = Math.floor(stage / pp);
  const position = stage % pp;
  return placement === 'v' && turn % 2 === 1 ? pp - 1 - position : position;
}

/** Why these are not sizes of a pipeline at all, in one line; null when they are. Schedules add their own rules. */
export function sizeProblem(shape: PipelineShape): string | null {
  const sizes = [
    ['the pipeline size', shape.pp, 1],
    ['the number of virtual stages', shape.vpp, 1],
    ['the number of microbatches', shape.microbatches, 0],
    ['the group size', shape.groupSize, shape.microbatches === 0 ? 0 : 1],
  ] as const;
  for (const [what, value, least] of sizes) {
    if (!Number.isSafeInteger(value) || value < least)
      return `${what} is ${value}; it must be a whole number from ${least}`;
  }
  const limit = shape.memoryLimit ?? 1;
  if (!Number.isSafeInteger(limit) || limit < 1)
    return `the memory limit is ${limit}; it must be a whole number from 1`;
  if (shape.pp * shape.vpp > MAX_STAGES) {
    return `${counted(shape.pp, 'rank')} with ${counted(shape.vpp, 'stage')} each are too many to simulate (at most ${counted(MAX_STAGES, 'stage')})`;
  }
  return null;
}
