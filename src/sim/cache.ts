/**
 * Compiled programs by shape, least recently used first: while a user types, or a search walks over costs, the order
 * stays the same and only its timing is redone. Bounded by the actions held, since one large plan outweighs many.
 */

import { type Compiled, compile } from './program.ts';
import { scheduleRow } from './schedules/table.ts';
import { MAX_ACTIONS, type PipelineShape } from './shape.ts';

const MAX_PROGRAMS = 64;

const programs = new Map<string, Compiled>();
let actionsHeld = 0;

/** The compiled program of a legal shape (see `legality`); a refusal only for an order that deadlocks. */
export function programFor(shape: PipelineShape): Compiled {
  const key = [shape.schedule, shape.pp, shape.vpp, shape.microbatches, shape.groupSize, shape.variant].join(' ');
  const held = programs.get(key);
  if (held !== undefined) {
    programs.delete(key);
    programs.set(key, held);
    return held;
  }
  const row = scheduleRow(shape.schedule);
  if (row === null) return { ok: false, reason: `the schedule ${shape.schedule} cannot be simulated` };
  const made = compile(row.order(shape));
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

function weight(compiled: Compiled): number {
  return compiled.ok ? compiled.program.order.ids.length : 0;
}
