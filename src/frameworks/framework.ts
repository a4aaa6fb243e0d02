/**
 * What a framework brings to a schedule: what it refuses and in which words, its default group size, and its variant
 * of an order. One file per framework, one row in `table.ts`. The message of a refusal carries the framework's own
 * figures, so that a user finds the same words in her log.
 */

import type { FindingCode } from '../model/finding-codes.ts';
import type { PlanKey } from '../model/plan.ts';
import type { CommunicationMode, FrameworkId, ScheduleId } from '../model/schedule.ts';

export interface ScheduleRequest {
  readonly schedule: ScheduleId;
  readonly pp: number;
  readonly vpp: number;
  readonly microbatches: number;
  /** null: the framework's default. */
  readonly groupSize: number | null;
  /** How transfers behave; absent: as the framework has it. */
  readonly communication?: CommunicationMode;
}

export interface Refusal {
  readonly code: FindingCode;
  readonly message: string;
  /** The plan values that are at fault, the first one first. */
  readonly about: readonly PlanKey[];
}

export interface Framework {
  readonly id: FrameworkId;
  readonly title: string;
  /** Repository and commit that the rules were read from. */
  readonly source: string;
  readonly schedules: readonly ScheduleId[];
  readonly refuse: (request: ScheduleRequest) => Refusal | null;
  readonly defaultGroupSize: (request: ScheduleRequest) => number;
  /** Name of the framework's own variant of an order, where it differs from the paper's. */
  readonly variant: (schedule: ScheduleId) => string | null;
}
