/**
 * The timeline of a program at given prices, as columns rank after rank. The two actions of an overlapped pair share
 * start and end.
 */

import type { Timeline } from '../model/timeline.ts';
import type { Prices } from './ops.ts';
import type { Program } from './program.ts';

/** Starts are recorded as the scan computes them: an end less its duration is not exactly the start. */
export function timelineOf(program: Program, prices: Prices, unit: Timeline['unit']): Timeline {
  const { order, ops, code } = program;
  const { ids, microbatchBits, rankStart, pp } = order;
  const { start, end, waited, makespan } = scanStarts(program, prices);
  const count = ids.length;
  const columns = {
    start: new Float64Array(count),
    end: new Float64Array(count),
    kind: new Uint8Array(count),
    stage: new Int32Array(count),
    microbatch: new Int32Array(count),
    waitedFor: new Int32Array(count),
  };
  const mask = (1 << microbatchBits) - 1;
  for (let i = 0; i < count; i++) {
    const id = ids[i]! < 0 ? ~ids[i]! : ids[i]!;
    const k = program.node[i]!;
    columns.start[i] = start[k]!;
    columns.end[i] = end[k]!;
    columns.kind[i] = id & 3;
    columns.stage[i] = id >> (2 + microbatchBits);
    columns.microbatch[i] = (id >> 2) & mask;
    // The node before a pair is its gate: the wait may have been there.
    const isPair = ids[i]! < 0 || (i + 1 < count && ids[i + 1]! < 0);
    const waiting = isPair && waited[k] === 0 ? k - 1 : k;
    columns.waitedFor[i] = waited[waiting] === 1 ? ops.source[code[2 * waiting + 1]!]! : -1;
  }
  return { pp, makespan, unit, rankStart, ...columns };
}

function scanStarts(program: Program, prices: Prices) {
  const { code } = program;
  const { rank } = program.ops;
  const count = program.order.ids.length;
  const clock = new Float64Array(program.order.pp);
  const start = new Float64Array(count);
  const end = new Float64Array(count + 1);
  const waited = new Uint8Array(count);
  end[count] = Number.NEGATIVE_INFINITY;
  let makespan = 0;
  for (let k = 0; k < count; k++) {
    const op = code[2 * k + 1]!;
    const on = rank[op]!;
    const arrival = end[code[2 * k]!]! + prices.latency[op]!;
    const free = clock[on]!;
    if (arrival > free) waited[k] = 1;
    start[k] = Math.max(arrival, free);
    end[k] = start[k]! + prices.duration[op]!;
    clock[on] = end[k]!;
    if (end[k]! > makespan) makespan = end[k]!;
  }
  return { start, end, waited, makespan };
}
