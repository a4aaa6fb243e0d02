/** Which places of a file give values to more than one of its plans: a constant, a base recipe, a common default. */

import type { Recipe } from './recipes.ts';
import type { PyValue } from './value.ts';

const MAX_DEPTH = 12;

/** Offsets of the literals that at least two recipes take values from. */
export function sharedPlaces(recipes: readonly Recipe[]): (offset: number) => boolean {
  const seen = new Map<number, number>();
  for (const { root } of recipes) {
    const own = new Set<number>();
    collect(root, own, 0);
    for (const offset of own) seen.set(offset, (seen.get(offset) ?? 0) + 1);
  }
  return (offset) => (seen.get(offset) ?? 0) > 1;
}

function collect(value: PyValue, offsets: Set<number>, depth: number): void {
  if (depth > MAX_DEPTH || offsets.size > 20_000) return;
  if (value.kind === 'scalar') {
    offsets.add(value.source?.kind === 'text' ? value.source.range.offset : value.range.offset);
    offsets.add(value.range.offset);
  }
  if (value.kind !== 'object') return;
  for (const field of value.fields.values()) {
    offsets.add(field.keyRange.offset);
    collect(field.value, offsets, depth + 1);
  }
}
