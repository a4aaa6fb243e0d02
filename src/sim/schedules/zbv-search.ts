/**
 * ZB-V as its authors search it: for given times and a memory limit (2 pp live stage-microbatches by default), four
 * variants of a greedy walk, each tried again with the bubbles of its first attempt allowed; the shortest longest
 * bubble wins. Mirrors sail-sg/zero-bubble-pipeline-parallelism
 * megatron/core/pipeline_parallel/zerobubble/scheduler/zbv.py (try_v_schedule, create_schedule) at 39f2c186; Qi et
 * al., arXiv 2401.10241, section 6.
 */

import { BACKWARD_INPUT, BACKWARD_WEIGHT, FORWARD, type IdSteps, idSteps, type Order } from '../order.ts';
import type { PipelineShape } from '../shape.ts';
import { vSizes } from './common.ts';
import type { OrderTimes } from './row.ts';
import { bestOf, type Candidate, limitOf, orderFromLists, transferInto } from './search.ts';
import { oneMicrobatchAtATime } from './v-sequential.ts';

/** The legs of a microbatch: forward down and up the V, gradients down and up again. Even legs come from rank - 1. */
type Leg = 0 | 1 | 2 | 3;

interface Choices {
  readonly fillBeforeForward: boolean;
  readonly fillBeforeBackward: boolean;
}

interface Rank {
  readonly list: number[];
  /** Per leg, how many microbatches are done. */
  readonly done: [number, number, number, number];
  /** Input gradients whose weight gradient is pending, as ids without kind, in order. */
  readonly pending: number[];
  popped: number;
  live: number;
  time: number;
  bubble: number;
}

interface Search extends Choices {
  readonly pp: number;
  readonly microbatches: number;
  readonly limit: number;
  readonly times: OrderTimes;
  readonly steps: IdSteps;
  readonly ranks: readonly Rank[];
  /** Ends by leg, rank and microbatch; -1 while not there. */
  readonly end: Float64Array;
  /** Bubbles per rank that an earlier attempt had, and the longest of them; null for the first attempt. */
  readonly allowed: readonly number[] | null;
  longestBubble: number;
  failed: boolean;
}

export function searchedZbvOrder(shape: PipelineShape, times: OrderTimes): Order {
  const limit = limitOf(shape, 2 * shape.pp);
  const flags = [true, false];
  const candidates = flags.flatMap((fillBeforeBackward) =>
    flags.map((fillBeforeForward) => attempt(shape, times, limit, { fillBeforeForward, fillBeforeBackward }, null)),
  );
  return orderFromLists(vSizes(shape), bestOf(candidates)?.lists ?? oneMicrobatchAtATime(shape));
}

/** The better of this attempt and, as long as that helps, of the next one that may waste as much on every rank. */
function attempt(
  shape: PipelineShape,
  times: OrderTimes,
  limit: number,
  choices: Choices,
  allowed: readonly number[] | null,
): Candidate | null {
  const search = begin(shape, times, limit, choices, allowed);
  if (shape.microbatches > 0) {
    firstForwards(search);
    fillWarmUp(search);
  }
  for (let round = 0; round < 2 * shape.microbatches && !search.failed; round++) {
    backwardRound(search);
    forwardRound(search);
  }
  if (search.failed) return null;
  search.ranks.forEach((rank, r) => {
    while (isPending(rank)) putWeight(search, r);
  });
  const span = search.longestBubble;
  const lists = search.ranks.map((rank) => rank.list);
  const found = { lists, span, makespan: Math.max(...search.ranks.map((rank) => rank.time)) };
  const before = allowed === null ? Number.POSITIVE_INFINITY : Math.max(...allowed);
  if (!(span < before)) return found;
  const next = attempt(
    shape,
    times,
    limit,
    choices,
    search.ranks.map((rank) => rank.bubble),
  );
  return next !== null && next.span < span ? next : found;
}

function begin(
  { pp, microbatches }: PipelineShape,
  times: OrderTimes,
  limit: number,
  choices: Choices,
  allowed: readonly number[] | null,
): Search {
  return {
    ...choices,
    pp,
    microbatches,
    limit,
    times,
    steps: idSteps(microbatches),
    ranks: Array.from({ length: pp }, () => ({
      list: [],
      done: [0, 0, 0, 0],
      pending: [],
      popped: 0,
      live: 0,
      time: 0,
      bubble: 0,
    })),
    end: new Float64Array(4 * pp * microbatches).fill(-1),
    allowed,
    longestBubble: 0,
    failed: false,
  };
}

function stageOf(pp: number, r: number, leg: Leg): number {
  return leg === 0 || leg === 3 ? r : 2 * pp - 1 - r;
}

function timeOf(search: Search, r: number, leg: Leg): number {
  const { times, pp } = search;
  return (leg < 2 ? times.forward : times.backwardInput)[stageOf(pp, r, leg)]!;
}

function weightTime(search: Search, r: number): number {
  const rank = search.ranks[r]!;
  return search.times.backwardWeight[Math.floor(rank.pending[rank.popped]! / search.steps.stage)]!;
}

/** End of a leg of a microbatch on a rank; -1 while it is not there. */
function endOf(search: Search, leg: Leg, r: number, microbatch: number): number {
  return microbatch < search.microbatches ? search.end[(leg * search.pp + r) * search.microbatches + microbatch]! : -1;
}

/** When a rank's next microbatch on a leg arrives; -1 where it comes from no other rank or is not there. */
function arrival(search: Search, r: number, leg: Leg): number {
  const from = leg % 2 === 0 ? r - 1 : r + 1;
  if (from < 0 || from >= search.pp) return -1;
  const end = endOf(search, leg, from, search.ranks[r]!.done[leg]);
  return end < 0 ? -1 : end + transferInto(search.times, stageOf(search.pp, r, leg), leg < 2);
}

function isPending(rank: Rank): boolean {
  return rank.popped < rank.pending.length;
}

function put(search: Search, r: number, leg: Leg): void {
  const { pp, microbatches, steps } = search;
  const rank = search.ranks[r]!;
  const microbatch = rank.done[leg];
  const hasNeighbour = leg % 2 === 0 ? r > 0 : r + 1 < pp;
  const ready = arrival(search, r, leg);
  const ownIsThere = leg === 0 || endOf(search, (leg - 1) as Leg, r, microbatch) >= 0;
  if (
    microbatch >= microbatches ||
    !ownIsThere ||
    (hasNeighbour && ready < 0) ||
    (leg < 2 && rank.live >= search.limit)
  ) {
    search.failed = true;
    return;
  }
  const start = Math.max(rank.time, ready);
  if (rank.done[0] > 0) {
    rank.bubble += start - rank.time;
    search.longestBubble = Math.max(search.longestBubble, rank.bubble);
  }
  rank.time = start + timeOf(search, r, leg);
  search.end[(leg * pp + r) * microbatches + microbatch] = rank.time;
  const id = stageOf(pp, r, leg) * steps.stage + microbatch * steps.microbatch;
  rank.list.push(id + (leg < 2 ? FORWARD : BACKWARD_INPUT));
  if (leg < 2) rank.live++;
  else rank.pending.push(id);
  rank.done[leg]++;
}

/** The oldest pending weight gradient; fails where none is pending. */
function putWeight(search: Search, r: number): void {
  const rank = search.ranks[r]!;
  if (!isPending(rank)) {
    search.failed = true;
    return;
  }
  rank.time += weightTime(search, r);
  rank.list.push(rank.pending[rank.popped++]! + BACKWARD_WEIGHT);
  rank.live--;
}

/** The first microbatch down and up the V, with forwards beside it that fit before its return. */
function firstForwards(search: Search): void {
  const { pp, ranks, limit, microbatches } = search;
  for (let r = 0; r < pp; r++) put(search, r, 0);
  for (let r = pp - 1; r >= 0 && !search.failed; r--) {
    const rank = ranks[r]!;
    if (r < pp - 1) {
      const back = arrival(search, r, 1);
      const fits = () => rank.live + 2 * (r + 1) <= limit && rank.time + timeOf(search, r, 0) <= back;
      while (rank.done[0] < microbatches && fits() && !search.failed) for (let j = 0; j <= r; j++) put(search, j, 0);
    }
    put(search, r, 1);
  }
}

/** Forwards of both halves in turn, until every rank has as many as the rank before. */
function fillWarmUp(search: Search): void {
  const { pp, ranks, microbatches } = search;
  let leg: 0 | 1 = 0;
  for (let r = 1; r < pp; r++) {
    const own = ranks[r]!.done;
    const before = ranks[r - 1]!.done;
    const lacks = () => own[0] + own[1] < before[0] + before[1] || (own[1] <= before[1] && before[1] < microbatches);
    while (lacks() && !search.failed) {
      for (let j = pp - 1; j >= r; j--) if (ranks[j]!.done[leg] < microbatches) put(search, j, leg);
      leg = leg === 0 ? 1 : 0;
    }
  }
}

/** One input gradient on every rank: those that come up the V first, last rank first; then those that go down. */
function backwardRound(search: Search): void {
  const { pp, ranks, microbatches } = search;
  const up: number[] = [];
  const down: number[] = [];
  ranks.forEach(({ done }, r) => {
    const comesUp =
      done[3] < done[2] && (r === pp - 1 || done[2] >= microbatches || endOf(search, 3, r + 1, done[3]) >= 0);
    (comesUp ? up : down).push(r);
  });
  for (const [r, leg] of [...up.reverse().map((r) => [r, 3] as const), ...down.map((r) => [r, 2] as const)]) {
    if (search.failed) return;
    fillGap(search, r, leg, leg === 3 || search.fillBeforeBackward);
    put(search, r, leg);
  }
}

/** At most one forward on every rank. */
function forwardRound(search: Search): void {
  const { pp, ranks, limit, microbatches } = search;
  for (let r = 0; r < pp && !search.failed; r++) {
    const rank = ranks[r]!;
    if (rank.done[1] >= microbatches) continue;
    const leg = nextForward(search, r);
    if (leg === null) continue;
    while (rank.live >= limit && !search.failed) putWeight(search, r);
    fillGap(search, r, leg, search.fillBeforeForward);
    put(search, r, leg);
  }
}

function nextForward(search: Search, r: number): 0 | 1 | null {
  const { done } = search.ranks[r]!;
  if (done[1] >= done[0]) return 0;
  if (r === search.pp - 1 || endOf(search, 1, r + 1, done[1]) >= 0) return 1;
  if (done[0] >= search.microbatches) return null;
  return r === 0 || endOf(search, 0, r - 1, done[0]) >= 0 ? 0 : null;
}

/** Weight gradients that fit before the arrival, and one more where the gap is too long to leave it. */
function fillGap(search: Search, r: number, leg: Leg, mayOverrun: boolean): void {
  const rank = search.ranks[r]!;
  const ready = arrival(search, r, leg);
  if (ready < 0) return;
  while (isPending(rank) && ready >= rank.time + weightTime(search, r)) putWeight(search, r);
  if (!isPending(rank) || !mayOverrun) return;
  const { allowed } = search;
  const spare = allowed === null ? 0 : Math.max(...allowed) - allowed[r]!;
  if (ready - rank.time > Math.max(search.longestBubble, spare) - rank.bubble) putWeight(search, r);
}
