/**
 * A program's nodes as noise meets them: what each takes where microbatches differ in length and ranks in speed, its
 * latency, and the key of its noise. Overlapped pairs are one action, with the noise of their first.
 */

import { noiseKey } from './noise.ts';
import type { Prices } from './ops.ts';
import type { Program } from './program.ts';
import type { Threads } from './threads.ts';

/** Fixed factors of durations; null where all are 1. */
export interface FixedFactors {
  /** Per rank: a straggler's is above 1. */
  readonly ranks: readonly number[] | null;
  /** Per microbatch: its length over the mean length. */
  readonly microbatches: readonly number[] | null;
}

export interface NoisyNodes {
  readonly threads: Threads;
  readonly key: Int32Array;
  readonly duration: Float64Array;
  readonly latency: Float64Array;
}

/** Prices on ranks of different speed. */
export function pricesByRank({ ops }: Program, prices: Prices, ranks: readonly number[] | null): Prices {
  if (ranks === null) return prices;
  return { ...prices, duration: prices.duration.map((time, op) => time * (ranks[ops.rank[op]!] ?? 1)) };
}

/** `prices` hold the ranks' speed already. */
export function noisyNodes(
  program: Program,
  threads: Threads,
  { duration, latency }: Prices,
  lengths: readonly number[] | null,
): NoisyNodes {
  const { order, ops, code } = program;
  const { ids, microbatchBits } = order;
  const mask = (1 << microbatchBits) - 1;
  const entry = order.rankStart.slice(0, order.pp);
  const noisy = {
    threads,
    key: new Int32Array(threads.nodes),
    duration: new Float64Array(threads.nodes),
    latency: new Float64Array(threads.nodes),
  };
  const length = (id: number) => lengths?.[(id >> 2) & mask] ?? 1;
  for (let k = 0; k < threads.nodes; k++) {
    const op = code[2 * k + 1]!;
    const i = entry[ops.rank[op]!]!++;
    const isPair = ids[i]! < 0;
    const first = isPair ? ids[i - 1]! : ids[i]!;
    noisy.key[k] = noiseKey(first >> (2 + microbatchBits), (first >> 2) & mask, first & 3);
    noisy.latency[k] = latency[op]!;
    noisy.duration[k] = duration[op]!;
    if (lengths === null) continue;
    if (!isPair) noisy.duration[k]! *= length(first);
    else
      noisy.duration[k]! *= pairLength(
        duration[ops.first[op]!]!,
        length(first),
        duration[ops.second[op]!]!,
        length(~ids[i]!),
      );
  }
  return noisy;
}

/** The mean of two lengths, weighed by the times that they lengthen. */
function pairLength(time: number, length: number, otherTime: number, otherLength: number): number {
  const total = time + otherTime;
  return total > 0 ? (time * length + otherTime * otherLength) / total : 1;
}

/** Makespan and busy time of all ranks together, without noise, in doubles. */
export function runOnce({ threads, duration, latency }: NoisyNodes): {
  readonly makespan: number;
  readonly busy: number;
} {
  const { nodes, slots, slotCount, last } = threads;
  const end = new Float64Array(slotCount);
  end[1] = Number.NEGATIVE_INFINITY;
  let busy = 0;
  for (let k = 0; k < nodes; k++) {
    const arrival = end[slots[3 * k]!]! + latency[k]!;
    const free = end[slots[3 * k + 1]!]!;
    end[slots[3 * k + 2]!] = Math.max(arrival, free) + duration[k]!;
    busy += duration[k]!;
  }
  let makespan = 0;
  for (const slot of last) makespan = Math.max(makespan, end[slot]!);
  return { makespan, busy };
}
