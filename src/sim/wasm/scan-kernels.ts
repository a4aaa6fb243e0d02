/**
 * The scans of `../scan.ts` as WebAssembly, operation for operation, so that every bit agrees. Tables lie where the
 * caller put them; addresses are in bytes. The record of an operation is 32 bytes: its duration and latency, and
 * 8 times its rank. The entry that stands for "waits for nothing" is the last of `end`.
 */

import { block, branch, branchIf, f64, i32, type Kernel, kernel, loop, select, sequence, when } from './assembler.ts';

export const OP_RECORD_BYTES = 32;
export const LATENCY_AT = 8;
export const CLOCK_AT = 16;

/** The ends of all nodes, and in `clock` the last end of every rank. */
export const SCAN: Kernel = kernel(
  'scan',
  ['i32', 'i32', 'i32', 'i32', 'i32'],
  null,
  ['i32', 'i32', 'i32', 'i32', 'f64', 'f64'],
  (code, nodes, ops, clock, end, stop, op, on, at, time, arrival) =>
    sequence(
      stop.set(i32.add(code.get, i32.shl(nodes.get, i32.const(3)))),
      at.set(end.get),
      block(
        'done',
        loop(
          'node',
          branchIf('done', i32.eq(code.get, stop.get)),
          op.set(i32.add(ops.get, i32.shl(i32.load(code.get, 4), i32.const(5)))),
          on.set(i32.add(clock.get, i32.load(op.get, CLOCK_AT))),
          time.set(f64.load(on.get)),
          arrival.set(
            f64.add(
              f64.load(i32.add(end.get, i32.shl(i32.load(code.get), i32.const(3)))),
              f64.load(op.get, LATENCY_AT),
            ),
          ),
          time.set(select(arrival.get, time.get, f64.gt(arrival.get, time.get))),
          time.set(f64.add(time.get, f64.load(op.get))),
          f64.store(at.get, time.get),
          f64.store(on.get, time.get),
          at.set(i32.add(at.get, i32.const(8))),
          code.set(i32.add(code.get, i32.const(8))),
          branch('node'),
        ),
      ),
    ),
);

/** The same with the first start of every rank (-1 at first) and, per operation, idle time and its transfer part. */
export const SCAN_IDLE: Kernel = kernel(
  'scanIdle',
  ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'],
  null,
  ['i32', 'i32', 'i32', 'i32', 'f64', 'f64', 'f64'],
  (code, nodes, ops, clock, end, first, stalled, stop, op, on, at, time, arrival, idle) =>
    sequence(
      stop.set(i32.add(code.get, i32.shl(nodes.get, i32.const(3)))),
      at.set(end.get),
      block(
        'done',
        loop(
          'node',
          branchIf('done', i32.eq(code.get, stop.get)),
          op.set(i32.add(ops.get, i32.shl(i32.load(code.get, 4), i32.const(5)))),
          on.set(i32.load(op.get, CLOCK_AT)),
          time.set(f64.load(i32.add(clock.get, on.get))),
          arrival.set(
            f64.add(
              f64.load(i32.add(end.get, i32.shl(i32.load(code.get), i32.const(3)))),
              f64.load(op.get, LATENCY_AT),
            ),
          ),
          when(
            f64.gt(arrival.get, time.get),
            when(
              f64.ge(f64.load(i32.add(first.get, on.get)), f64.const(0)),
              idle.set(f64.sub(arrival.get, time.get)),
              on.set(i32.add(stalled.get, i32.shr16(op.get, ops.get))),
            ),
            time.set(arrival.get),
          ),
          branch('node'),
        ),
      ),
    ),
);
