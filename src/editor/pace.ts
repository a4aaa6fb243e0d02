/**
 * How long to wait after a keystroke. A cheap analysis runs in the change event itself; a dear one waits until the
 * typing pauses, longer the dearer it is, so that the extension host stays free for everybody else.
 */

const FREE_MS = 5;
const SHORTEST_MS = 50;
const LONGEST_MS = 150;

/** The wait in ms after a change, from the time that the last analysis of the document took. */
export function delayMs(lastAnalysisMs: number): number {
  if (lastAnalysisMs <= FREE_MS) return 0;
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, 3 * lastAnalysisMs));
}
