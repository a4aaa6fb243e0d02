/** What wording and explanation are made from: one plan's analysis and the texts that its places lie in. */

import type { Costs } from '../model/costs.ts';
import type { Finding } from '../model/finding.ts';
import type { Plan } from '../model/plan.ts';
import type { Texts } from '../model/reading.ts';
import type { Report } from '../model/report.ts';
import type { Placement } from '../model/schedule.ts';

export interface WordingInput {
  readonly plan: Plan;
  readonly costs: Costs | null;
  readonly report: Report | null;
  readonly noReport: string | null;
  readonly placement: Placement | null;
  readonly findings: readonly Finding[];
  readonly texts: Texts;
  readonly file: string;
}
