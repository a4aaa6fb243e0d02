/**
 * How long to wait after a keystroke. A cheap analysis runs in the change event itself; one that is felt runs at once
 * too as long as it takes at most half of the time; a dear one waits until the typing pauses, longer the dearer it is.
 * So the numbers follow the typing and the extension host stays free for everybody else.
 */

const FREE_MS = 5;
const QUICK_MS = 50;
const SHORTEST_MS = 50;
const LONGEST_MS = 150;
const REMEMBERED = 5;

/** The wait in ms after a change, from what an analysis of the document takes and how long ago the last one ended. */
export function delayMs(typicalMs: number, sinceLastMs: number): number {
  if (typicalMs <= FREE_MS) return 0;
  if (typicalMs <= QUICK_MS) return Math.max(0, typicalMs - sinceLastMs);
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, 3 * typicalMs));
}

/** The last few times together with a new one. */
export function remembered(times: readonly number[], timeMs: number): readonly number[] {
  return [...times, timeMs].slice(-REMEMBERED);
}

/** The median, so that one slow run on a busy machine does not slow down the next; 0 where nothing is known. */
export function typicalMs(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}
