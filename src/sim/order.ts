/**
 * The order of actions, per rank, as integers: what every schedule generates and the engine compiles. An action is
 * one Int32, stage and microbatch above its kind, so that the action it waits for is found by one addition. Two
 * actions that run as an overlapped pair stand next to each other, the second one complemented.
 */

import type { Placement } from '../model/schedule.ts';
import { KIND_CODES } from '../model/timeline.ts';

export const { F: FORWARD, I: BACKWARD_INPUT, W: BACKWARD_WEIGHT, B: BACKWARD } = KIND_CODES;

/** A wait for nothing: what the first stage's forward has in place of what it waits for. */
export const NOTHING = 0x7fffffff;

export interface Order {
  readonly pp: number;
  readonly stages: number;
  readonly microbatches: number;
  readonly placement: Placement;
  /** Bits that hold a microbatch within an id. */
  readonly microbatchBits: number;
  /** Action ids, rank after rank; `~id` is the second action of an overlapped pair. */
  readonly ids: Int32Array;
  /** Rank r owns `ids[rankStart[r] .. rankStart[r + 1])`; length pp + 1. */
  readonly rankStart: Int32Array;
}

/** What an id is made with: the steps from one stage, microbatch and kind to the next. */
export interface IdSteps {
  readonly microbatchBits: number;
  /** Added per stage. */
  readonly stage: number;
  /** Added per microbatch. */
  readonly microbatch: number;
}

/** Bits for microbatches 0 to `microbatches` - 1. */
function bitsFor(microbatches: number): number {
  return microbatches < 2 ? 0 : 32 - Math.clz32(microbatches - 1);
}

/** An id is `stage * steps.stage + microbatch * steps.microbatch + kind`. */
export function idSteps(microbatches: number): IdSteps {
  const microbatchBits = bitsFor(microbatches);
  return { microbatchBits, stage: 4 << microbatchBits, microbatch: 4 };
}

export interface OrderSizes {
  readonly pp: number;
  readonly stages: number;
  readonly microbatches: number;
  readonly placement: Placement;
}

/**
 * An order from a function that writes one rank's ids from `at` on and returns where it stopped. `capacity` is an
 * upper bound of all ids together.
 */
export function orderByRank(
  sizes: OrderSizes,
  capacity: number,
  writeRank: (ids: Int32Array, at: number, rank: number, steps: IdSteps) => number,
): Order {
  const steps = idSteps(sizes.microbatches);
  const ids = new Int32Array(capacity);
  const rankStart = new Int32Array(sizes.pp + 1);
  let at = 0;
  for (let rank = 0; rank < sizes.pp; rank++) {
    at = writeRank(ids, at, rank, steps);
    rankStart[rank + 1] = at;
  }
  return {
    ...sizes,
    microbatchBits: steps.microbatchBits,
    ids: at === capacity ? ids : ids.subarray(0, at),
    rankStart,
  };
}
