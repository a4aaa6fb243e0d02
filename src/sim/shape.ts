/**
 * The shape of a pipeline: what determines the order of actions, and nothing of what they cost. A compiled order is
 * cached by its shape.
 */

import type { Placement, ScheduleId } from '../model/schedule.ts';

export interface PipelineShape {
  readonly schedule: ScheduleId;
  readonly pp: number;
  readonly vpp: number;
  readonly microbatches: number;
  readonly groupSize: number;
  /** A framework's own variant of the order; null is the paper's. */
  readonly variant: string | null;
}

/** Actions that a plan may have and still be simulated while the user types. */
export const MAX_ACTIONS = 8_000_000;

/** The rank that holds a stage under `loop` and `v` placement; ranks count from 0. */
export function rankOfStage(placement: Placement, pp: number, stage: number): number {
  const turn = Math.floor(stage / pp);
  const position = stage % pp;
  return placement === 'v' && turn % 2 === 1 ? pp - 1 - position : position;
}
