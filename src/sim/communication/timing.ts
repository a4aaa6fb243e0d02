/**
 * The timing of a linked program: one linear scan, as that of `scan.ts`, in which transfers are steps of their own. A
 * transfer starts when both sides have posted it (and, on streams, when the streams of both are free) and takes the
 * time of its edge. A wait is idle time; the transfer's own part of it is the time in which it was under way.
 */

import type { Timeline } from '../../model/timeline.ts';
import type { Prices } from '../ops.ts';
import type { Timer } from '../report.ts';
import type { Timing } from '../scan.ts';
import { timelineFrom } from '../timeline.ts';
import type { Linked } from './link.ts';
import { POST_RECEIVE, POST_SEND, RUN, sendOperation, TRANSFER, WAIT_AFTER_ALL, WAIT_RECEIVE } from './transfers.ts';

/** Starts and ends by list entry, and the rank that was waited for; of a pair, its second entry alone. */
interface Record {
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly waitedFor: Int32Array;
}

function linkedTiming(linked: Linked, prices: Prices, record: Record | null = null): Timing {
  const { code, streams, transfers } = linked;
  const { rank: rankOf } = transfers.program.ops;
  const { duration, latency } = prices;
  const { op: makerOp, useOp, runOp } = transfers;
  const scan = beginScan(linked);
  const { clock, stream, firstStart, lastEnd, time } = scan;
  for (let k = 0; k < code.length; k++) {
    const verb = code[k]! & 7;
    const entry = code[k]! >> 3;
    if (verb === RUN) {
      const op = runOp[entry]!;
      const on = rankOf[op]!;
      const start = clock[on]!;
      if (firstStart[on]! < 0) firstStart[on] = start;
      clock[on] = start + duration[op]!;
      lastEnd[on] = clock[on]!;
      if (record !== null) keep(record, scan, entry, on, start);
    } else if (verb === TRANSFER) {
      const from = rankOf[makerOp[entry]!]!;
      const to = rankOf[useOp[entry]!]!;
      let at = time[entry]!;
      if (streams) at = Math.max(at, stream[from]!, stream[to]!);
      at += latency[useOp[entry]!]!;
      time[entry] = at;
      stream[from] = at;
      stream[to] = at;
    } else if (verb === POST_SEND || verb === POST_RECEIVE) {
      const at = clock[rankOf[verb === POST_SEND ? makerOp[entry]! : useOp[entry]!]!]!;
      if (at > time[entry]!) time[entry] = at;
    } else wait(linked, scan, prices, verb, entry);
  }
  let makespan = 0;
  for (const end of lastEnd) if (end > makespan) makespan = end;
  const { stalled, stalledByTransfer } = scan;
  return { makespan, firstStart: firstStart.map((start) => Math.max(0, start)), lastEnd, stalled, stalledByTransfer };
}

/** What a scan goes by: columns per rank, per operation (the stalls) and per entry (`time`). */
interface Scan {
  readonly clock: Float64Array;
  /** Until when a rank's stream is taken. */
  readonly stream: Float64Array;
  /** Below 0 before a rank's first action. */
  readonly firstStart: Float64Array;
  readonly lastEnd: Float64Array;
  /** The rank last waited for; -1 where there is none since the last action. */
  readonly waited: Int32Array;
  readonly stalled: Float64Array;
  readonly stalledByTransfer: Float64Array;
  /** The later post of a transfer, then its arrival. */
  readonly time: Float64Array;
}

function beginScan({ transfers: { program } }: Linked): Scan {
  const { pp, ids } = program.order;
  return {
    clock: new Float64Array(pp),
    stream: new Float64Array(pp),
    firstStart: new Float64Array(pp).fill(-1),
    lastEnd: new Float64Array(pp),
    waited: new Int32Array(pp).fill(-1),
    stalled: new Float64Array(program.ops.count),
    stalledByTransfer: new Float64Array(program.ops.count),
    time: new Float64Array(ids.length),
  };
}

/** A rank stands until a transfer is done. The wait for a send is booked as one for the receiver. */
function wait({ transfers }: Linked, scan: Scan, { latency }: Prices, verb: number, entry: number): void {
  const op = verb === WAIT_RECEIVE ? transfers.useOp[entry]! : sendOperation(transfers.op[entry]!);
  const on = transfers.program.ops.rank[op]!;
  const idle = scan.time[entry]! - scan.clock[on]!;
  if (idle <= 0) return;
  scan.clock[on] = scan.time[entry]!;
  if (verb === WAIT_AFTER_ALL) return;
  scan.waited[on] = transfers.program.ops.source[op]!;
  if (scan.firstStart[on]! < 0) return;
  scan.stalled[op]! += idle;
  scan.stalledByTransfer[op]! += Math.min(idle, latency[op]!);
}

function keep(record: Record, { clock, waited }: Scan, entry: number, on: number, start: number): void {
  record.start[entry] = start;
  record.end[entry] = clock[on]!;
  record.waitedFor[entry] = waited[on]!;
  waited[on] = -1;
}

/** What times a report. */
export function linkedTimer(linked: Linked): Timer {
  return {
    timing: (prices) => linkedTiming(linked, prices),
    makespan: (prices) => linkedTiming(linked, prices).makespan,
    priced: (prices) => prices,
  };
}

export function linkedTimeline(linked: Linked, prices: Prices, unit: Timeline['unit']): Timeline {
  const { order } = linked.transfers.program;
  const record: Record = {
    start: new Float64Array(order.ids.length),
    end: new Float64Array(order.ids.length),
    waitedFor: new Int32Array(order.ids.length).fill(-1),
  };
  const { makespan } = linkedTiming(linked, prices, record);
  return timelineFrom(order, { makespan, ...record }, unit);
}
