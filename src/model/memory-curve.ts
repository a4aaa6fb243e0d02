/**
 * What every rank holds over time. A point is the state from its time on; points stand in the order of the rank's list,
 * and several can share a time.
 */

/** At what a live stage-microbatch is let go where the backward is split: at its input or its weight gradient. */
export type FreedAt = 'I' | 'W';

export interface RankMemory {
  readonly time: ArrayLike<number>;
  /** Live stage-microbatches. */
  readonly live: ArrayLike<number>;
  /** What they hold; null where the size of one of the rank's stages is unknown. */
  readonly bytes: ArrayLike<number> | null;
}

export interface MemoryCurve {
  readonly freedAt: FreedAt;
  readonly ranks: readonly RankMemory[];
}
