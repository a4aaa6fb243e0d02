/**
 * Compiled programs by shape, least recently used first: while a user types, or a search walks over costs, the order
 * stays the same and only its timing is redone. Bounded by the actions held, since one large plan outweighs many.
 */

import { type Compiled, compile } from './program.ts';
import type { OrderTimes } from './schedules/row.ts';
import { scheduleRow } from './schedules/table.ts';
import { MAX_ACTIONS, type PipelineShape } from './shape.ts';

const MAX_PROGRAMS = 64;

const programs = new Map<string, Compiled>();
let actionsHeld = 0;

/** The compiled program of a legal shape (see `legality`); a refusal only for an order that deadlocks. */
export function programFor(shape: PipelineShape, times: OrderTimes): Compiled {
  const row = scheduleRow(shape.schedule);
  if (row === null) return { ok: false, reason: `the schedule ${shape.schedule} cannot be simulated` };
  const key = keyOf(shape, row.searches(shape) ? times : null);
  const held = programs.get(key);
  if (held !== undefined) {
    programs.delete(key);
    programs.set(key, held);
    return held;
  }
  const made = compile(row.order(shape, times));
  programs.set(key, made);
  actionsHeld += weight(made);
  for (const [oldest, program] of programs) {
    if (programs.size <= MAX_PROGRAMS && actionsHeld <= MAX_ACTIONS) break;
    if (oldest === key) break;
    programs.delete(oldest);
    actionsHeld -= weight(program);
  }
  return made;
}

/** Forgets every program: for measurements that must be fresh. */
export function clearPrograms(): void {
  programs.clear();
  actionsHeld = 0;
}

/** What an order depends on; its costs only where it is searched for them. */
function keyOf(shape: PipelineShape, times: OrderTimes | null): string {
  const { schedule, pp, vpp, microbatches, groupSize, variant, memoryLimit } = shape;
  const sizes = [schedule, pp, vpp, microbatches, groupSize, variant].join(' ');
  if (times === null) return sizes;
  const { forward, backwardInput, backwardWeight, transfer } = times;
  return [sizes, memoryLimit, forward, backwardInput, backwardWeight, transfer].join(' ');
}

function weight(compiled: Compiled): number {
  return compiled.ok ? compiled.program.order.ids.length : 0;
}
