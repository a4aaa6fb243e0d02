/**
 * ZB-1p and ZB-2p: the zero-bubble order that the authors' heuristic finds for given times within a memory limit of
 * pp or 2 pp live microbatches. Eight variants differ in three choices; the one with the shortest span of a rank
 * wins. Mirrors sail-sg/zero-bubble-pipeline-parallelism megatron/core/pipeline_parallel/zerobubble/scheduler/zb.py
 * (manual_order, initial_solution) at 39f2c186; Qi et al., arXiv 2401.10241.
 */

import { BACKWARD_INPUT, BACKWARD_WEIGHT, FORWARD, type IdSteps, idSteps, type Order } from '../order.ts';
import type { PipelineShape } from '../shape.ts';
import { loopSizes, noGroups, oneStagePerRank, splitBackwardActions } from './common.ts';
import type { OrderTimes, ScheduleRow } from './row.ts';
import { bestOf, type Candidate, limitOf, orderFromLists, transferInto } from './search.ts';

const SOURCE = 'Qi et al., Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 3';

export const ZB_1P: ScheduleRow = {
  id: 'zb-1p',
  title: 'ZB-1p',
  source: SOURCE,
  placement: 'loop',
  virtualStages: 'one',
  splitsBackward: true,
  aliases: ['zb-1p', 'zb1p'],
  refuse: oneStagePerRank,
  defaultGroupSize: noGroups,
  actions: splitBackwardActions,
  searches: () => true,
  order: (shape, times) => searched(shape, times, limitOf(shape, shape.pp)),
};

export const ZB_2P: ScheduleRow = {
  ...ZB_1P,
  id: 'zb-2p',
  title: 'ZB-2p',
  aliases: ['zb-2p', 'zb2p'],
  order: (shape, times) => searched(shape, times, limitOf(shape, 2 * shape.pp)),
};

interface Choices {
  /** Whether the first backward may wait for one more forward. */
  readonly lateFirstBackward: boolean;
  /** Whether a forward gives way when the next rank is about to send a backward. */
  readonly backwardFirst: boolean;
  /** Whether a weight gradient fills a gap that is shorter than it and would not lengthen the longest bubble. */
  readonly fillSmallGaps: boolean;
}

interface Rank {
  readonly list: number[];
  forwards: number;
  inputs: number;
  weights: number;
  /** End of the last action. */
  time: number;
  bubble: number;
  firstStart: number;
}

interface Search extends Choices {
  readonly pp: number;
  readonly microbatches: number;
  readonly limit: number;
  readonly times: OrderTimes;
  readonly steps: IdSteps;
  readonly ranks: readonly Rank[];
  /** Ends by rank and microbatch; -1 while not there. */
  readonly forwardEnd: Float64Array;
  readonly inputEnd: Float64Array;
  longestBubble: number;
  failed: boolean;
}

function searched(shape: PipelineShape, times: OrderTimes, limit: number): Order {
  const flags = [true, false];
  const candidates = flags.flatMap((lateFirstBackward) =>
    flags.flatMap((backwardFirst) =>
      flags.map((fillSmallGaps) => candidate(shape, times, limit, { lateFirstBackward, backwardFirst, fillSmallGaps })),
    ),
  );
  const best = bestOf(candidates);
  return orderFromLists(loopSizes(shape), best?.lists ?? limitedOneForwardOneBackward(shape, limit));
}

/** 1F1B with as much warm-up as the limit allows: an order for every limit from 1. */
function limitedOneForwardOneBackward({ pp, microbatches }: PipelineShape, limit: number): number[][] {
  const steps = idSteps(microbatches);
  return Array.from({ length: pp }, (_, rank) => {
    const warmUp = Math.min(microbatches, pp - 1 - rank, limit - 1);
    const id = (microbatch: number) => rank * steps.stage + microbatch * steps.microbatch;
    const list = Array.from({ length: warmUp }, (_, m) => id(m));
    for (let m = 0; m < microbatches; m++) {
      if (warmUp + m < microbatches) list.push(id(warmUp + m));
      list.push(id(m) + BACKWARD_INPUT, id(m) + BACKWARD_WEIGHT);
    }
    return list;
  });
}

function candidate(shape: PipelineShape, times: OrderTimes, limit: number, choices: Choices): Candidate | null {
  const { pp, microbatches } = shape;
  const search: Search = {
    ...choices,
    pp,
    microbatches,
    limit,
    times,
    steps: idSteps(microbatches),
    ranks: Array.from({ length: pp }, () => ({
      list: [],
      forwards: 0,
      inputs: 0,
      weights: 0,
      time: 0,
      bubble: 0,
      firstStart: 0,
    })),
    forwardEnd: new Float64Array(pp * microbatches).fill(-1),
    inputEnd: new Float64Array(pp * microbatches).fill(-1),
    longestBubble: 0,
    failed: false,
  };
  if (microbatches > 0) warmUp(search);
  for (let i = 1; i < microbatches && !search.failed; i++) {
    forwardsOf(search);
    backwardsOf(search);
  }
  if (search.failed) return null;
  for (let r = 0; r < pp; r++) while (search.ranks[r]!.weights < microbatches) put(search, r, BACKWARD_WEIGHT);
  const span = Math.max(...search.ranks.map((rank) => rank.time - rank.firstStart));
  return { lists: search.ranks.map((rank) => rank.list), span, makespan: Math.max(...search.ranks.map((r) => r.time)) };
}

/** When a rank's next forward or input gradient arrives; 0 where it comes from nowhere, NaN while it is not there. */
function arrival(search: Search, r: number, kind: number): number {
  const { pp, microbatches, times } = search;
  const isForward = kind === FORWARD;
  const from = isForward ? r - 1 : r + 1;
  if (from < 0 || from >= pp) return 0;
  const rank = search.ranks[r]!;
  const at = from * microbatches + (isForward ? rank.forwards : rank.inputs);
  const end = (isForward ? search.forwardEnd : search.inputEnd)[at]!;
  return end < 0 ? Number.NaN : end + transferInto(times, r, isForward);
}

function put(search: Search, r: number, kind: number): void {
  const { times, microbatches, steps } = search;
  const rank = search.ranks[r]!;
  const count = kind === FORWARD ? rank.forwards : kind === BACKWARD_INPUT ? rank.inputs : rank.weights;
  const ready = kind === BACKWARD_WEIGHT ? 0 : arrival(search, r, kind);
  if (Number.isNaN(ready) || count >= microbatches || (kind === BACKWARD_INPUT && count >= rank.forwards)) {
    search.failed = true;
    return;
  }
  const start = Math.max(rank.time, ready);
  if (rank.forwards > 0) {
    rank.bubble += start - rank.time;
    search.longestBubble = Math.max(search.longestBubble, rank.bubble);
  } else rank.firstStart = start;
  rank.list.push(r * steps.stage + count * steps.microbatch + kind);
  if (kind === FORWARD) {
    rank.time = start + times.forward[r]!;
    search.forwardEnd[r * microbatches + rank.forwards++] = rank.time;
  } else if (kind === BACKWARD_INPUT) {
    rank.time = start + times.backwardInput[r]!;
    search.inputEnd[r * microbatches + rank.inputs++] = rank.time;
  } else {
    rank.time = start + times.backwardWeight[r]!;
    rank.weights++;
  }
}

/** The first forward everywhere, then as many more as fit before the first backward comes back, then that. */
function warmUp(search: Search): void {
  const { pp, microbatches, times, limit, ranks } = search;
  for (let r = 0; r < pp; r++) put(search, r, FORWARD);
  const more = new Int32Array(pp);
  let back = ranks[pp - 1]!.time + times.backwardInput[pp - 1]!;
  for (let r = pp - 2; r >= 0; r--) {
    const ready = back + transferInto(times, r, false);
    let time = ranks[r]!.time;
    while (1 + more[r]! < microbatches && 1 + more[r]! < limit) {
      if (search.lateFirstBackward ? time + times.forward[r]! > ready : time >= ready) break;
      time += times.forward[r]!;
      more[r]!++;
    }
    back = Math.max(time, ready) + times.backwardInput[r]!;
  }
  for (let r = 1; r < pp; r++) {
    while (more[r]! > 0 && more[r]! >= more[r - 1]! && 1 + more[r]! < microbatches) more[r]!--;
  }
  for (let r = 0; r < pp; r++) for (let i = 0; i < more[r]!; i++) put(search, r, FORWARD);
  for (let r = pp - 1; r >= 0; r--) put(search, r, BACKWARD_INPUT);
}

/** One round of forwards, on the ranks that want one and whose next rank does too. */
function forwardsOf(search: Search): void {
  const { pp, ranks, limit, microbatches } = search;
  const wanted = ranks.map((rank, r) => rank.forwards < microbatches && !givesWay(search, r));
  for (let r = pp - 2; r >= 0; r--) wanted[r] = wanted[r]! && wanted[r + 1]!;
  for (let r = 0; r < pp && !search.failed; r++) {
    if (!wanted[r]) continue;
    const rank = ranks[r]!;
    while (rank.forwards - rank.weights >= limit && !search.failed) putWeight(search, r);
    if (r > 0) fillGap(search, r, arrival(search, r, FORWARD));
    put(search, r, FORWARD);
  }
}

/** Whether the next rank sends a backward before this rank's forward would be done. */
function givesWay(search: Search, r: number): boolean {
  const { pp, ranks, times, limit } = search;
  const rank = ranks[r]!;
  const next = ranks[r + 1];
  if (!search.backwardFirst || r + 1 >= pp || next === undefined || rank.forwards < next.forwards + 2) return false;
  const back = next.time + times.forward[r + 1]! + times.backwardInput[r + 1]! + transferInto(times, r, false);
  if (rank.time >= back) return true;
  const owed = Math.max(0, Math.min(rank.forwards + 1 - rank.weights - limit, rank.inputs - rank.weights));
  if (rank.time + times.forward[r]! + owed * times.backwardWeight[r]! <= back) return false;
  return back - rank.time <= search.longestBubble - rank.bubble;
}

/** One round of input gradients, from the last rank to the first. */
function backwardsOf(search: Search): void {
  const { pp, ranks, microbatches } = search;
  for (let r = pp - 1; r >= 0 && !search.failed; r--) {
    const rank = ranks[r]!;
    if (r + 1 < pp) fillGap(search, r, arrival(search, r, BACKWARD_INPUT));
    if (r === 0 && rank.forwards === microbatches) while (rank.weights < rank.inputs) put(search, r, BACKWARD_WEIGHT);
    put(search, r, BACKWARD_INPUT);
  }
}

/** Weight gradients until `ready`: all that fit, and one more where a gap would cost more than its overrun. */
function fillGap(search: Search, r: number, ready: number): void {
  const rank = search.ranks[r]!;
  const weight = search.times.backwardWeight[r]!;
  while (rank.weights < rank.inputs && rank.time + weight <= ready) put(search, r, BACKWARD_WEIGHT);
  if (rank.weights >= rank.inputs || !(rank.time < ready)) return;
  const harmless = ready - rank.time <= search.longestBubble - rank.bubble;
  if (!harmless || search.fillSmallGaps) put(search, r, BACKWARD_WEIGHT);
}

/** A weight gradient to make room; fails where none is pending. */
function putWeight(search: Search, r: number): void {
  const rank = search.ranks[r]!;
  if (rank.weights >= rank.inputs) search.failed = true;
  else put(search, r, BACKWARD_WEIGHT);
}
