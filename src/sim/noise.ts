/**
 * What is random about a step: rows of lognormal factors, and which row an action of a sample takes. A row holds one
 * factor for each of 16 samples that run side by side; every lane's factors have mean 1 and the asked spread, so that few
 * rows are enough and no drawn table makes a step slower than another.
 */

import { BACKWARD, BACKWARD_INPUT } from './order.ts';
import { mixed, type Random } from './random.ts';
import { NOISY_LANES } from './wasm/lane-kernels.ts';

/** A power of two. With 16 lanes the rows take 256 KiB, which stay in the processor's second cache. */
export const ROWS = 4096;

/** Row after row, `NOISY_LANES` factors each. Every lane holds the same factors in an order of its own. */
export function factorRows(random: Random, sigma: number): Float32Array {
  const factors = lognormalFactors(random, sigma);
  const rows = new Float32Array(ROWS * NOISY_LANES);
  for (let lane = 0; lane < NOISY_LANES; lane++) {
    for (let row = ROWS - 1; row >= 0; row--) {
      const other = Math.floor(random.uniform() * (row + 1));
      const factor = factors[other]!;
      factors[other] = factors[row]!;
      factors[row] = factor;
      rows[row * NOISY_LANES + lane] = factor;
    }
  }
  return rows;
}

/**
 * exp(sigma * z - sigma² / 2), scaled to a mean of 1. Every z comes with -z, and their spread is scaled to 1, so that
 * the table has neither a drift nor a width of its own.
 */
function lognormalFactors(random: Random, sigma: number): Float64Array {
  const normals = new Float64Array(ROWS / 2).map(() => random.normal());
  const deviation = Math.sqrt(meanOf(normals.map((z) => z * z)));
  const factors = new Float64Array(ROWS);
  for (let i = 0; i < normals.length; i++) {
    const z = (sigma * normals[i]!) / deviation;
    factors[2 * i] = Math.exp(z - (sigma * sigma) / 2);
    factors[2 * i + 1] = Math.exp(-z - (sigma * sigma) / 2);
  }
  const mean = meanOf(factors);
  return factors.map((factor) => factor / mean);
}

/** A key of 32 bits for an action's noise. A whole backward meets that of its input gradient. */
export function noiseKey(stage: number, microbatch: number, kind: number): number {
  const part = kind === BACKWARD ? BACKWARD_INPUT : kind;
  return mixed(mixed(mixed(stage + 1) + microbatch) + part);
}

/** What a group of samples does to keys: the row of an action is the top bits of key * multiplier + salt. */
export interface GroupNoise {
  readonly multiplier: number;
  readonly salt: number;
}

export function groupNoise(random: Random): GroupNoise {
  return { multiplier: random.bits() | 1, salt: random.bits() };
}

function meanOf(values: Float64Array): number {
  let total = 0;
  for (const value of values) total += value;
  return total / values.length;
}
