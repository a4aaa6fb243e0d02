/**
 * What is shown while a text is broken. A config is half-typed most of its life; the last numbers that were computed
 * from a sound text stay in place, marked, until the text is sound again or is no config any more.
 */

import type { Analysis, PlanAnalysis } from '../model/analysis.ts';
import type { TextRange } from '../model/source.ts';
import { movedOffset, type Replaced } from './moved-range.ts';

/** A plan to show, with the place of its line in the present text. */
export interface ShownPlan {
  readonly analysis: PlanAnalysis;
  readonly anchor: TextRange;
}

export interface Shown {
  readonly plans: readonly ShownPlan[];
  /** Why the numbers are the last good ones; null when they belong to the present text. */
  readonly stale: string | null;
}

export const NOTHING_SHOWN: Shown = { plans: [], stale: null };

/** What stands behind a text that shows last good numbers. */
export const LAST_GOOD = '(last good)';

/** What to show for an analysis, after what was shown before (its anchors already moved along with the edits). */
export function nextShown(before: Shown, analysis: Analysis): Shown {
  const broken = brokenBy(analysis);
  if (broken === null || before.plans.length === 0) {
    return { plans: analysis.plans.map((plan) => ({ analysis: plan, anchor: plan.plan.anchor })), stale: null };
  }
  const plans = before.plans.map((shown) => {
    const now = analysis.plans.find((plan) => plan.plan.id === shown.analysis.plan.id);
    return now === undefined ? shown : { analysis: shown.analysis, anchor: now.plan.anchor };
  });
  return { plans, stale: broken };
}

/** What was shown, with its anchors where the edits of the document moved them. */
export function movedShown(shown: Shown, file: string, changes: readonly Replaced[]): Shown {
  const plans = shown.plans.map((plan) =>
    plan.anchor.file === file
      ? { ...plan, anchor: { ...plan.anchor, offset: movedOffset(plan.anchor.offset, changes) } }
      : plan,
  );
  return { ...shown, plans };
}

/** The problem that breaks the text; null for a sound text and for a file that is nobody's. */
function brokenBy(analysis: Analysis): string | null {
  if (analysis.reader === null) return null;
  const syntax = analysis.problems.find((problem) => problem.code === 'syntax-error');
  if (syntax !== undefined) return syntax.message;
  if (analysis.plans.length > 0) return null;
  return analysis.problems.find((problem) => problem.severity === 'error')?.message ?? null;
}
