/** What a rule sees and returns. One rule is one file and one row in `table.ts`. */

import type { Costs } from '../../model/costs.ts';
import type { Change, Finding } from '../../model/finding.ts';
import type { FindingCode } from '../../model/finding-codes.ts';
import type { Plan } from '../../model/plan.ts';
import type { Report } from '../../model/report.ts';
import type { Placement } from '../../model/schedule.ts';
import type { AnalysisSettings } from '../../model/settings.ts';

export interface RuleContext {
  readonly plan: Plan;
  readonly costs: Costs;
  readonly report: Report;
  readonly settings: AnalysisSettings;
  /** Known sizes of the plan, so that rules need not ask for null. */
  readonly pp: number;
  readonly vpp: number;
  readonly microbatches: number;
  readonly placement: Placement;
}

/** A change worth trying: it is applied, read and simulated again before it is offered. */
export interface Proposal {
  readonly changes: readonly Change[];
  /** "Raise microbatches from 8 to 32". */
  readonly title: string;
  /** What it changes in the training itself, for the title; null when the run stays the same. */
  readonly alters: string | null;
}

export interface RuleFinding {
  readonly finding: Finding;
  readonly proposals: readonly Proposal[];
}

export interface Rule {
  readonly code: FindingCode;
  readonly check: (context: RuleContext) => RuleFinding | null;
}
