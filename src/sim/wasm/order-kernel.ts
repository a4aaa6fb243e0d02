/**
 * The compilation of `../program.ts` as WebAssembly, for orders of plain actions whose stages live on one rank each:
 * the same worklist, so that the program agrees number for number. Addresses are in bytes, and what refers to a rank
 * or a result is the address of its record. A result's key is where its node + 1 lies; 0 while it is not there.
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

/**
 * Ranks that can run lie from `bottom` up to `top`. Returns the number of nodes; less than the entries where the
 * order deadlocks. `nothing` is what a node that waits for nothing has in place of a node.
 */
export const COMPILE: Kernel = kernel(
  'compile',
  ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'],
  'i32',
  ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'],
  (
    bottom,
    top,
    steps,
    done,
    code,
    stageShift,
    nothing,
    node,
    rank,
    at,
    stop,
    live,
    peak,
    id,
    cell,
    step,
    key,
    from,
  ) => {
    const kind = i32.and(id.get, i32.const(3));
    const entry = sequence(
      id.set(i32.load(at.get)),
      cell.set(i32.add(done.get, i32.shl(i32.and(id.get, i32.const(-4)), i32.const(1)))),
      step.set(operation(id, stageShift)),
      from.set(nothing.get),
      key.set(i32.load(i32.add(steps.get, i32.shl(step.get, i32.const(4))))),
      when(
        i32.ne(key.get, i32.const(NOTHING)),
        key.set(i32.add(cell.get, key.get)),
        from.set(i32.sub(i32.load(key.get), i32.const(1))),
        when(i32.ltS(from.get, i32.const(0)), i32.store(rank.get, key.get, PARKED_AT), branch('waits')),
      ),
      i32.store(code.get, from.get),
      i32.store(code.get, step.get, 4),
      add(code, 8),
      add(node, 1),
      add(at, 4),
      step.set(i32.add(steps.get, i32.shl(step.get, i32.const(4)))),
      i32.store(step.get, i32.add(i32.load(step.get, COUNT_AT), i32.const(1)), COUNT_AT),
      live.set(i32.add(live.get, i32.sub(i32.eqz(kind), i32.shrU(kind, i32.const(1))))),
      peak.set(select(live.get, peak.get, i32.gtS(live.get, peak.get))),
      when(i32.eq(kind, WEIGHT), branch('entry')),
      key.set(i32.add(cell.get, i32.shl(i32.ne(kind, i32.const(0)), i32.const(2)))),
      i32.store(key.get, node.get),
      step.set(i32.load(step.get, WAKES_AT)),
      when(
        i32.eq(i32.load(step.get, PARKED_AT), key.get),
        i32.store(step.get, i32.const(0), PARKED_AT),
        i32.store(top.get, step.get),
        add(top, 4),
      ),
      branch('entry'),
    );
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
          block('waits', loop('entry', when(i32.ne(at.get, stop.get), entry))),
          i32.store(rank.get, at.get),
          i32.store(rank.get, live.get, LIVE_AT),
          i32.store(rank.get, peak.get, PEAK_AT),
          branch('rank'),
        ),
      ),
      node.get,
    );
  },
);

/** The operation of an action; `stageShift` is what its id is shifted by to leave the stage. */
function operation(id: Local, stageShift: Local): Code {
  const kind = i32.and(id.get, i32.const(3));
  return i32.add(i32.shl(i32.shrU(id.get, stageShift.get), i32.const(2)), kind);
}

function add(variable: Local, amount: number): Code {
  return variable.set(i32.add(variable.get, i32.const(amount)));
}
