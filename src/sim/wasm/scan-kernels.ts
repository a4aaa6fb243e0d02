/**
 * The scans of `../scan.ts` as WebAssembly, operation for operation, so that every bit agrees. Tables lie where the
 * caller put them; addresses are in bytes. An operation's record is its duration and latency (f64) and where its
 * rank's record lies in `clocks` (i32); a rank's record is its clock and its first start (f64, -1 before it starts).
 */

import {
  branch,
  type Code,
  f64,
  i32,
  type Kernel,
  kernel,
  type Local,
  loop,
  select,
  sequence,
  when,
} from './assembler.ts';

export const OP_BYTES = 32;
export const LATENCY_AT = 8;
export const CLOCK_AT = 16;
export const RANK_BYTES = 16;
export const FIRST_AT = 8;
/** Per operation: idle time, and the part of it in which the result was under way. */
export const IDLE_BYTES = 16;
export const TRANSFER_AT = 8;

const NODE_BYTES = 8;
const END_BYTES = 8;

/** The nodes from `code` up to `stop`: their ends, and the ranks' clocks. */
export const SCAN: Kernel = kernel(
  'scan',
  ['i32', 'i32', 'i32', 'i32', 'i32'],
  null,
  ['i32', 'i32', 'i32', 'i32', 'f64', 'f64'],
  (code, stop, ops, clocks, end, op, on, last, at, time, arrival) => {
    const node = (n: number): Code =>
      sequence(
        op.set(recordOf(code, n, ops)),
        on.set(i32.add(clocks.get, i32.load(op.get, CLOCK_AT))),
        arrival.set(arrivalOf(code, n, op, end)),
        clockOf(on, last, time),
        time.set(select(arrival.get, time.get, f64.gt(arrival.get, time.get))),
        time.set(f64.add(time.get, f64.load(op.get))),
        f64.store(at.get, time.get, n * END_BYTES),
        f64.store(on.get, time.get),
      );
    return sequence(at.set(end.get), nodes(code, stop, at, node));
  },
);

/** The same with every rank's first start, and idle time by operation added up in `idles`. */
export const SCAN_IDLE: Kernel = kernel(
  'scanIdle',
  ['i32', 'i32', 'i32', 'i32', 'i32', 'i32'],
  null,
  ['i32', 'i32', 'i32', 'i32', 'f64', 'f64', 'f64', 'i32'],
  (code, stop, ops, clocks, end, idles, op, on, last, at, time, arrival, wait, idle) => {
    const node = (n: number): Code =>
      sequence(
        op.set(recordOf(code, n, ops)),
        on.set(i32.add(clocks.get, i32.load(op.get, CLOCK_AT))),
        arrival.set(arrivalOf(code, n, op, end)),
        clockOf(on, last, time),
        when(
          f64.gt(arrival.get, time.get),
          when(
            f64.ge(f64.load(on.get, FIRST_AT), f64.const(0)),
            idle.set(i32.add(idles.get, i32.shrU(i32.sub(op.get, ops.get), i32.const(1)))),
            wait.set(f64.sub(arrival.get, time.get)),
            addTo(idle, 0, wait.get),
            addTo(idle, TRANSFER_AT, f64.min(wait.get, f64.load(op.get, LATENCY_AT))),
          ),
          time.set(arrival.get),
        ),
        when(f64.lt(f64.load(on.get, FIRST_AT), f64.const(0)), f64.store(on.get, time.get, FIRST_AT)),
        time.set(f64.add(time.get, f64.load(op.get))),
        f64.store(at.get, time.get, n * END_BYTES),
        f64.store(on.get, time.get),
      );
    return sequence(at.set(end.get), nodes(code, stop, at, node));
  },
);

/** Every node from `code` up to `stop`, four at a turn: the loop itself costs as much as half a node. */
function nodes(code: Local, stop: Local, at: Local, node: (n: number) => Code): Code {
  const turn = (label: string, count: number) =>
    loop(
      label,
      when(
        i32.geS(i32.sub(stop.get, code.get), i32.const(count * NODE_BYTES)),
        ...Array.from({ length: count }, (_, n) => node(n)),
        at.set(i32.add(at.get, i32.const(count * END_BYTES))),
        code.set(i32.add(code.get, i32.const(count * NODE_BYTES))),
        branch(label),
      ),
    );
  return sequence(turn('four', 4), turn('one', 1));
}

/** The record of node n's operation. */
function recordOf(code: Local, n: number, ops: Local): Code {
  return i32.add(ops.get, i32.shl(i32.load(code.get, n * NODE_BYTES + 4), i32.const(Math.log2(OP_BYTES))));
}

/** When what node n waits for arrives. `end` holds the ends of all nodes, then that of nothing. */
function arrivalOf(code: Local, n: number, op: Local, end: Local): Code {
  const from = i32.add(end.get, i32.shl(i32.load(code.get, n * NODE_BYTES), i32.const(Math.log2(END_BYTES))));
  return f64.add(f64.load(from), f64.load(op.get, LATENCY_AT));
}

/** The clock of a node's rank: at hand while the rank stays the same, which spares a load that waits for a store. */
function clockOf(on: Local, last: Local, time: Local): Code {
  return when(i32.ne(on.get, last.get), time.set(f64.load(on.get)), last.set(on.get));
}

function addTo(pointer: Local, offset: number, value: Code): Code {
  return f64.store(pointer.get, f64.add(f64.load(pointer.get, offset), value), offset);
}
