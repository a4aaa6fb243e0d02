/**
 * The timeline of a program at given prices, as columns rank after rank. The two actions of an overlapped pair share
 * start and end.
 */

import type { Timeline } from '../model/timeline.ts';
import type { Prices } from './ops.ts';
import type { Order } from './order.ts';
import type { Program } from './program.ts';

/** Starts are recorded as the scan computes them: an end less its duration is not exactly the start. */
export function timelineOf(program: Program, prices: Prices, unit: Timeline['unit']): Timeline {
  return timelineFrom(program.order, scanByRank(program, prices), unit);
}

/** The columns of times by list entry; the first entry of a pair takes over the times of the second. */
export function timelineFrom(order: Order, times: Times, unit: Timeline['unit']): Timeline {
  const { ids, microbatchBits, rankStart, pp } = order;
  const kind = new Uint8Array(ids.length);
  const stage = new Int32Array(ids.length);
  const microbatch = new Int32Array(ids.length);
  const mask = (1 << microbatchBits) - 1;
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i]! < 0 ? ~ids[i]! : ids[i]!;
    kind[i] = id & 3;
    stage[i] = id >> (2 + microbatchBits);
    microbatch[i] = (id >> 2) & mask;
    if (ids[i]! < 0) joinPair(times, i);
  }
  return { pp, unit, rankStart, ...times, kind, stage, microbatch };
}

export interface Times {
  readonly makespan: number;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly waitedFor: Int32Array;
}

/** The scan again, written by list entry: a rank's nodes come in the order of its list. */
function scanByRank({ order, ops, code }: Program, { duration, latency }: Prices): Times {
  const count = order.ids.length;
  const clock = new Float64Array(order.pp);
  const entry = order.rankStart.slice(0, order.pp);
  const ends = new Float64Array(count + 1);
  const start = new Float64Array(count);
  const end = new Float64Array(count);
  const waitedFor = new Int32Array(count).fill(-1);
  ends[count] = Number.NEGATIVE_INFINITY;
  let makespan = 0;
  for (let k = 0; k < count; k++) {
    const op = code[2 * k + 1]!;
    const rank = ops.rank[op]!;
    const i = entry[rank]!++;
    const arrival = ends[code[2 * k]!]! + latency[op]!;
    const free = clock[rank]!;
    if (arrival > free) waitedFor[i] = ops.source[op]!;
    start[i] = Math.max(arrival, free);
    end[i] = start[i]! + duration[op]!;
    ends[k] = end[i]!;
    clock[rank] = end[i]!;
    if (end[i]! > makespan) makespan = end[i]!;
  }
  return { makespan, start, end, waitedFor };
}

/** Entry `second` is the pair; the entry before it was its gate, and may have been what waited. */
function joinPair({ start, end, waitedFor }: Times, second: number): void {
  const first = second - 1;
  start[first] = start[second]!;
  end[first] = end[second]!;
  if (waitedFor[second] === -1) waitedFor[second] = waitedFor[first]!;
  else waitedFor[first] = waitedFor[second]!;
}
