/**
 * The lane kernels with their data in place: a program's threads, and prices or noise in lanes. Each answers exactly as
 * the plain loops beside their callers, or null where SIMD is missing or memory short. What a function here returns
 * holds the one memory, so it is to be done with before the next is asked for.
 */

import type { NoisyNodes } from '../noisy-nodes.ts';
import type { Prices } from '../ops.ts';
import type { Program } from '../program.ts';
import { NEVER_SLOT, type Threads } from '../threads.ts';
import {
  LANES_BYTES,
  NOISY_LANES,
  NOISY_LANES_SCAN,
  NOISY_NODE_BYTES,
  PRICED_LANES,
  PRICED_LANES_SCAN,
  PRICED_NODE_BYTES,
  PRICED_OP_BYTES,
} from './lane-kernels.ts';
import { type Machine, machineSource } from './machine.ts';

const source = machineSource([PRICED_LANES_SCAN, NOISY_LANES_SCAN]);

const NODES_AT = 64;

/** Makespans of up to 8 sets of prices at once. */
export type PricedScan = (batch: readonly Prices[]) => readonly number[];

export function pricedScan({ code, ops }: Program, threads: Threads): PricedScan | null {
  const { nodes, slots, last } = threads;
  const slotsAt = roundUp(NODES_AT + PRICED_NODE_BYTES * nodes);
  const opsAt = slotsAt + LANES_BYTES * threads.slotCount;
  const machine = source.reserve(opsAt + PRICED_OP_BYTES * ops.count);
  if (machine === null) return null;
  const { i32, f64 } = machine;
  for (let k = 0, at = NODES_AT >> 2; k < nodes; k++, at += PRICED_NODE_BYTES >> 2) {
    i32[at] = slotsAt + LANES_BYTES * slots[3 * k]!;
    i32[at + 1] = slotsAt + LANES_BYTES * slots[3 * k + 1]!;
    i32[at + 2] = slotsAt + LANES_BYTES * slots[3 * k + 2]!;
    i32[at + 3] = opsAt + PRICED_OP_BYTES * code[2 * k + 1]!;
  }
  const endAt = (slot: number) => (slotsAt + LANES_BYTES * slot) >> 3;
  f64.fill(0, endAt(0), endAt(NEVER_SLOT));
  f64.fill(Number.NEGATIVE_INFINITY, endAt(NEVER_SLOT), endAt(NEVER_SLOT + 1));
  return (batch) => {
    for (let op = 0, at = opsAt >> 3; op < ops.count; op++, at += PRICED_OP_BYTES >> 3) {
      for (let lane = 0; lane < batch.length; lane++) {
        f64[at + lane] = batch[lane]!.duration[op]!;
        f64[at + PRICED_LANES + lane] = batch[lane]!.latency[op]!;
      }
    }
    machine.call('scanPriced', NODES_AT, NODES_AT + PRICED_NODE_BYTES * nodes);
    return batch.map((_, lane) => {
      let makespan = 0;
      for (const slot of last) makespan = Math.max(makespan, f64[endAt(slot) + lane]!);
      return makespan;
    });
  };
}

/** Scans of 16 samples: `run` runs nodes from one to another and adds the lanes' busy time to `busy`. */
export interface NoisyScan {
  readonly run: (from: number, to: number, multiplier: number, salt: number, busy: Float64Array) => void;
  /** The makespan of every lane, when all nodes have run. */
  readonly makespans: (into: Float64Array) => void;
}

/** `rows` holds a power of two of rows of 16 factors. */
export function noisyScan(noisy: NoisyNodes, rows: Float32Array): NoisyScan | null {
  const { threads, key, duration, latency } = noisy;
  const { nodes, slots, slotCount, last } = threads;
  const rowsAt = roundUp(NODES_AT + NOISY_NODE_BYTES * nodes);
  const slotsAt = rowsAt + 4 * rows.length;
  const busyAt = slotsAt + LANES_BYTES * slotCount;
  const machine: Machine | null = source.reserve(busyAt + LANES_BYTES);
  if (machine === null) return null;
  const { i32, f32 } = machine;
  for (let k = 0, at = NODES_AT >> 2; k < nodes; k++, at += NOISY_NODE_BYTES >> 2) {
    i32[at] = slotsAt + LANES_BYTES * slots[3 * k]!;
    i32[at + 1] = slotsAt + LANES_BYTES * slots[3 * k + 1]!;
    i32[at + 2] = slotsAt + LANES_BYTES * slots[3 * k + 2]!;
    i32[at + 3] = key[k]!;
    f32[at + 4] = duration[k]!;
    f32[at + 5] = latency[k]!;
  }
  f32.set(rows, rowsAt >> 2);
  const endAt = (slot: number) => (slotsAt >> 2) + NOISY_LANES * slot;
  f32.fill(0, endAt(0), endAt(NEVER_SLOT));
  f32.fill(Number.NEGATIVE_INFINITY, endAt(NEVER_SLOT), endAt(NEVER_SLOT + 1));
  const shift = 32 - Math.log2(rows.length / NOISY_LANES);
  const at = (node: number) => NODES_AT + NOISY_NODE_BYTES * node;
  return {
    run: (from, to, multiplier, salt, busy) => {
      f32.fill(0, busyAt >> 2, (busyAt >> 2) + NOISY_LANES);
      machine.call('scanNoisy', at(from), at(to), rowsAt, shift, multiplier, salt, busyAt);
      for (let lane = 0; lane < NOISY_LANES; lane++) busy[lane]! += f32[(busyAt >> 2) + lane]!;
    },
    makespans: (into) => {
      into.fill(0);
      for (const slot of last) {
        for (let lane = 0; lane < NOISY_LANES; lane++) into[lane] = Math.max(into[lane]!, f32[endAt(slot) + lane]!);
      }
    },
  };
}

function roundUp(address: number): number {
  return Math.ceil(address / 64) * 64;
}
