/**
 * The search for an order within a memory limit: a portfolio of greedy schedulers, the best result of which is kept.
 * Greedy schedules have anomalies (a faster stage can lead to a worse order), so that orders known beforehand and the
 * order found for equal times compete as well: for given times, a fixed order only gains from a faster stage. No
 * randomness, no clock: equal inputs give equal orders.
 *
 * A long run of microbatches is not searched at full length. The candidates run at twice as many microbatches as there
 * are ranks, the best third of them at three times as many, which tells their time per further microbatch, and the two
 * that promise most at full length.
 */

import { price } from '../ops.ts';
import type { Order, OrderSizes } from '../order.ts';
import { compile } from '../program.ts';
import { makeEnds, scanTiming } from '../scan.ts';
import type { OrderTimes } from '../schedules/row.ts';
import { listSchedule } from './list-schedule.ts';
import { scheduleLoopByRounds } from './loop-rounds.ts';
import { policiesFor } from './policies.ts';
import { type Found, heaviestWork, lowerBound, makeProblem, orderOf, type Problem } from './problem.ts';
import { scheduleVByRounds } from './v-rounds.ts';

/** Actions up to which every candidate runs at full length. */
const FULL_LENGTH_ACTIONS = 10_000;

const FINALISTS = 2;
/** A finalist that promises to be further behind the first does not run. */
const CLOSE = 0.01;
const EQUAL = 1e-9;

type Candidate = (problem: Problem) => Found | null;

interface Rated {
  readonly makespan: number;
  readonly span: number;
}

/**
 * The best order found for these times, with at most `memoryLimit` live stage-microbatches per rank (and at least one
 * per stage of a rank). `known` are orders within the limit that compete.
 */
export function searchOrder(
  sizes: OrderSizes,
  times: OrderTimes,
  memoryLimit: number,
  known: readonly (() => Order)[],
): Order {
  const problem = makeProblem(sizes, times, memoryLimit);
  const found = portfolio(problem);
  let best: Rated & { readonly order: () => Order } = { ...found, order: () => orderOf(problem, found) };
  if (isUnbeatable(problem, best)) return best.order();
  const equal = makeProblem(sizes, equalTimes(sizes), memoryLimit);
  const others = isEqual(times) ? known : [() => orderOf(equal, portfolio(equal)), ...known];
  for (const other of others) {
    const order = other();
    const rated = rate(order, times);
    if (isBetter(rated, best)) best = { ...rated, order: () => order };
  }
  return best.order();
}

/** The best of the greedy candidates. */
function portfolio(problem: Problem): Found {
  const { pp, stages, microbatches } = problem;
  const candidates = candidatesFor(problem);
  const isShort = 3 * stages * microbatches <= FULL_LENGTH_ACTIONS || microbatches <= 3 * pp;
  return bestOf(problem, isShort ? candidates : finalists(problem, candidates));
}

/** The rounds of a V need room for a whole one and find nothing with less. */
function candidatesFor(problem: Problem): readonly Candidate[] {
  const lists = policiesFor(problem).map(
    (policy): Candidate =>
      (at) =>
        listSchedule(at, policy),
  );
  const choices = [true, false];
  if (problem.vpp === 1) {
    const rounds = choices.flatMap((delaysFirst) =>
      choices.flatMap((givesWay) =>
        choices.map(
          (fillsSmallGaps): Candidate =>
            (at) =>
              scheduleLoopByRounds(at, { delaysFirst, givesWay, fillsSmallGaps }),
        ),
      ),
    );
    return [...lists, ...rounds];
  }
  if (problem.memoryLimit < 2 * problem.pp) return lists;
  const rounds = choices.flatMap((beforeInput) =>
    choices.map(
      (beforeForward): Candidate =>
        (at) =>
          scheduleVByRounds(at, { beforeForward, beforeInput }),
    ),
  );
  return [...rounds, ...lists];
}

interface Heat extends Rated {
  readonly candidate: Candidate;
}

/** The candidates that promise the shortest makespan at full length, from their time per further microbatch. */
function finalists(problem: Problem, candidates: readonly Candidate[]): readonly Candidate[] {
  const { pp, microbatches } = problem;
  const short = { ...problem, microbatches: 2 * pp };
  const longer = { ...problem, microbatches: 3 * pp };
  const busiest = heaviestWork(problem);
  const atFullLength = (before: number, after: number) =>
    after + (microbatches - longer.microbatches) * Math.max((after - before) / pp, busiest);
  const promises: Heat[] = [];
  for (const { candidate, makespan, span } of firstHeat(short, candidates)) {
    const found = candidate(longer);
    if (found === null) continue;
    if (isUnbeatable(longer, found)) return [candidate];
    promises.push({
      candidate,
      makespan: atFullLength(makespan, found.makespan),
      span: atFullLength(span, found.span),
    });
  }
  const best = ranked(promises).slice(0, FINALISTS);
  return best.filter(({ makespan }) => makespan <= best[0]!.makespan * (1 + CLOSE)).map(({ candidate }) => candidate);
}

/** The best third of the candidates, or the first that nothing beats. */
function firstHeat(short: Problem, candidates: readonly Candidate[]): readonly Heat[] {
  const heat: Heat[] = [];
  for (const candidate of candidates) {
    const found = candidate(short);
    if (found === null) continue;
    heat.push({ candidate, makespan: found.makespan, span: found.span });
    if (isUnbeatable(short, found)) return heat.slice(-1);
  }
  return ranked(heat).slice(0, Math.ceil(heat.length / 3));
}

/** The best first, and only one of those that come out equal: they did the same. */
function ranked(heat: readonly Heat[]): readonly Heat[] {
  const sorted = [...heat].sort((a, b) => a.makespan - b.makespan || a.span - b.span);
  return sorted.filter(
    (each, i) => i === 0 || each.makespan !== sorted[i - 1]!.makespan || each.span !== sorted[i - 1]!.span,
  );
}

function bestOf(problem: Problem, candidates: readonly Candidate[]): Found {
  let best: Found | null = null;
  for (const candidate of candidates) {
    const found = candidate(problem);
    if (found !== null && (best === null || isBetter(found, best))) best = found;
    if (best !== null && isUnbeatable(problem, best)) break;
  }
  return best ?? listSchedule(problem, policiesFor(problem)[0]!);
}

/** The shorter makespan, then the shorter span of a rank. */
function isBetter(a: Rated, b: Rated): boolean {
  if (Math.abs(a.makespan - b.makespan) > EQUAL * b.makespan) return a.makespan < b.makespan;
  return a.span < b.span - EQUAL * b.span;
}

function isUnbeatable(problem: Problem, { makespan, span }: Rated): boolean {
  if (makespan > lowerBound(problem) * (1 + EQUAL)) return false;
  return span <= heaviestWork(problem) * problem.microbatches * (1 + EQUAL);
}

/** An order at given times; infinite for one that deadlocks. */
function rate(order: Order, times: OrderTimes): Rated {
  const compiled = compile(order);
  if (!compiled.ok) return { makespan: Number.POSITIVE_INFINITY, span: Number.POSITIVE_INFINITY };
  const { program } = compiled;
  const timing = scanTiming(program, price(program.ops, times, 1), makeEnds(program));
  let span = 0;
  for (let r = 0; r < order.pp; r++) span = Math.max(span, timing.lastEnd[r]! - timing.firstStart[r]!);
  return { makespan: timing.makespan, span };
}

function equalTimes({ stages }: OrderSizes): OrderTimes {
  const ones = new Array<number>(stages).fill(1);
  return {
    forward: ones,
    backwardInput: ones,
    backwardWeight: ones,
    transfer: new Array<number>(Math.max(0, stages - 1)).fill(0),
  };
}

function isEqual({ forward, backwardInput, backwardWeight, transfer }: OrderTimes): boolean {
  const one = forward[0];
  const same = (times: readonly number[]) => times.every((time) => time === one);
  return same(forward) && same(backwardInput) && same(backwardWeight) && transfer.every((time) => time === 0);
}
