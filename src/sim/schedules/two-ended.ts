/**
 * The steps that DualPipe and DualPipeV share. A rank serves two phases: 0 is the one that reaches it first, 1 comes
 * back from the other end. `ends` ranks lie between the turn and the entry, `place` counts a rank's distance from
 * the entry. Mirrors the eight steps of deepseek-ai/DualPipe dualpipe/dualpipe.py and dualpipev.py at 3da1bbea.
 */

import { BACKWARD, BACKWARD_INPUT, BACKWARD_WEIGHT } from '../order.ts';

interface TwoEnded {
  readonly ends: number;
  readonly place: number;
  /** Microbatches per phase; at least 2 * ends. */
  readonly microbatches: number;
  /** Per phase, the id of its first forward on this rank. */
  readonly first: readonly [number, number];
  readonly microbatchStep: number;
}

type Phase = 0 | 1;

/** Writes one rank's list from `start` on; returns where it stopped. */
export function writeTwoEnded(ids: Int32Array, start: number, rank: TwoEnded): number {
  const list = listOf(ids, start, rank);
  const { place } = rank;
  const beyond = rank.ends - 1 - place;
  fill(list, place, beyond);
  const pairs = rank.microbatches - 2 * rank.ends + place + 1;
  for (let i = 0; i < pairs; i++) {
    if (i === 0 && beyond === 0) {
      // At the turn these two are not overlapped, which makes the bubble smaller.
      list.forward(0);
      list.backward(1);
    } else list.overlapped(0, 1);
    list.overlapped(1, 0);
  }
  drain(list, place, beyond);
  return list.end();
}

/** What stands before the overlapped pairs. */
function fill({ forward, input, weight }: List, place: number, beyond: number): void {
  for (let i = 0; i < 2 * beyond; i++) forward(0);
  for (let i = 0; i <= place; i++) {
    forward(0);
    forward(1);
  }
  for (let i = 0; i < beyond; i++) {
    input(1);
    weight();
    forward(1);
  }
}

/** What stands behind them. */
function drain({ backward, input, weight, overlapped }: List, place: number, beyond: number): void {
  for (let i = 0; i < beyond; i++) {
    backward(1);
    overlapped(1, 0);
  }
  // The second half of what is left splits its backwards, one phase before the other.
  const half = (place + 1) >> 1;
  for (let i = 0; i <= place; i++) {
    const splits = i > half || (i === half && place % 2 === 1);
    if (splits) input(1);
    else backward(1);
    if (i >= half) input(0);
    else backward(0);
  }
  for (let i = 0; i < beyond; i++) {
    weight();
    input(0);
  }
  for (let i = 0; i <= place; i++) weight();
}

/** A rank's list as it grows: each phase takes its microbatches in order, whatever the action. */
interface List {
  readonly forward: (phase: Phase) => void;
  readonly backward: (phase: Phase) => void;
  readonly input: (phase: Phase) => void;
  /** The oldest weight gradient that is left; nothing where none is. */
  readonly weight: () => void;
  readonly overlapped: (forwardPhase: Phase, backwardPhase: Phase) => void;
  readonly end: () => number;
}

function listOf(ids: Int32Array, start: number, { first, microbatchStep }: TwoEnded): List {
  const forwards: [number, number] = [first[0], first[1]];
  const backwards: [number, number] = [first[0], first[1]];
  const weights: number[] = [];
  let popped = 0;
  let at = start;
  const take = (counts: [number, number], phase: Phase) => {
    const id = counts[phase];
    counts[phase] += microbatchStep;
    return id;
  };
  return {
    forward: (phase) => {
      ids[at++] = take(forwards, phase);
    },
    backward: (phase) => {
      ids[at++] = take(backwards, phase) + BACKWARD;
    },
    input: (phase) => {
      const id = take(backwards, phase);
      ids[at++] = id + BACKWARD_INPUT;
      weights.push(id);
    },
    weight: () => {
      if (popped < weights.length) ids[at++] = weights[popped++]! + BACKWARD_WEIGHT;
    },
    overlapped: (forwardPhase, backwardPhase) => {
      ids[at++] = take(forwards, forwardPhase);
      ids[at++] = ~(take(backwards, backwardPhase) + BACKWARD);
    },
    end: () => at,
  };
}
