/**
 * Costs: how long each action and transfer takes and how much memory a live stage-microbatch holds, per global stage.
 */

/** measured, trace, explicit (given in the file), estimated (hardware table), or relative (no unit of time). */
export type CostsBadge = 'measured' | 'trace' | 'explicit' | 'estimated' | 'relative';

export interface Costs {
  readonly badge: CostsBadge;
  /** `ms`, or `layer` where one unit is the forward time of one transformer layer. */
  readonly unit: 'ms' | 'layer';
  /** One sentence: what the times are made of, and what was left out because it is not known. */
  readonly how: string;
  /** Each of length pp * vpp, in global stage order, per microbatch. */
  readonly forward: readonly number[];
  readonly backwardInput: readonly number[];
  readonly backwardWeight: readonly number[];
  /**
   * Time of one transfer between stages s and s + 1, length pp * vpp - 1; nothing where both are on one rank. A
   * bidirectional pipeline has one entry per pair of neighbouring ranks, for both directions.
   */
  readonly transfer: readonly number[];
  /** Bytes held by one live microbatch of each stage; null where unknown. */
  readonly activationBytes: readonly (number | null)[];
}
