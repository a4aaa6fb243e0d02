/** The analysis of one file as plain data: what `src/analysis.ts` returns and every surface shows. */

import type { Costs } from './costs.ts';
import type { Finding } from './finding.ts';
import type { Plan } from './plan.ts';
import type { GapCause } from './protocol.ts';
import type { Report } from './report.ts';
import type { Placement } from './schedule.ts';
import type { TextRange } from './source.ts';

/** Ready-made wording, so that every surface says the same. Markdown only in `hover`. */
export interface PlanTexts {
  /** End of line: "21.1 % idle · 842 ms · $1,204/day". */
  readonly hint: string;
  readonly hintTooltip: string;
  /** Above the line: the headline with its causes. */
  readonly lens: string;
  /** What the lens offers to say when something is missing: "GPU count ? - set it"; null when nothing is. */
  readonly lensAsk: { readonly title: string; readonly say: string } | null;
  /** At most 12 lines of Markdown. */
  readonly hover: string;
  readonly status: string;
  readonly headline: string;
  readonly waterfall: string;
  readonly badge: string;
  /** The whole explanation as plain text, for the read-only document and the terminal. */
  readonly explanation: string;
}

export interface PlanAnalysis {
  readonly plan: Plan;
  readonly placement: Placement | null;
  /** [rank][chunk] layers; null where the split is unknown. */
  readonly stageLayers: readonly (readonly number[])[] | null;
  readonly costs: Costs | null;
  readonly report: Report | null;
  /** Why there is no report; null when there is one. */
  readonly noReport: string | null;
  /** The plan's own findings and the rules', sorted by place. */
  readonly findings: readonly Finding[];
  readonly texts: PlanTexts;
  /** Where to go for a gap or an action: the config token that is responsible. */
  readonly responsible: Readonly<Record<GapCause | 'stage' | 'transfer', TextRange>>;
}

export interface Analysis {
  readonly file: string;
  /** Id of the reader; null when the file is nobody's. */
  readonly reader: string | null;
  readonly problems: readonly Finding[];
  readonly needs: readonly string[];
  /** Those of `needs` that nobody misses when they are not there. */
  readonly optional?: readonly string[];
  readonly plans: readonly PlanAnalysis[];
}
