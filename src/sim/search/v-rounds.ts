/**
 * ZB-V by rounds: after a warm-up that never delays the first microbatch, every round gives each rank one input
 * gradient and one forward, along the V in the order in which they become possible; weight gradients fill the gaps
 * before them. A gap shorter than a weight gradient is filled only while the rank's bubble would otherwise become the
 * longest of all, and a second attempt knows the bubbles of the first. Follows the heuristic of
 * sail-sg/zero-bubble-pipeline-parallelism megatron/core/pipeline_parallel/zerobubble/scheduler/zbv.py at 39f2c186;
 * Qi et al., arXiv 2401.10241, section 6.
 */

import { BACKWARD_INPUT, BACKWARD_WEIGHT, FORWARD } from '../order.ts';
import type { Found, Problem } from './problem.ts';
import { arrivalOf, emptyRounds, foundBy, place, type Rounds } from './rounds.ts';

/** Whether a weight gradient overruns a short gap before a forward, and before an input gradient of the way down. */
interface Filling {
  readonly beforeForward: boolean;
  readonly beforeInput: boolean;
}

interface VRounds extends Rounds {
  readonly filling: Filling;
  /** Per rank: how much longer than its own the longest bubble of the attempt before was; null for a first one. */
  readonly allowance: Float64Array | null;
  /** Per rank: no input gradient in `ids` before this place still waits for its weight gradient. */
  readonly due: Int32Array;
  /** Per rank: whether this round's input gradient is of the way down. */
  readonly isDown: Uint8Array;
}

/** The best order that repeated attempts find, or null where the memory limit is too small for the rounds. */
export function scheduleVByRounds(problem: Problem, filling: Filling): Found | null {
  let best: Found | null = null;
  let allowance: Float64Array | null = null;
  for (let longest = Number.POSITIVE_INFINITY; ; ) {
    const rounds = attempt(problem, filling, allowance);
    if (rounds === null || rounds.longestBubble >= longest) return best;
    longest = rounds.longestBubble;
    best = foundBy(rounds);
    if (longest === 0) return best;
    allowance = rounds.bubble.map((own) => longest - own);
  }
}

function attempt(problem: Problem, filling: Filling, allowance: Float64Array | null): VRounds | null {
  const { pp, microbatches } = problem;
  const empty = emptyRounds(problem);
  const due = empty.cursor.slice();
  const rounds: VRounds = Object.assign(empty, { filling, allowance, due, isDown: new Uint8Array(pp) });
  warmUp(rounds);
  level(rounds);
  for (let round = 0; round < 2 * microbatches && !rounds.isStuck; round++) {
    inputRound(rounds);
    forwardRound(rounds);
  }
  for (let r = 0; r < pp && !rounds.isStuck; r++) while (dueWeight(rounds, r) >= 0) placeWeight(rounds, r);
  return rounds.isStuck ? null : rounds;
}

/**
 * The first microbatch goes all the way down and up. While a rank waits for it to come up, it takes further forwards
 * of the way down, with every rank above it, as far as time and memory allow.
 */
function warmUp(rounds: VRounds): void {
  const { problem, forwards, forwardEnd, clock, held } = rounds;
  const { pp, microbatches, memoryLimit, transfer, forward } = problem;
  for (let r = 0; r < pp; r++) place(rounds, r, FORWARD);
  for (let r = pp - 1; r >= 0 && !rounds.isStuck; r--) {
    const up = 2 * pp - 1 - r;
    const arrival = r === pp - 1 ? 0 : forwardEnd[(up - 1) * microbatches]! + transfer[up - 1]!;
    const fits = () => held[r]! + 2 * (r + 1) <= memoryLimit && clock[r]! + forward[r]! <= arrival;
    while (forwards[r]! < microbatches && fits() && !rounds.isStuck) {
      for (let above = 0; above <= r; above++) place(rounds, above, FORWARD);
    }
    place(rounds, up, FORWARD);
  }
}

/** Further forwards, alternating between the ways down and up, until no rank holds fewer than the rank before it. */
function level(rounds: VRounds): void {
  const { forwards, problem } = rounds;
  const { pp, microbatches } = problem;
  let isUp = false;
  for (let r = 1; r < pp; r++) {
    const up = (rank: number) => forwards[2 * pp - 1 - rank]!;
    const both = (rank: number) => forwards[rank]! + up(rank);
    while (!rounds.isStuck && (both(r) < both(r - 1) || (up(r) <= up(r - 1) && up(r - 1) < microbatches))) {
      for (let below = pp - 1; below >= r; below--) {
        const stage = isUp ? 2 * pp - 1 - below : below;
        if (forwards[stage]! < microbatches) place(rounds, stage, FORWARD);
      }
      isUp = !isUp;
    }
  }
}

/** One input gradient per rank: of the way down where the rank after has sent one, else of the way up. */
function inputRound(rounds: VRounds): void {
  const { problem, inputs, inputEnd, filling, isDown } = rounds;
  const { pp, microbatches } = problem;
  const takesDown = (r: number): boolean => {
    const down = inputs[r]!;
    const up = inputs[2 * pp - 1 - r]!;
    if (down >= up) return false;
    return r === pp - 1 || up >= microbatches || inputEnd[(r + 1) * microbatches + down]! >= 0;
  };
  for (let r = 0; r < pp; r++) isDown[r] = takesDown(r) ? 1 : 0;
  for (let r = pp - 1; r >= 0; r--) if (isDown[r] === 1) placeInput(rounds, r, true);
  for (let r = 0; r < pp; r++) if (isDown[r] === 0) placeInput(rounds, 2 * pp - 1 - r, filling.beforeInput);
}

function placeInput(rounds: VRounds, stage: number, overruns: boolean): void {
  fillGap(rounds, rounds.problem.rankOf[stage]!, arrivalOf(rounds, stage, BACKWARD_INPUT), overruns);
  place(rounds, stage, BACKWARD_INPUT);
}

/** One forward per rank: of the way up where one has arrived, else of the way down. */
function forwardRound(rounds: VRounds): void {
  const { problem, filling } = rounds;
  const { pp, memoryLimit } = problem;
  for (let r = 0; r < pp && !rounds.isStuck; r++) {
    const stage = nextForward(rounds, r);
    if (stage < 0) continue;
    while (rounds.held[r]! >= memoryLimit && !rounds.isStuck) placeWeight(rounds, r);
    fillGap(rounds, r, arrivalOf(rounds, stage, FORWARD), filling.beforeForward);
    place(rounds, stage, FORWARD);
  }
}

/** The stage whose forward a rank takes; -1 for none. */
function nextForward({ problem, forwards, forwardEnd }: VRounds, r: number): number {
  const { pp, microbatches } = problem;
  const up = 2 * pp - 1 - r;
  const downDone = forwards[r]!;
  const upDone = forwards[up]!;
  if (upDone >= microbatches) return -1;
  if (upDone >= downDone) return r;
  if (forwardEnd[(up - 1) * microbatches + upDone]! >= 0) return up;
  const hasNext = downDone < microbatches && (r === 0 || forwardEnd[(r - 1) * microbatches + downDone]! >= 0);
  return hasNext ? r : -1;
}

/** Weight gradients that fit before an arrival, and one that does not where the bubble may not grow. */
function fillGap(rounds: VRounds, rank: number, arrival: number, overruns: boolean): void {
  const { clock, bubble, allowance, problem } = rounds;
  let weight = dueWeight(rounds, rank);
  while (weight >= 0 && clock[rank]! + problem.backwardWeight[weight]! <= arrival) {
    placeWeight(rounds, rank);
    weight = dueWeight(rounds, rank);
  }
  if (weight < 0 || !overruns) return;
  const spare = Math.max(rounds.longestBubble, allowance === null ? 0 : allowance[rank]!) - bubble[rank]!;
  if (arrival - clock[rank]! > spare) placeWeight(rounds, rank);
}

function dueWeight({ ids, due, cursor, steps }: VRounds, rank: number): number {
  let at = due[rank]!;
  const end = cursor[rank]!;
  while (at < end && (ids[at]! & 3) !== BACKWARD_INPUT) at++;
  due[rank] = at;
  return at < end ? ids[at]! >> (2 + steps.microbatchBits) : -1;
}

function placeWeight(rounds: VRounds, rank: number): void {
  const stage = dueWeight(rounds, rank);
  if (stage < 0) rounds.isStuck = true;
  else {
    place(rounds, stage, BACKWARD_WEIGHT);
    rounds.due[rank]!++;
  }
}
