/**
 * Live stage-microbatches over time, per rank, and their bytes where the costs know them. A forward holds one more from
 * its start on; a backward lets one go at its end. Where the backward is split, frameworks keep a microbatch's
 * activations until its weight gradient is done; with `freedAt` `I` they go with the input gradient already, as where
 * the weight gradient needs nothing of them, or recomputes it. Freed at `W`, a rank's largest value is its peak in the
 * report.
 */

import type { FreedAt, MemoryCurve, RankMemory } from '../model/memory-curve.ts';
import { KIND_CODES, type Timeline } from '../model/timeline.ts';

/** `activationBytes` is per global stage, as in the costs. */
export function memoryCurve(
  timeline: Timeline,
  activationBytes: readonly (number | null)[],
  freedAt: FreedAt = 'W',
): MemoryCurve {
  return {
    freedAt,
    ranks: Array.from({ length: timeline.pp }, (_, rank) => rankCurve(timeline, activationBytes, freedAt, rank)),
  };
}

function rankCurve(
  { rankStart, start, end, kind, stage }: Timeline,
  activationBytes: readonly (number | null)[],
  freedAt: FreedAt,
  rank: number,
): RankMemory {
  const time: number[] = [0];
  const live: number[] = [0];
  const bytes: number[] = [0];
  let isKnown = true;
  for (let i = rankStart[rank]!; i < rankStart[rank + 1]!; i++) {
    const isForward = kind[i] === KIND_CODES.F;
    if (!isForward && kind[i] !== KIND_CODES.B && kind[i] !== KIND_CODES[freedAt]) continue;
    const size = activationBytes[stage[i]!] ?? null;
    isKnown &&= size !== null;
    const sign = isForward ? 1 : -1;
    time.push(isForward ? start[i]! : end[i]!);
    live.push(live.at(-1)! + sign);
    bytes.push(bytes.at(-1)! + sign * (size ?? 0));
  }
  return { time, live, bytes: isKnown ? bytes : null };
}
