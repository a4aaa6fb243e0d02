/**
 * "Did you mean": the nearest known word to a misspelt one, by the edit distance in which swapped neighbours count
 * once (optimal string alignment), ignoring case, `-` and `_`.
 */

/** Longer words are not compared: nobody misspells by that much, and the cost is quadratic. */
const MAX_LENGTH = 64;

/** The candidate that was begun, else the nearest one that is near enough to be meant; null otherwise. */
export function suggest(written: string, candidates: readonly string[]): string | null {
  const wanted = normal(written);
  if (wanted.length === 0 || wanted.length > MAX_LENGTH) return null;
  const begun = candidates.find((candidate) => wanted.length > 2 && normal(candidate).startsWith(wanted));
  if (begun !== undefined) return begun;
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, normal(candidate));
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function normal(word: string): string {
  return word.toLowerCase().replace(/[-_\s]/g, '');
}

function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(previous[j]! + 1, current[j - 1]! + 1, previous[j - 1]! + change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, beforePrevious[j - 2]! + 1);
      current.push(best);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length]!;
}
