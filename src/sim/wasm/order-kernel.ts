/**
 * The compilation of `../program.ts` as WebAssembly: the same worklist, so that the program agrees number for number.
 * Addresses are in bytes, and what refers to a rank or a result is the address of its record. A result's key is where
 * its node + 1 lies; 0 while it is not there.
 */

import { NOTHING } from '../order.ts';
import {
  block,
  branch,
  type Code,
  i32,
  type Kernel,
  kernel,
  type Local,
  leave,
  loop,
  select,
  sequence,
  when,
} from './assembler.ts';

/** A rank: where its list goes on and ends, live and peak activations, and the key it waits for, or 0. */
export const RUN_BYTES = 32;
export const STOP_AT = 4;
const LIVE_AT = 8;
export const PEAK_AT = 12;
const PARKED_AT = 16;

/** An operation: from its cell's first key to the key it waits for, the rank it can wake, how often it occurs. */
export const STEP_BYTES = 16;
export const WAKES_AT = 4;
export const COUNT_AT = 8;

const WEIGHT = i32.const(2);

/** What `COMPILE` answers to an order with pairs. */
export const HOLDS_PAIRS = -1;

/**
 * Compiles an order of plain actions whose stages live on one rank each. Ranks that can run lie from `bottom` up to
 * `top`; `stageShift` is what an id is shifted by to leave its stage; `nothing` is what a node that waits for nothing
 * has in place of a node. Returns the number of nodes, which is less than the entries where the order deadlocks.
 */
export const COMPILE: Kernel = kernel(
  'compile',
  ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'],
  'i32',
  ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'],
  (bottom, top, steps, done, code, nothing, stageShift, node, rank, at, stop, live, peak, id, step, key, from) => {
    const state = { bottom, top, steps, done, code, nothing, node, rank, at, stop, live, peak, key };
    const kind = i32.and(id.get, i32.const(3));
    const op = i32.add(i32.shl(i32.shrU(id.get, stageShift.get), i32.const(2)), kind);
    return everyRank(
      state,
      id.set(i32.load(at.get)),
      when(i32.ltS(id.get, i32.const(0)), leave(i32.const(HOLDS_PAIRS))),
      step.set(stepAt(steps, op)),
      resolve(state, id, step, from),
      emit(state, step, from),
      publish(state, id, step),
      add(at, 4),
    );
  },
);

/**
 * The same for orders with overlapped pairs and for stages that live on two ranks: the operation of an entry lies
 * `opsAhead` bytes behind it. A pair is two nodes, a gate that waits for the first action's input and the pair itself,
 * whose end both results carry.
 */
export const COMPILE_PAIRS: Kernel = kernel(
  'compilePairs',
  ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'],
  'i32',
  Array.from({ length: 13 }, () => 'i32' as const),
  (
    bottom,
    top,
    steps,
    done,
    code,
    nothing,
    opsAhead,
    node,
    rank,
    at,
    stop,
    live,
    peak,
    id,
    step,
    key,
    from,
    ...second
  ) => {
    const [id2, step2, from2] = second as [Local, Local, Local];
    const state = { bottom, top, steps, done, code, nothing, node, rank, at, stop, live, peak, key };
    const opAhead = i32.add(at.get, opsAhead.get);
    return everyRank(
      state,
      id.set(i32.load(at.get)),
      step.set(stepAt(steps, i32.load(opAhead))),
      resolve(state, id, step, from),
      // Behind the last list lies what is no second action.
      id2.set(i32.load(at.get, 4)),
      when(
        i32.ltS(id2.get, i32.const(0)),
        id2.set(i32.sub(i32.const(-1), id2.get)),
        step2.set(stepAt(steps, i32.load(opAhead, 4))),
        resolve(state, id2, step2, from2),
        emit(state, step, from),
        emit(state, step2, from2),
        publish(state, id, step),
        publish(state, id2, step2),
        add(at, 8),
        branch('entry'),
      ),
      emit(state, step, from),
      publish(state, id, step),
      add(at, 4),
    );
  },
);

interface State {
  readonly bottom: Local;
  readonly top: Local;
  readonly steps: Local;
  readonly done: Local;
  readonly code: Local;
  readonly nothing: Local;
  readonly node: Local;
  /** The running rank's record, its place in its list and the list's end, its live and peak activations. */
  readonly rank: Local;
  readonly at: Local;
  readonly stop: Local;
  readonly live: Local;
  readonly peak: Local;
  readonly key: Local;
}

/** Runs every rank that can run, entry by entry; a branch to `waits` leaves the rank, one to `entry` goes on. */
function everyRank({ bottom, top, rank, at, stop, live, peak, node }: State, ...entry: readonly Code[]): Code {
  return sequence(
    loop(
      'rank',
      when(
        i32.gtS(top.get, bottom.get),
        add(top, -4),
        rank.set(i32.load(top.get)),
        at.set(i32.load(rank.get)),
        stop.set(i32.load(rank.get, STOP_AT)),
        live.set(i32.load(rank.get, LIVE_AT)),
        peak.set(i32.load(rank.get, PEAK_AT)),
        block('waits', loop('entry', when(i32.ne(at.get, stop.get), ...entry, branch('entry')))),
        i32.store(rank.get, at.get),
        i32.store(rank.get, live.get, LIVE_AT),
        i32.store(rank.get, peak.get, PEAK_AT),
        branch('rank'),
      ),
    ),
    node.get,
  );
}

function stepAt(steps: Local, op: Code): Code {
  return i32.add(steps.get, i32.shl(op, i32.const(Math.log2(STEP_BYTES))));
}

/** The first key of an action's cell: a forward's result. A gradient's lies behind it. */
function cellOf({ done }: State, id: Local): Code {
  return i32.add(done.get, i32.shl(i32.and(id.get, i32.const(-4)), i32.const(1)));
}

/** Sets the node that an action waits for, or parks the rank on its key. */
function resolve(state: State, id: Local, step: Local, from: Local): Code {
  const { key, nothing, rank } = state;
  return sequence(
    from.set(nothing.get),
    key.set(i32.load(step.get)),
    when(
      i32.ne(key.get, i32.const(NOTHING)),
      key.set(i32.add(cellOf(state, id), key.get)),
      from.set(i32.sub(i32.load(key.get), i32.const(1))),
      when(i32.ltS(from.get, i32.const(0)), i32.store(rank.get, key.get, PARKED_AT), branch('waits')),
    ),
  );
}

/** Appends a node and counts its operation. */
function emit({ code, node, steps }: State, step: Local, from: Local): Code {
  return sequence(
    i32.store(code.get, from.get),
    i32.store(code.get, i32.shrU(i32.sub(step.get, steps.get), i32.const(Math.log2(STEP_BYTES))), 4),
    add(code, 8),
    add(node, 1),
    i32.store(step.get, i32.add(i32.load(step.get, COUNT_AT), i32.const(1)), COUNT_AT),
  );
}

/** Counts what an action holds or frees, gives its result to the last node, and wakes the rank that waits for it. */
function publish(state: State, id: Local, step: Local): Code {
  const { live, peak, key, node, top } = state;
  const kind = i32.and(id.get, i32.const(3));
  return sequence(
    live.set(i32.add(live.get, i32.sub(i32.eqz(kind), i32.shrU(kind, i32.const(1))))),
    peak.set(select(live.get, peak.get, i32.gtS(live.get, peak.get))),
    when(
      i32.ne(kind, WEIGHT),
      key.set(i32.add(cellOf(state, id), i32.shl(i32.ne(kind, i32.const(0)), i32.const(2)))),
      i32.store(key.get, node.get),
      step.set(i32.load(step.get, WAKES_AT)),
      when(
        i32.eq(i32.load(step.get, PARKED_AT), key.get),
        i32.store(step.get, i32.const(0), PARKED_AT),
        i32.store(top.get, step.get),
        add(top, 4),
      ),
    ),
  );
}

function add(variable: Local, amount: number): Code {
  return variable.set(i32.add(variable.get, i32.const(amount)));
}
