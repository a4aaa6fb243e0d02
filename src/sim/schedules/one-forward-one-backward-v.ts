/**
 * 1F1B-V: whole backwards on a V, repeating one pattern of six slots, with two thirds of the activations of 1F1B. The
 * pattern is cut to the microbatches there are; then every action moves to an earlier free slot where its inputs and
 * the peak of live stage-microbatches allow. Mirrors sail-sg/zero-bubble-pipeline-parallelism
 * megatron/core/pipeline_parallel/zerobubble/scheduler/v1f1b.py at 39f2c186; Qi et al., Pipeline Parallelism with
 * Controllable Memory, arXiv 2405.15362.
 */

import { counted, grouped } from '../../model/counted.ts';
import { BACKWARD, FORWARD, idSteps } from '../order.ts';
import type { PipelineShape } from '../shape.ts';
import { forwardBackwardActions, noGroups, noSearch, twoStagesPerRank, vSizes } from './common.ts';
import type { ScheduleRow } from './row.ts';
import { orderFromLists } from './search.ts';

export const ONE_FORWARD_ONE_BACKWARD_V: ScheduleRow = {
  id: '1f1b-v',
  title: '1F1B-V',
  source: 'Qi et al., Pipeline Parallelism with Controllable Memory, arXiv 2405.15362',
  placement: 'v',
  virtualStages: 'two',
  splitsBackward: false,
  aliases: ['1f1b-v', '1f1bv', 'v1f1b'],
  refuse: twoStagesPerRank,
  tooLarge,
  defaultGroupSize: noGroups,
  actions: forwardBackwardActions,
  searches: noSearch,
  order: (shape) => orderFromLists(vSizes(shape), listsOf(shape)),
};

const PATTERN = 6;

/** Every rank has slots for the whole length of the pipeline, so they grow with the square of the ranks. */
const MAX_RANKS = 512;

/** An action may move by the length of the pipeline, so the work is the product of the two. */
const MAX_WORK = 5e8;

function tooLarge(shape: PipelineShape): string | null {
  const { pp } = shape;
  if (pp > MAX_RANKS) return `the slots of ${counted(pp, 'rank')} are too many to lay out (at most ${MAX_RANKS} ranks)`;
  const most = Math.floor(MAX_WORK / pp);
  const actions = forwardBackwardActions(shape);
  return actions > most
    ? `${counted(actions, 'action')} on ${counted(pp, 'rank')} are too many to lay out (at most ${grouped(most)})`
    : null;
}

/** Kinds of a slot: forwards down and up the V, gradients down and up, and the second slot that a gradient takes. */
const DOWN = 0;
const UP = 1;
const BACK_DOWN = 2;
const BACK_UP = 3;
const REST = 2;
const FREE = -1;

interface Slots {
  readonly pp: number;
  readonly microbatches: number;
  readonly length: number;
  /** [rank][slot]: the kind that stands there, or FREE. */
  readonly kind: readonly Int8Array[];
  /** [rank][slot]: live stage-microbatches after it. */
  readonly live: readonly Int32Array[];
  /** [rank][kind][microbatch]: its slot, once it is settled. */
  readonly slotOf: readonly (readonly Int32Array[])[];
  /** [rank][kind]: how many are settled. */
  readonly settled: readonly Int32Array[];
}

function listsOf(shape: PipelineShape): number[][] {
  const { pp, microbatches } = shape;
  if (microbatches === 0) return Array.from({ length: pp }, () => []);
  const slots = repeat(pp, microbatches);
  const peak = slots.live.reduce((most, live) => live.reduce((a, b) => Math.max(a, b), most), 0);
  for (let slot = 0; slot < slots.length; slot++) {
    for (let rank = 0; rank < pp; rank++) if (slots.kind[rank]![slot] !== FREE) settle(slots, rank, slot, peak);
  }
  const steps = idSteps(microbatches);
  return slots.kind.map((kinds, rank) => {
    const next = [0, 0, 0, 0];
    const list: number[] = [];
    for (const kind of kinds) {
      if (kind === FREE || kind > BACK_UP) continue;
      const stage = kind === DOWN || kind === BACK_UP ? rank : 2 * pp - 1 - rank;
      const action = kind === DOWN || kind === UP ? FORWARD : BACKWARD;
      list.push(stage * steps.stage + next[kind]!++ * steps.microbatch + action);
    }
    return list;
  });
}

/** Per rank, the slot within the pattern of each kind, gradients' second slots included. */
function pattern(pp: number): readonly (readonly number[])[] {
  const slots: number[][] = Array.from({ length: pp }, () => []);
  let now = 0;
  for (let r = 0; r < pp; r++) slots[r]![DOWN] = ++now;
  for (let r = pp - 1; r >= 0; r--) slots[r]![UP] = ++now;
  now += pp % 3 === 0 ? 4 : 1;
  let cycle = (3 - ((pp + 2) % 3)) % 3;
  const place = (r: number, kind: number) => {
    slots[r]![kind] = now;
    slots[r]![kind + REST] = now + 1;
    now += 2;
    if (++cycle === 3) {
      cycle = 0;
      now += 3;
    }
  };
  for (let r = 0; r < pp; r++) place(r, BACK_DOWN);
  for (let r = pp - 1; r >= 0; r--) place(r, BACK_UP);
  return slots.map((kinds) => kinds.map((slot) => slot % PATTERN));
}

/** The pattern, repeated once per microbatch from the first slots in which a microbatch can pass through. */
function repeat(pp: number, microbatches: number): Slots {
  const within = pattern(pp);
  const length = PATTERN * (4 * pp + microbatches + 1) + 2 * PATTERN * pp;
  const kind = Array.from({ length: pp }, () => new Int8Array(length).fill(FREE));
  const fill = (rank: number, which: number, first: number) => {
    for (let m = 0; m < microbatches; m++) kind[rank]![first + PATTERN * m] = which;
  };
  const from = (rank: number, which: number, slot: number) =>
    slot + ((((within[rank]![which]! - slot) % PATTERN) + PATTERN) % PATTERN);
  let slot = PATTERN;
  for (const which of [DOWN, UP, BACK_DOWN, BACK_UP]) {
    for (let i = 0; i < pp; i++) {
      const rank = which === DOWN || which === BACK_DOWN ? i : pp - 1 - i;
      const first = from(rank, which, slot);
      fill(rank, which, first);
      slot = first + 1;
      if (which >= BACK_DOWN) fill(rank, which + REST, from(rank, which + REST, slot));
    }
  }
  const live = kind.map((kinds) => {
    let count = 0;
    return Int32Array.from(kinds, (each) => {
      if (each === DOWN || each === UP) count++;
      else if (each > BACK_UP) count--;
      return count;
    });
  });
  const table = () => Array.from({ length: 6 }, () => new Int32Array(microbatches).fill(-1));
  const slotOf = kind.map(table);
  return { pp, microbatches, length, kind, live, slotOf, settled: kind.map(() => new Int32Array(6)) };
}

/** Moves what stands in a slot to the earliest free one after its inputs that does not lift the peak. */
function settle(slots: Slots, rank: number, slot: number, peak: number): void {
  const kinds = slots.kind[rank]!;
  const live = slots.live[rank]!;
  const which = kinds[slot]!;
  const microbatch = slots.settled[rank]![which]!++;
  let to = inputSlot(slots, rank, which, microbatch) + 1;
  if (which === DOWN || which === UP) {
    let lowest = slot;
    while (lowest > to && live[lowest - 1]! < peak) lowest--;
    to = lowest;
    while (to < slot && kinds[to] !== FREE) to++;
    for (let s = to; s < slot; s++) live[s]!++;
  } else {
    const roomAt = (s: number) => kinds[s] === FREE && (which > BACK_UP || kinds[s + 1] === FREE);
    while (to < slot && !roomAt(to)) to++;
    if (which > BACK_UP) for (let s = to; s < slot; s++) live[s]!--;
  }
  kinds[slot] = FREE;
  kinds[to] = which;
  slots.slotOf[rank]![which]![microbatch] = to;
}

/** The last slot that a microbatch waits for: its own before it, its neighbour's, and where the V turns, its own. */
function inputSlot({ pp, slotOf }: Slots, rank: number, which: number, microbatch: number): number {
  const at = (r: number, kind: number) => slotOf[r]![kind]![microbatch]!;
  const before = microbatch > 0 ? slotOf[rank]![which]![microbatch - 1]! : -1;
  const last = rank === pp - 1;
  const input = () => {
    switch (which) {
      case DOWN:
        return rank === 0 ? -1 : at(rank - 1, DOWN);
      case UP:
        return last ? at(rank, DOWN) : at(rank + 1, UP);
      case BACK_DOWN:
        return rank === 0 ? at(rank, UP) : at(rank - 1, BACK_DOWN + REST);
      case BACK_UP:
        return last ? at(rank, BACK_DOWN + REST) : at(rank + 1, BACK_UP + REST);
      default:
        return at(rank, which - REST);
    }
  };
  return Math.max(before, input());
}
