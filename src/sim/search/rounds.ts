/**
 * What the searches by rounds share, whatever the placement: an order as it grows action by action, when the next action
 * of a stage can start, and how much the ranks have waited so far.
 */

import { BACKWARD_INPUT, BACKWARD_WEIGHT, FORWARD, type IdSteps, idSteps } from '../order.ts';
import type { Found, Problem } from './problem.ts';

export interface Rounds {
  readonly problem: Problem;
  readonly steps: IdSteps;
  /** Per stage and microbatch: the end of the action; -1 while it is not placed. */
  readonly forwardEnd: Float64Array;
  readonly inputEnd: Float64Array;
  /** Per stage: how many are placed. */
  readonly forwards: Int32Array;
  readonly inputs: Int32Array;
  readonly weights: Int32Array;
  /** Per rank. */
  readonly clock: Float64Array;
  readonly firstStart: Float64Array;
  /** Per rank: live stage-microbatches. */
  readonly held: Int32Array;
  readonly bubble: Float64Array;
  /** Per rank: where its next action goes in `ids`. */
  readonly cursor: Int32Array;
  readonly ids: Int32Array;
  longestBubble: number;
  /** Set where the limit leaves no way on. */
  isStuck: boolean;
}

/** Nothing is placed yet. A search assigns its own fields to it: on a spread copy it runs a third longer. */
export function emptyRounds(problem: Problem): Rounds {
  const { pp, vpp, stages, microbatches } = problem;
  const cells = stages * microbatches;
  const each = 3 * vpp * microbatches;
  return {
    problem,
    steps: idSteps(microbatches),
    forwardEnd: new Float64Array(cells).fill(-1),
    inputEnd: new Float64Array(cells).fill(-1),
    forwards: new Int32Array(stages),
    inputs: new Int32Array(stages),
    weights: new Int32Array(stages),
    clock: new Float64Array(pp),
    firstStart: new Float64Array(pp),
    held: new Int32Array(pp),
    bubble: new Float64Array(pp),
    cursor: Int32Array.from({ length: pp }, (_, r) => r * each),
    ids: new Int32Array(pp * each),
    longestBubble: 0,
    isStuck: false,
  };
}

/** When what the stage's next action needs is there; negative while that is not placed. */
export function arrivalOf(rounds: Rounds, stage: number, kind: number): number {
  const { problem, forwards, inputs, forwardEnd, inputEnd } = rounds;
  const { stages, microbatches, transfer } = problem;
  if (kind === FORWARD) {
    if (stage === 0) return 0;
    const end = forwardEnd[(stage - 1) * microbatches + forwards[stage]!]!;
    return end < 0 ? end : end + transfer[stage - 1]!;
  }
  if (stage === stages - 1) return forwardEnd[stage * microbatches + inputs[stage]!]!;
  const end = inputEnd[(stage + 1) * microbatches + inputs[stage]!]!;
  return end < 0 ? end : end + transfer[stage]!;
}

/** Appends the stage's next action of a kind to its rank's list, or leaves the rounds stuck where it cannot stand. */
export function place(rounds: Rounds, stage: number, kind: number): void {
  const { problem, forwards, inputs, weights, clock, held, bubble, steps } = rounds;
  const { microbatches, memoryLimit, rankOf } = problem;
  const rank = rankOf[stage]!;
  const counts = kind === FORWARD ? forwards : kind === BACKWARD_INPUT ? inputs : weights;
  const microbatch = counts[stage]!;
  const arrival = kind === BACKWARD_WEIGHT ? 0 : arrivalOf(rounds, stage, kind);
  const lacksRoom = kind === FORWARD && held[rank]! >= memoryLimit;
  const isEarly = kind === BACKWARD_WEIGHT && microbatch >= inputs[stage]!;
  if (rounds.isStuck || microbatch >= microbatches || arrival < 0 || lacksRoom || isEarly) {
    rounds.isStuck = true;
    return;
  }
  const start = Math.max(clock[rank]!, arrival);
  // A rank's first action is a forward of its first stage, which has the rank's own number.
  if (forwards[rank] === 0) rounds.firstStart[rank] = start;
  else {
    bubble[rank]! += start - clock[rank]!;
    rounds.longestBubble = Math.max(rounds.longestBubble, bubble[rank]!);
  }
  rounds.ids[rounds.cursor[rank]!++] = stage * steps.stage + microbatch * steps.microbatch + kind;
  counts[stage] = microbatch + 1;
  const cell = stage * microbatches + microbatch;
  if (kind === FORWARD) {
    held[rank]!++;
    clock[rank] = start + problem.forward[stage]!;
    rounds.forwardEnd[cell] = clock[rank]!;
  } else if (kind === BACKWARD_INPUT) {
    clock[rank] = start + problem.backwardInput[stage]!;
    rounds.inputEnd[cell] = clock[rank]!;
  } else {
    held[rank]!--;
    clock[rank] = start + problem.backwardWeight[stage]!;
  }
}

/** The order of rounds that placed every action. */
export function foundBy({ ids, clock, firstStart }: Rounds): Found {
  let makespan = 0;
  let span = 0;
  for (let r = 0; r < clock.length; r++) {
    makespan = Math.max(makespan, clock[r]!);
    span = Math.max(span, clock[r]! - firstStart[r]!);
  }
  return { ids, makespan, span };
}
