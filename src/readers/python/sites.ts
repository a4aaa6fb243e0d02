/**
 * Plans that stand in one call: `TransformerPipelineParallelConfig(…)`, `HybridParallelPlugin(…)`,
 * `PipelineModule(…)`. The module is read first, so that a call has the arguments that the script gives; functions that
 * nobody calls there are read alone.
 */

import type { CallRecord } from './machine.ts';
import { type Program, within } from './program.ts';
import type { Recipe } from './recipes.ts';
import { lastPart, type PyFunction, type PyObject } from './value.ts';

export interface Site {
  /** The function that the call stands in, or `main`; further ones in the same function are numbered. */
  readonly id: string;
  readonly record: CallRecord;
  readonly recipe: Recipe;
}

const MAX_SITES = 100;

/** Every place where something of that name is called, in file order. */
export function sitesOf(program: Program, callee: RegExp): readonly Site[] {
  const names = (object: PyObject) => callee.test(lastPart(object.callee));
  for (const fn of program.functions) {
    const reached = program.calls.some(({ object, site }) => names(object) && within(fn, site));
    if (
      !reached &&
      new RegExp(callee.source.replace(/[\^$]/g, '')).test(program.text.slice(fn.node.from, fn.node.to))
    ) {
      program.run(fn);
    }
  }
  const bySite = new Map<number, CallRecord>();
  for (const record of program.calls) {
    if (names(record.object) && !bySite.has(record.site)) bySite.set(record.site, record);
  }
  const records = [...bySite.values()].sort((a, b) => a.site - b.site).slice(0, MAX_SITES);
  const used = new Map<string, number>();
  return records.map((record) => {
    const fn = functionAt(program, record.site);
    const name = fn?.name ?? 'main';
    const count = (used.get(name) ?? 0) + 1;
    used.set(name, count);
    const id = count === 1 ? name : `${name}-${count}`;
    const recipe = { id, root: record.object, fn, variable: null, returnAt: null, names: record.scope.names };
    return { id, record, recipe };
  });
}

function functionAt(program: Program, offset: number): PyFunction | null {
  return program.functions.find((fn) => within(fn, offset)) ?? null;
}

/** The object of that kind that belongs to a site: made in the same run of the same function, else in the file. */
export function besideSite(program: Program, { record }: Site, fits: (object: PyObject) => boolean): PyObject | null {
  const fitting = program.calls.filter(({ object }) => fits(object));
  const found =
    fitting.find(({ scope }) => scope === record.scope) ??
    fitting.find(({ within: name }) => name === record.within) ??
    fitting[0];
  return found?.object ?? null;
}
