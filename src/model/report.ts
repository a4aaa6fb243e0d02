/**
 * A report: what a timeline means. Fractions are of the makespan unless named otherwise; `null` is unknown.
 */

import type { CostsBadge } from './costs.ts';

export interface Stall {
  /** The rank whose result was waited for. */
  readonly waitedForRank: number;
  readonly fraction: number;
  /** How much of the wait was the transfer itself. */
  readonly transferFraction: number;
}

export interface RankReport {
  readonly busy: number;
  /** End of the rank's last action. */
  readonly end: number;
  readonly idleFraction: number;
  readonly warmupFraction: number;
  readonly cooldownFraction: number;
  readonly stallFraction: number;
  readonly stalls: readonly Stall[];
  readonly peakActivations: number;
  readonly peakBytes: number | null;
}

/** The three parts add up to the headline; a part can be negative. */
export interface Waterfall {
  readonly schedule: number;
  readonly imbalance: number;
  readonly communication: number;
}

/** What the simulator alone can say. */
export interface PipelineReport {
  readonly makespan: number;
  readonly bubbleFraction: number;
  readonly bubbleOverIdeal: number;
  readonly spanBubbleFraction: number;
  readonly waterfall: Waterfall;
  readonly ranks: readonly RankReport[];
}

/** The pipeline report with its costs, step time and money. */
export interface Report extends PipelineReport {
  readonly costs: CostsBadge;
  readonly unit: 'ms' | 'layer';
  readonly stepMs: number | null;
  readonly tailMs: number | null;
  readonly usdPerDayLost: number | null;
  readonly usdLostOverRun: number | null;
  readonly daysLost: number | null;
  /** Why step time, money or days are null, one line each, with what would tell them. */
  readonly unknowns: readonly { readonly what: string; readonly missing: string; readonly say: string | null }[];
}
