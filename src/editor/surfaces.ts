/**
 * What the hint, the lens and the hover have in common: the plans to show with their line, the words, and the mark on
 * numbers that are the last good ones. Free of the editor's types, so that the wording is tested without it.
 */

import type { CommandId } from '../model/commands.ts';
import { LAST_GOOD, type Shown, type ShownPlan } from './last-good.ts';

/** What a click runs: one of our commands, for the document and the plan that were clicked. */
export interface Click {
  readonly command: CommandId;
  readonly title: string;
}

/** Text with the mark of last good numbers where they are shown. */
export function marked(text: string, { stale }: Pick<Shown, 'stale'>): string {
  return stale === null ? text : `${text} ${LAST_GOOD}`;
}

/** What the editor shows of a hint by default; it cuts the rest off in the middle of a word. */
const HINT_LENGTH = 41;

/** The hint with its mark, without the parts at its end that the editor would cut off. */
export function fittedHint(hint: string, shown: Pick<Shown, 'stale'>): string {
  const parts = hint.split(' · ');
  while (parts.length > 1 && marked(parts.join(' · '), shown).length > HINT_LENGTH) parts.pop();
  return marked(parts.join(' · '), shown);
}

export function staleReason(reason: string): string {
  return `The text cannot be read at the moment: ${reason}`;
}

/** The lenses of a plan: its headline, and what is worth saying where something is missing. */
export function lensesOf({ analysis }: ShownPlan, shown: Shown): readonly Click[] {
  const { lens, lensAsk } = analysis.texts;
  const headline: Click = { command: 'bubblelens.showTimeline', title: marked(lens, shown) };
  if (lensAsk === null || shown.stale !== null || lensAsk.say !== 'cluster.gpus') return [headline];
  return [headline, { command: 'bubblelens.setGpuCount', title: lensAsk.title }];
}
