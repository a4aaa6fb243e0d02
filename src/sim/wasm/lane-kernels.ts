/**
 * Scans of many timings at once, one to a lane, over a program's threads: the index of a node is read once for all of
 * them. Eight sets of prices in doubles, equal to the plain scan bit for bit; or sixteen samples of noisy durations in
 * single floats. Addresses are in bytes; every slot holds all lanes.
 */

import {
  branch,
  type Code,
  f32x4,
  f64x2,
  i32,
  type Kernel,
  kernel,
  type Local,
  loop,
  sequence,
  v128,
  when,
} from './assembler.ts';

const VECTOR_BYTES = 16;
const VECTORS = 4;
/** What a slot and a row of factors take: 8 doubles or 16 single floats. */
export const LANES_BYTES = VECTORS * VECTOR_BYTES;

export const PRICED_LANES = 8;
/** Per node: the slots it waits for, follows and fills, and its operation's record, as addresses. */
export const PRICED_NODE_BYTES = 16;
/** Per operation: the lanes' durations, then their latencies. */
export const PRICED_OP_BYTES = 2 * LANES_BYTES;

export const PRICED_LANES_SCAN: Kernel = kernel(
  'scanPriced',
  ['i32', 'i32'],
  null,
  ['i32', 'i32', 'i32', 'i32', 'v128'],
  (node, stop, from, before, own, op, time) =>
    whileBefore(
      node,
      stop,
      PRICED_NODE_BYTES,
      from.set(i32.load(node.get)),
      before.set(i32.load(node.get, 4)),
      own.set(i32.load(node.get, 8)),
      op.set(i32.load(node.get, 12)),
      ...vectors((at) =>
        sequence(
          time.set(f64x2.add(v128.load(from.get, at), v128.load(op.get, LANES_BYTES + at))),
          time.set(f64x2.larger(v128.load(before.get, at), time.get)),
          v128.store(own.get, f64x2.add(time.get, v128.load(op.get, at)), at),
        ),
      ),
    ),
);

export const NOISY_LANES = 16;
/** Per node: the slots it waits for, follows and fills, as addresses; its key; its duration and latency (f32). */
export const NOISY_NODE_BYTES = 24;

/**
 * Every node takes its duration times a row of factors: row (key * `multiplier` + `salt`) >> `shift` of `rows`. Adds
 * the lanes' busy time to `busy`, so few nodes should be run at a time.
 */
export const NOISY_LANES_SCAN: Kernel = kernel(
  'scanNoisy',
  ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'],
  null,
  ['i32', 'i32', 'i32', 'i32', 'v128', 'v128', 'v128', 'v128', 'v128', 'v128', 'v128', 'v128'],
  (
    node,
    stop,
    rows,
    shift,
    multiplier,
    salt,
    busy,
    from,
    before,
    own,
    row,
    duration,
    latency,
    taken,
    time,
    ...sums
  ) => {
    const hash = i32.add(i32.mul(i32.load(node.get, 12), multiplier.get), salt.get);
    return sequence(
      ...vectors((at, v) => sums[v]!.set(v128.load(busy.get, at))),
      whileBefore(
        node,
        stop,
        NOISY_NODE_BYTES,
        from.set(i32.load(node.get)),
        before.set(i32.load(node.get, 4)),
        own.set(i32.load(node.get, 8)),
        row.set(i32.add(rows.get, i32.shl(i32.shrU(hash, shift.get), i32.const(Math.log2(LANES_BYTES))))),
        duration.set(v128.load32Splat(node.get, 16)),
        latency.set(v128.load32Splat(node.get, 20)),
        ...vectors((at, v) =>
          sequence(
            taken.set(f32x4.mul(duration.get, v128.load(row.get, at))),
            time.set(f32x4.larger(v128.load(before.get, at), f32x4.add(v128.load(from.get, at), latency.get))),
            v128.store(own.get, f32x4.add(time.get, taken.get), at),
            sums[v]!.set(f32x4.add(sums[v]!.get, taken.get)),
          ),
        ),
      ),
      ...vectors((at, v) => v128.store(busy.get, sums[v]!.get, at)),
    );
  },
);

function vectors(of: (at: number, vector: number) => Code): readonly Code[] {
  return Array.from({ length: VECTORS }, (_, vector) => of(vector * VECTOR_BYTES, vector));
}

function whileBefore(pointer: Local, stop: Local, bytes: number, ...body: readonly Code[]): Code {
  const next = pointer.set(i32.add(pointer.get, i32.const(bytes)));
  return loop('node', when(i32.ne(pointer.get, stop.get), ...body, next, branch('node')));
}
