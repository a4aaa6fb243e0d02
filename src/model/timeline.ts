/**
 * A timeline: start and end of every action on every rank, as columns. Rank r owns the slice
 * `rankStart[r] .. rankStart[r + 1]`, in the order in which the rank runs it. The two actions of an overlapped pair stand
 * next to each other and share start and end.
 */

/** Codes of the `kind` column: F forward, I gradient of the input, W gradient of the weights, B both together. */
export const KIND_CODES = { F: 0, I: 1, W: 2, B: 3 } as const;
export const KIND_NAMES = ['F', 'I', 'W', 'B'] as const;

export interface Timeline {
  readonly pp: number;
  readonly makespan: number;
  readonly unit: 'ms' | 'layer';
  readonly rankStart: ArrayLike<number>;
  readonly start: ArrayLike<number>;
  readonly end: ArrayLike<number>;
  readonly kind: ArrayLike<number>;
  readonly stage: ArrayLike<number>;
  readonly microbatch: ArrayLike<number>;
  /** The rank whose result the action waited for when the rank stood idle before it; -1 where it did not wait. */
  readonly waitedFor: ArrayLike<number>;
}
