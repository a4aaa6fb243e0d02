/** The plain loop over 16 samples of noise: what stands in for the kernel, and what its results are held against. */

import { ROWS } from './noise.ts';
import type { NoisyNodes } from './noisy-nodes.ts';
import { NEVER_SLOT } from './threads.ts';
import { NOISY_LANES } from './wasm/lane-kernels.ts';
import type { NoisyScan } from './wasm/lanes.ts';

const SHIFT = 32 - Math.log2(ROWS);

/** In single floats throughout: sums are rounded as they are stored. */
export function plainNoisyScan({ threads, key, duration, latency }: NoisyNodes, rows: Float32Array): NoisyScan {
  const { slots, slotCount, last } = threads;
  const end = new Float32Array(NOISY_LANES * slotCount);
  end.fill(Number.NEGATIVE_INFINITY, NOISY_LANES * NEVER_SLOT, NOISY_LANES * (NEVER_SLOT + 1));
  const sums = new Float32Array(NOISY_LANES);
  const { fround } = Math;
  return {
    run: (from, to, multiplier, salt, busy) => {
      sums.fill(0);
      for (let k = from; k < to; k++) {
        const row = NOISY_LANES * (((Math.imul(key[k]!, multiplier) + salt) | 0) >>> SHIFT);
        const arrives = NOISY_LANES * slots[3 * k]!;
        const before = NOISY_LANES * slots[3 * k + 1]!;
        const own = NOISY_LANES * slots[3 * k + 2]!;
        const time = fround(duration[k]!);
        const under = fround(latency[k]!);
        for (let lane = 0; lane < NOISY_LANES; lane++) {
          const taken = fround(time * rows[row + lane]!);
          const arrival = fround(end[arrives + lane]! + under);
          const free = end[before + lane]!;
          end[own + lane] = fround(Math.max(arrival, free) + taken);
          sums[lane] = fround(sums[lane]! + taken);
        }
      }
      for (let lane = 0; lane < NOISY_LANES; lane++) busy[lane]! += sums[lane]!;
    },
    makespans: (into) => {
      into.fill(0);
      for (const slot of last) {
        for (let lane = 0; lane < NOISY_LANES; lane++) {
          into[lane] = Math.max(into[lane]!, end[NOISY_LANES * slot + lane]!);
        }
      }
    },
  };
}
