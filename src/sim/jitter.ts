/**
 * How a step time varies: every action takes its time, times a factor drawn from a lognormal distribution of mean 1,
 * anew in every sample. Transfers do not vary. Microbatches of unequal length and slow ranks have fixed factors.
 * An action's factor depends on the seed, the sample, its stage, its microbatch and its kind alone, so that two
 * schedules, or a run with a straggler and one without, meet the same noise.
 *
 * Sixteen samples run side by side in single floats, which hold a makespan to about six digits; without any noise there
 * is one sample, in doubles, and it is the deterministic run.
 */

import type { Spread, Variation } from '../model/variation.ts';
import { factorRows, groupNoise } from './noise.ts';
import { type FixedFactors, type NoisyNodes, noisyNodes, pricesByRank, runOnce } from './noisy-nodes.ts';
import { plainNoisyScan } from './noisy-scan.ts';
import type { Prices } from './ops.ts';
import type { Program } from './program.ts';
import { randomFrom } from './random.ts';
import { bubbleOf, busyByRank } from './report.ts';
import { threadsOf } from './threads.ts';
import { NOISY_LANES } from './wasm/lane-kernels.ts';
import { type NoisyScan, noisyScan } from './wasm/lanes.ts';

export interface VariationOptions {
  /** Standard deviation of a factor's logarithm. */
  readonly sigma: number;
  readonly samples: number;
  readonly seed: number;
  readonly factors?: FixedFactors;
  /** Asked every few milliseconds; true ends the work. */
  readonly isCancelled?: () => boolean;
  /** How samples are run; by default the fastest way. */
  readonly scan?: (nodes: NoisyNodes, rows: Float32Array) => NoisyScan;
}

export const DEFAULT_SAMPLES = 1000;
export const MAX_SAMPLES = 1_000_000;

/** What single floats leave of a bubble that is none. */
const ROUNDING = 1e-6;
/** Nodes whose times are added up in single floats before they are added to doubles. */
const SUMMED_NODES = 1024;
/** Nodes between two questions whether to go on. */
const UNASKED_NODES = 64 * SUMMED_NODES;

const NO_FACTORS: FixedFactors = { ranks: null, microbatches: null };

/** null when cancelled. `prices` are those of the program's operations. */
export function variationOf(program: Program, prices: Prices, options: VariationOptions): Variation | null {
  const { sigma, samples, seed, factors = NO_FACTORS } = options;
  const ranked = pricesByRank(program, prices, factors.ranks);
  const nodes = noisyNodes(program, threadsOf(program), ranked, factors.microbatches);
  const { pp } = program.order;
  if (sigma === 0) {
    const { makespan, busy } = runOnce(nodes);
    const perRank = factors.microbatches === null ? busyByRank(program, ranked) : evenly(busy, pp);
    const same = (value: number): Spread => ({ p5: value, p50: value, p95: value, mean: value });
    return { samples, seed, makespan: same(makespan), bubbleFraction: same(bubbleOf(makespan, perRank)) };
  }
  const unit = unitOf(nodes);
  const drawn = draw(inUnits(nodes, unit), pp, options);
  if (drawn === null) return null;
  const { p5, p50, p95, mean } = spreadOf(drawn.makespans);
  const makespan = { p5: p5 * unit, p50: p50 * unit, p95: p95 * unit, mean: mean * unit };
  return { samples, seed, makespan, bubbleFraction: spreadOf(drawn.bubbles) };
}

/** Why a variation tells nothing, in one line: factors of ranks and microbatches can make any time too large. */
export function variationRefusal({ makespan }: Variation): string | null {
  const isSound = Object.values(makespan).every(Number.isFinite);
  return isSound ? null : 'the times of the varied run add up to more than a number can hold';
}

/** A power of two near the longest time, in which single floats hold times of any size; exact to divide by. */
function unitOf({ duration, latency }: NoisyNodes): number {
  let longest = 0;
  for (const time of duration) if (time > longest) longest = time;
  for (const time of latency) if (time > longest) longest = time;
  return longest > 0 && Number.isFinite(longest) ? 2 ** Math.floor(Math.log2(longest)) : 1;
}

function inUnits(nodes: NoisyNodes, unit: number): NoisyNodes {
  const measured = (times: Float64Array) => times.map((time) => time / unit);
  return { ...nodes, duration: measured(nodes.duration), latency: measured(nodes.latency) };
}

function draw(nodes: NoisyNodes, pp: number, options: VariationOptions) {
  const { sigma, samples, seed, isCancelled = () => false, scan = fastestScan } = options;
  const random = randomFrom(seed);
  const { run, makespans: readMakespans } = scan(nodes, factorRows(random, sigma));
  const count = nodes.threads.nodes;
  const makespans = new Float64Array(samples);
  const bubbles = new Float64Array(samples);
  const busy = new Float64Array(NOISY_LANES);
  const ends = new Float64Array(NOISY_LANES);
  let unasked = 0;
  for (let sample = 0; sample < samples; sample += NOISY_LANES) {
    const { multiplier, salt } = groupNoise(random);
    busy.fill(0);
    for (let from = 0; from < count; from += SUMMED_NODES) {
      unasked += SUMMED_NODES;
      if (unasked > UNASKED_NODES) {
        if (isCancelled()) return null;
        unasked = 0;
      }
      run(from, Math.min(from + SUMMED_NODES, count), multiplier, salt, busy);
    }
    readMakespans(ends);
    for (let lane = 0; lane < NOISY_LANES && sample + lane < samples; lane++) {
      makespans[sample + lane] = ends[lane]!;
      const bubble = ends[lane]! > 0 ? 1 - busy[lane]! / (pp * ends[lane]!) : 0;
      bubbles[sample + lane] = bubble < ROUNDING ? 0 : bubble;
    }
  }
  return { makespans, bubbles };
}

function fastestScan(nodes: NoisyNodes, rows: Float32Array): NoisyScan {
  return noisyScan(nodes, rows) ?? plainNoisyScan(nodes, rows);
}

function evenly(total: number, parts: number): Float64Array {
  return new Float64Array(parts).fill(total / parts);
}

/** Percentiles lie between samples, as far as they are apart. */
function spreadOf(values: Float64Array): Spread {
  const sorted = Float64Array.from(values).sort();
  let total = 0;
  for (const value of sorted) total += value;
  const at = (fraction: number) => {
    const place = fraction * (sorted.length - 1);
    const below = Math.floor(place);
    const value = sorted[below]!;
    return below === place ? value : value + (place - below) * (sorted[below + 1]! - value);
  };
  return { p5: at(0.05), p50: at(0.5), p95: at(0.95), mean: total / sorted.length };
}
