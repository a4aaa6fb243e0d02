/**
 * ZB-1p and ZB-2p by rounds: after a warm-up as long as time and memory allow, every round gives each rank that wants
 * one a forward, from the first rank to the last, and each rank an input gradient, back again; weight gradients fill
 * the gaps before them. For one stage per rank. Mirrors the heuristic of sail-sg/zero-bubble-pipeline-parallelism
 * megatron/core/pipeline_parallel/zerobubble/scheduler/zb.py (manual_order) at 39f2c186; Qi et al., arXiv 2401.10241,
 * section 3.1.
 */

import { BACKWARD_INPUT, BACKWARD_WEIGHT, FORWARD } from '../order.ts';
import type { Found, Problem } from './problem.ts';
import { arrivalOf, emptyRounds, foundBy, place, type Rounds } from './rounds.ts';

interface LoopChoices {
  /** Whether the first input gradient may wait for one more forward. */
  readonly delaysFirst: boolean;
  /** Whether a forward gives way when the next rank is about to send an input gradient. */
  readonly givesWay: boolean;
  /** Whether a weight gradient fills a gap that is shorter than it and would not lengthen the longest bubble. */
  readonly fillsSmallGaps: boolean;
}

interface LoopRounds extends Rounds {
  readonly choices: LoopChoices;
  /** Per rank: whether it wants a forward this round, and how many at the start. */
  readonly wanted: Int32Array;
}

/** null where the memory limit is too small for the rounds. */
export function scheduleLoopByRounds(problem: Problem, choices: LoopChoices): Found | null {
  const { pp, microbatches } = problem;
  const rounds: LoopRounds = Object.assign(emptyRounds(problem), { choices, wanted: new Int32Array(pp) });
  if (microbatches > 0) warmUp(rounds);
  for (let round = 1; round < microbatches && !rounds.isStuck; round++) {
    forwardRound(rounds);
    inputRound(rounds);
  }
  for (let r = 0; r < pp && !rounds.isStuck; r++) {
    while (rounds.weights[r]! < microbatches && !rounds.isStuck) place(rounds, r, BACKWARD_WEIGHT);
  }
  return rounds.isStuck ? null : foundBy(rounds);
}

/** The first forward everywhere, then as many more as fit before the first input gradient comes back, then that. */
function warmUp(rounds: LoopRounds): void {
  const { problem, choices, clock, wanted } = rounds;
  const { pp, microbatches, memoryLimit, forward, backwardInput, transfer } = problem;
  for (let r = 0; r < pp; r++) place(rounds, r, FORWARD);
  let back = clock[pp - 1]! + backwardInput[pp - 1]!;
  for (let r = pp - 2; r >= 0; r--) {
    const arrival = back + transfer[r]!;
    let time = clock[r]!;
    let more = 0;
    while (1 + more < Math.min(microbatches, memoryLimit)) {
      if (choices.delaysFirst ? time >= arrival : time + forward[r]! > arrival) break;
      time += forward[r]!;
      more++;
    }
    wanted[r] = more;
    back = Math.max(time, arrival) + backwardInput[r]!;
  }
  for (let r = 1; r < pp; r++) {
    if (1 + wanted[r - 1]! < microbatches) wanted[r] = Math.min(wanted[r]!, Math.max(0, wanted[r - 1]! - 1));
    else wanted[r] = Math.min(wanted[r]!, microbatches - 1);
  }
  for (let r = 0; r < pp; r++) for (let i = wanted[r]!; i > 0; i--) place(rounds, r, FORWARD);
  for (let r = pp - 1; r >= 0; r--) place(rounds, r, BACKWARD_INPUT);
}

/** One forward on every rank that wants one and whose next rank does too. */
function forwardRound(rounds: LoopRounds): void {
  const { problem, forwards, held, wanted } = rounds;
  const { pp, microbatches, memoryLimit } = problem;
  for (let r = pp - 1; r >= 0; r--) {
    const wants = forwards[r]! < microbatches && !givesWay(rounds, r);
    wanted[r] = wants && (r === pp - 1 || wanted[r + 1] === 1) ? 1 : 0;
  }
  for (let r = 0; r < pp && !rounds.isStuck; r++) {
    if (wanted[r] === 0) continue;
    while (held[r]! >= memoryLimit && !rounds.isStuck) place(rounds, r, BACKWARD_WEIGHT);
    fillGap(rounds, r, arrivalOf(rounds, r, FORWARD));
    place(rounds, r, FORWARD);
  }
}

/** Whether the next rank sends an input gradient before this rank's forward would be done. */
function givesWay(rounds: LoopRounds, r: number): boolean {
  const { problem, choices, forwards, inputs, weights, clock, bubble } = rounds;
  const { pp, memoryLimit, forward, backwardInput, backwardWeight, transfer } = problem;
  if (!choices.givesWay || r + 1 >= pp || forwards[r]! < forwards[r + 1]! + 2) return false;
  const back = clock[r + 1]! + forward[r + 1]! + backwardInput[r + 1]! + transfer[r]!;
  if (clock[r]! >= back) return true;
  const lacking = Math.max(0, forwards[r]! + 1 - weights[r]! - memoryLimit);
  const cleared = Math.min(lacking, inputs[r]! - weights[r]!) * backwardWeight[r]!;
  if (clock[r]! + forward[r]! + cleared <= back) return false;
  return back - clock[r]! <= rounds.longestBubble - bubble[r]!;
}

/** One input gradient per rank. */
function inputRound(rounds: LoopRounds): void {
  const { problem, forwards, inputs, weights } = rounds;
  for (let r = problem.pp - 1; r >= 0 && !rounds.isStuck; r--) {
    fillGap(rounds, r, arrivalOf(rounds, r, BACKWARD_INPUT));
    if (r === 0 && forwards[r] === problem.microbatches) {
      while (weights[r]! < inputs[r]! && !rounds.isStuck) place(rounds, r, BACKWARD_WEIGHT);
    }
    place(rounds, r, BACKWARD_INPUT);
  }
}

/** Weight gradients that fit before an arrival, and one that does not where the bubble may not grow. */
function fillGap(rounds: LoopRounds, r: number, arrival: number): void {
  const { problem, choices, inputs, weights, clock, bubble } = rounds;
  const isDue = () => weights[r]! < inputs[r]! && !rounds.isStuck;
  while (isDue() && clock[r]! + problem.backwardWeight[r]! <= arrival) place(rounds, r, BACKWARD_WEIGHT);
  if (!isDue() || clock[r]! >= arrival) return;
  const isHarmless = arrival - clock[r]! <= rounds.longestBubble - bubble[r]!;
  if (!isHarmless || choices.fillsSmallGaps) place(rounds, r, BACKWARD_WEIGHT);
}
