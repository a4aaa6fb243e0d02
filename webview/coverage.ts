/**
 * How much of any span of time each rank spends on what, exact at every zoom: running sums of busy time per kind,
 * sampled every few actions and walked in between. It is what the level of detail draws from: a pixel column is the
 * mix of what happens in it, so a bubble shows by its share however far one zooms out. Pure.
 *
 * A slot is a kind that occurs; where ranks hold several chunks it has a second sum, weighted by the chunk's tone,
 * so that the mean colour of a column is linear in the sums.
 */

import type { Timeline } from '../src/model/timeline.ts';
import { pairedWith } from './items.ts';

const STRIDE = 8;

export interface Coverage {
  readonly timeline: Timeline;
  /** Kind codes that occur, in the order of the slots. */
  readonly kinds: readonly number[];
  /** Sums per sample: one per kind, or two where there are chunks. */
  readonly width: number;
  readonly tones: boolean;
  /** Tone of an action, 0 for the first chunk to 1 for the last. */
  readonly toneOfStage: Float64Array;
  readonly slotOfKind: Int8Array;
  /** 1 for the actions of overlapped pairs, which share their time; null where there are none. */
  readonly paired: Uint8Array | null;
  /** First sample of each rank. */
  readonly sampleStart: Int32Array;
  readonly samples: Float64Array;
}

export function buildCoverage(timeline: Timeline, vpp: number): Coverage {
  const actions = timeline.start.length;
  const slotOfKind = new Int8Array(4).fill(-1);
  let stages = 0;
  for (let i = 0; i < actions; i++) {
    slotOfKind[timeline.kind[i]!] = 0;
    stages = Math.max(stages, timeline.stage[i]! + 1);
  }
  const kinds = [0, 1, 2, 3].filter((kind) => slotOfKind[kind] === 0);
  const tones = vpp > 1;
  kinds.forEach((kind, slot) => {
    slotOfKind[kind] = tones ? slot * 2 : slot;
  });
  const width = kinds.length * (tones ? 2 : 1);
  const toneOfStage = Float64Array.from({ length: stages }, (_, stage) =>
    tones ? Math.min(1, Math.floor(stage / timeline.pp) / (vpp - 1)) : 0,
  );
  const sampleStart = new Int32Array(timeline.pp + 1);
  for (let rank = 0; rank < timeline.pp; rank++) {
    const count = timeline.rankStart[rank + 1]! - timeline.rankStart[rank]!;
    sampleStart[rank + 1] = sampleStart[rank]! + Math.floor(count / STRIDE) + 1;
  }
  const samples = new Float64Array(sampleStart[timeline.pp]! * width);
  const paired = pairsOf(timeline);
  const coverage = { timeline, kinds, width, tones, toneOfStage, slotOfKind, paired, sampleStart, samples };
  const sums = new Float64Array(width);
  for (let rank = 0; rank < timeline.pp; rank++) {
    sums.fill(0);
    const first = timeline.rankStart[rank]!;
    const end = timeline.rankStart[rank + 1]!;
    for (let i = first; i <= end; i++) {
      if ((i - first) % STRIDE === 0) samples.set(sums, (sampleStart[rank]! + (i - first) / STRIDE) * width);
      if (i < end) add(coverage, sums, i, timeline.end[i]! - timeline.start[i]!);
    }
  }
  return coverage;
}

function pairsOf(timeline: Timeline): Uint8Array | null {
  const paired = new Uint8Array(timeline.start.length);
  let some = false;
  for (let rank = 0; rank < timeline.pp; rank++) {
    for (let i = timeline.rankStart[rank]! + 1; i < timeline.rankStart[rank + 1]!; i++) {
      if (timeline.start[i] !== timeline.start[i - 1] || pairedWith(timeline, rank, i) !== i - 1) continue;
      paired.fill(1, i - 1, i + 1);
      some = true;
    }
  }
  return some ? paired : null;
}

function add(coverage: Coverage, sums: Float64Array, index: number, duration: number): void {
  const { timeline, slotOfKind, tones, toneOfStage } = coverage;
  const slot = slotOfKind[timeline.kind[index]!]!;
  const time = coverage.paired?.[index] ? duration / 2 : duration;
  sums[slot]! += time;
  if (tones) sums[slot + 1]! += time * toneOfStage[timeline.stage[index]!]!;
}

/** Index of the first action at or after `low` that ends after `time`, by doubling steps and then halving. */
function seek(end: ArrayLike<number>, low: number, stop: number, time: number): number {
  let step = 1;
  let left = low;
  while (left + step < stop && end[left + step]! <= time) {
    left += step;
    step *= 2;
  }
  let right = Math.min(stop, left + step);
  while (left < right) {
    const middle = (left + right) >> 1;
    if (end[middle]! > time) right = middle;
    else left = middle + 1;
  }
  return left;
}

/**
 * Shares of each of `columns` equal columns of `from` to `to` on one rank, written to `out` row by row
 * (`columns` x `coverage.width`): per kind the share of the column's time, and that share weighted by tone.
 */
export function columnShares(
  coverage: Coverage,
  rank: number,
  from: number,
  to: number,
  columns: number,
  out: Float32Array,
): void {
  const { timeline, width, samples } = coverage;
  const { start, end } = timeline;
  const first = timeline.rankStart[rank]!;
  const stop = timeline.rankStart[rank + 1]!;
  const sampleBase = coverage.sampleStart[rank]!;
  const sums = new Float64Array(width);
  const now = new Float64Array(width);
  const before = new Float64Array(width);
  const columnTime = (to - from) / columns;
  let index = first;
  let reached = first;
  for (let column = 0; column <= columns; column++) {
    const time = from + column * columnTime;
    index = index < stop && end[index]! <= time ? seek(end, index, stop, time) : index;
    if (index - reached > STRIDE) {
      const sample = Math.floor((index - first) / STRIDE);
      const base = (sampleBase + sample) * width;
      for (let slot = 0; slot < width; slot++) sums[slot] = samples[base + slot]!;
      reached = first + sample * STRIDE;
    }
    for (; reached < index; reached++) add(coverage, sums, reached, end[reached]! - start[reached]!);
    now.set(sums);
    if (index < stop && start[index]! < time) {
      add(coverage, now, index, time - start[index]!);
      if (coverage.paired?.[index]) add(coverage, now, index + 1, time - start[index]!);
    }
    if (column > 0) {
      const base = (column - 1) * width;
      for (let slot = 0; slot < width; slot++) out[base + slot] = (now[slot]! - before[slot]!) / columnTime;
    }
    before.set(now);
  }
}

/** Busy share of a span, over all ranks. */
export function busyShare(coverage: Coverage, from: number, to: number): number {
  const out = new Float32Array(coverage.width);
  let busy = 0;
  for (let rank = 0; rank < coverage.timeline.pp; rank++) {
    columnShares(coverage, rank, from, to, 1, out);
    busy += sumOfKinds(coverage, out, 0);
  }
  return busy / coverage.timeline.pp;
}

/** Idle share of each of `columns` columns of the whole makespan, over all ranks: the minimap. */
export function idleProfile(coverage: Coverage, columns: number): Float32Array {
  const { timeline, width } = coverage;
  const idle = new Float32Array(columns).fill(1);
  const out = new Float32Array(columns * width);
  for (let rank = 0; rank < timeline.pp; rank++) {
    columnShares(coverage, rank, 0, timeline.makespan, columns, out);
    for (let column = 0; column < columns; column++) {
      idle[column]! -= sumOfKinds(coverage, out, column * width) / timeline.pp;
    }
  }
  return idle.map((share) => Math.min(1, Math.max(0, share)));
}

function sumOfKinds(coverage: Coverage, shares: Float32Array, base: number): number {
  let sum = 0;
  for (let slot = 0; slot < coverage.width; slot += coverage.tones ? 2 : 1) sum += shares[base + slot]!;
  return sum;
}
