/**
 * Greedy list scheduling under a memory limit: time runs forward, and whenever a rank is free it takes, by a policy,
 * an input gradient or a forward that has arrived, a weight gradient to fill a gap, or it waits for the next arrival.
 *
 * It cannot deadlock. A stage's forward runs only while the rank's stages up to it hold less than the limit leaves
 * them when every later stage of the rank keeps one place. Take the oldest unfinished microbatch: on its next rank
 * the later stages hold nothing newer, what older ones hold is freed by weight gradients that can run at once, so its
 * own place is free.
 *
 * The idea of list scheduling with deferred weight gradients is that of Qi et al., arXiv 2401.10241, section 3.1.
 */

import { BACKWARD_INPUT, BACKWARD_WEIGHT, FORWARD, type IdSteps, idSteps } from '../order.ts';
import type { Found, Problem } from './problem.ts';

/** Which of a forward and an input gradient goes first when both have arrived. */
export type Turn = 'backward' | 'forward' | 'late-forward' | 'alternate';

export interface Policy {
  /** Per stage: microbatches between their forward and their input gradient; at least 1. */
  readonly inFlight: Int32Array;
  readonly turn: Turn;
  /** Among input gradients: the oldest microbatch first, else the later stage. */
  readonly oldestFirst: boolean;
  /** A weight gradient fills a gap of at least this share of its own time. */
  readonly gapShare: number;
  /** A weight gradient runs in any gap while a forward waits for room. */
  readonly clearsWhenBlocked: boolean;
  /** A weight gradient goes before an input gradient while the rank is full. */
  readonly clearsWhenFull: boolean;
}

interface Run {
  readonly problem: Problem;
  readonly policy: Policy;
  readonly steps: IdSteps;
  /** Per stage and microbatch: when what the action needs is there; infinite while that is not known. */
  readonly forwardAt: Float64Array;
  readonly inputAt: Float64Array;
  /** Per stage: how many are done. */
  readonly forwards: Int32Array;
  readonly inputs: Int32Array;
  readonly weights: Int32Array;
  /** Per rank. */
  readonly held: Int32Array;
  readonly lastKind: Int8Array;
  readonly isWaiting: Uint8Array;
  readonly firstStart: Float64Array;
  readonly lastEnd: Float64Array;
  readonly cursor: Int32Array;
  /** Per rank: list entries before this one hold no input gradient whose weight gradient is due. */
  readonly due: Int32Array;
  readonly ids: Int32Array;
  /** Per rank: when it decides next. `winner` is a tournament over it: the earliest rank is `winner[1]`. */
  readonly next: Float64Array;
  readonly winner: Int32Array;
}

const NOTHING = -1;

/** The order that a policy leads to. Linear in the actions, times the logarithm of the ranks. */
export function listSchedule(problem: Problem, policy: Policy): Found {
  const run = begin(problem, policy);
  const { winner, next, ids } = run;
  for (let left = ids.length; left > 0; ) {
    const rank = winner[1]!;
    const time = next[rank]!;
    const action = decide(run, rank, time);
    if (action === NOTHING) continue;
    start(run, rank, time, action >> 2, action & 3);
    left--;
  }
  let makespan = 0;
  let span = 0;
  for (let r = 0; r < problem.pp; r++) {
    makespan = Math.max(makespan, run.lastEnd[r]!);
    span = Math.max(span, run.lastEnd[r]! - Math.max(0, run.firstStart[r]!));
  }
  return { ids, makespan, span };
}

function begin(problem: Problem, policy: Policy): Run {
  const { pp, vpp, stages, microbatches } = problem;
  const cells = stages * microbatches;
  const forwardAt = new Float64Array(cells).fill(Number.POSITIVE_INFINITY);
  forwardAt.fill(0, 0, microbatches);
  const each = 3 * vpp * microbatches;
  const leaves = 2 ** Math.ceil(Math.log2(pp));
  const next = new Float64Array(leaves).fill(Number.POSITIVE_INFINITY);
  next.fill(0, 0, pp);
  const winner = new Int32Array(2 * leaves);
  for (let leaf = 0; leaf < leaves; leaf++) winner[leaves + leaf] = leaf;
  for (let node = leaves - 1; node > 0; node--) winner[node] = winner[2 * node]!;
  return {
    problem,
    policy,
    steps: idSteps(microbatches),
    forwardAt,
    inputAt: new Float64Array(cells).fill(Number.POSITIVE_INFINITY),
    forwards: new Int32Array(stages),
    inputs: new Int32Array(stages),
    weights: new Int32Array(stages),
    held: new Int32Array(pp),
    lastKind: new Int8Array(pp).fill(NOTHING),
    isWaiting: new Uint8Array(pp),
    firstStart: new Float64Array(pp).fill(NOTHING),
    lastEnd: new Float64Array(pp),
    cursor: Int32Array.from({ length: pp }, (_, r) => r * each),
    due: Int32Array.from({ length: pp }, (_, r) => r * each),
    ids: new Int32Array(pp * each),
    next,
    winner,
  };
}

/** What a free rank does at a time, as `stage * 4 + kind`; where it waits, its next decision is set. */
function decide(run: Run, rank: number, time: number): number {
  const { problem, policy, forwardAt, inputAt, forwards, inputs, weights } = run;
  const { vpp, microbatches, stageOf, memoryLimit } = problem;
  const first = rank * vpp;
  let forward = NOTHING;
  let input = NOTHING;
  let arrives = Number.POSITIVE_INFINITY;
  let lacksRoom = false;
  let heldSoFar = 0;
  for (let c = 0; c < vpp; c++) {
    const s = stageOf[first + c]!;
    const done = forwards[s]!;
    heldSoFar += done - weights[s]!;
    if (done < microbatches) {
      const at = forwardAt[s * microbatches + done]!;
      const fits = heldSoFar <= memoryLimit - vpp + c && run.held[rank]! < memoryLimit;
      const runs = fits && done - inputs[s]! < policy.inFlight[s]!;
      if (at <= time) {
        if (runs) forward = s;
        else lacksRoom = true;
      } else if (runs && at < arrives) arrives = at;
    }
    const back = inputs[s]!;
    if (back < microbatches) {
      const at = inputAt[s * microbatches + back]!;
      if (at <= time) {
        if (input < 0 || !policy.oldestFirst || back <= inputs[input]!) input = s;
      } else if (at < arrives) arrives = at;
    }
  }
  if (forward >= 0 && (input < 0 || forwardFirst(run, rank, forward))) return forward * 4 + FORWARD;
  if (input >= 0) {
    const clears = forward < 0 && policy.clearsWhenFull && run.held[rank]! >= memoryLimit;
    const weight = clears ? dueWeight(run, rank) : NOTHING;
    return weight >= 0 ? weight * 4 + BACKWARD_WEIGHT : input * 4 + BACKWARD_INPUT;
  }
  const weight = dueWeight(run, rank);
  if (weight >= 0) {
    const least = policy.gapShare * problem.backwardWeight[weight]!;
    if (arrives - time >= least || (policy.clearsWhenBlocked && lacksRoom)) return weight * 4 + BACKWARD_WEIGHT;
  }
  run.isWaiting[rank] = 1;
  decideAt(run, rank, arrives);
  return NOTHING;
}

function forwardFirst({ policy, lastKind, problem }: Run, rank: number, stage: number): boolean {
  switch (policy.turn) {
    case 'backward':
      return false;
    case 'forward':
      return true;
    case 'late-forward':
      return stage >= problem.pp;
    case 'alternate':
      return lastKind[rank] === BACKWARD_INPUT;
  }
}

/** The stage of the rank's oldest input gradient without its weight gradient. */
function dueWeight({ ids, due, cursor, steps }: Run, rank: number): number {
  let at = due[rank]!;
  const end = cursor[rank]!;
  while (at < end && (ids[at]! & 3) !== BACKWARD_INPUT) at++;
  due[rank] = at;
  return at < end ? ids[at]! >> (2 + steps.microbatchBits) : NOTHING;
}

function start(run: Run, rank: number, time: number, stage: number, kind: number): void {
  const { problem, steps, forwards, inputs, weights, forwardAt, inputAt } = run;
  const { stages, microbatches, rankOf, transfer } = problem;
  const counts = kind === FORWARD ? forwards : kind === BACKWARD_INPUT ? inputs : weights;
  const microbatch = counts[stage]!++;
  const cell = stage * microbatches + microbatch;
  run.ids[run.cursor[rank]!++] = stage * steps.stage + microbatch * steps.microbatch + kind;
  run.isWaiting[rank] = 0;
  if (run.firstStart[rank]! < 0) run.firstStart[rank] = time;
  let end = time;
  if (kind === FORWARD) {
    end += problem.forward[stage]!;
    run.held[rank]!++;
    if (stage + 1 === stages) inputAt[cell] = end;
    else {
      const arrival = end + transfer[stage]!;
      forwardAt[cell + microbatches] = arrival;
      wake(run, rankOf[stage + 1]!, arrival);
    }
  } else if (kind === BACKWARD_INPUT) {
    end += problem.backwardInput[stage]!;
    if (stage > 0) {
      const arrival = end + transfer[stage - 1]!;
      inputAt[cell - microbatches] = arrival;
      wake(run, rankOf[stage - 1]!, arrival);
    }
  } else {
    end += problem.backwardWeight[stage]!;
    run.held[rank]!--;
    run.due[rank]!++;
  }
  if (kind !== BACKWARD_WEIGHT) run.lastKind[rank] = kind;
  run.lastEnd[rank] = end;
  decideAt(run, rank, end);
}

/** A waiting rank looks again when something arrives. */
function wake(run: Run, rank: number, arrival: number): void {
  if (run.isWaiting[rank] === 1 && arrival < run.next[rank]!) decideAt(run, rank, arrival);
}

function decideAt({ next, winner }: Run, rank: number, time: number): void {
  next[rank] = time;
  for (let node = (next.length + rank) >> 1; node > 0; node >>= 1) {
    const left = winner[2 * node]!;
    const right = winner[2 * node + 1]!;
    winner[node] = next[left]! <= next[right]! ? left : right;
  }
}
