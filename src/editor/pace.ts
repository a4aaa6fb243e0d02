/**
 * Where an analysis is made, and how long to wait for it after a keystroke. Small documents are analysed in the change
 * event itself, once the editor's thread has tried them out; everything else goes to the worker's thread, at once, or,
 * where it is dear, when the typing pauses, longer the dearer it is. Without a worker, one that is felt takes at most
 * half of the time. So the numbers follow the typing and the extension host stays free for everybody else.
 */

const FREE_MS = 5;
const QUICK_MS = 50;
const SHORTEST_MS = 50;
const LONGEST_MS = 150;
const REMEMBERED = 5;

/** What the last analysis of a document may have taken for the next one to be made in the editor's thread. */
export const HERE_MS_AT_MOST = 8;

/** What an analysis may take for the editor's thread to try it: there it is some times dearer at first. */
export const TRIAL_MS_AT_MOST = 3;

/** Which thread an analysis is made in: the editor's own, the worker's, or the editor's for want of a worker. */
export type Where = 'here' | 'worker' | 'no worker';

/** The wait in ms after a change, from what an analysis of the document takes and how long ago the last one ended. */
export function delayMs(typicalMs: number, sinceLastMs: number, where: Where): number {
  if (where === 'here' || typicalMs <= FREE_MS) return 0;
  if (typicalMs <= QUICK_MS) return where === 'worker' ? 0 : Math.max(0, typicalMs - sinceLastMs);
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
