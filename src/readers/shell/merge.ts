/**
 * What holds after branches of which only one runs, for a reason that the file does not decide. What all agree on
 * stays; options that only one adds are kept, marked; two single values become unknown, never one of them.
 */

import type { TextRange } from '../../model/source.ts';
import { BLANK, computed, missing, onlyMaybe, type Piece, type Pieces, textOf, type Value } from './values.ts';

export interface MergeReason {
  /** "depending on a condition in line 12". */
  readonly why: string;
  readonly where: TextRange;
  /** Variables that the condition tests for being set. */
  readonly tested: ReadonlySet<string>;
}

/** Merges the variables after another branch into those after the first. */
export function mergeVariables(
  into: Map<string, Value>,
  other: ReadonlyMap<string, Value>,
  { why, where, tested }: MergeReason,
): void {
  for (const [name, value] of other) {
    const own = into.get(name);
    if (own === value) continue;
    into.set(name, own === undefined ? lonely(value, why, tested.has(name)) : mergeValues(own, value, why, where));
  }
  for (const [name, own] of into) {
    if (!other.has(name)) into.set(name, lonely(own, why, tested.has(name)));
  }
}

/**
 * Set in one branch and nowhere else in the file. When the condition asked whether the environment gives it, this is
 * its default; else it is only there under the condition.
 */
function lonely(value: Value, why: string, isDefault: boolean): Value {
  if (value.kind === 'array') return { kind: 'array', items: value.items.map((item) => onlyMaybe(item, why)) };
  if (!isDefault) return { kind: 'scalar', pieces: onlyMaybe(value.pieces, why) };
  const note = 'default where the environment gives none';
  return { kind: 'scalar', pieces: value.pieces.map((piece) => ({ ...piece, note: piece.note ?? note })) };
}

function samePieces(a: Pieces, b: Pieces): boolean {
  return a === b || (a.length === b.length && a.every((piece, i) => samePiece(piece, b[i]!)));
}

function samePiece(a: Piece, b: Piece): boolean {
  return (
    a === b ||
    (a.text === b.text &&
      a.missing === b.missing &&
      a.range.offset === b.range.offset &&
      a.range.file === b.range.file &&
      a.maybe === b.maybe)
  );
}

/**
 * What holds after two branches of which only one runs, for a reason that the file does not decide: what both agree
 * on stays, what only one adds is kept as `maybe`, and two single values become unknown.
 */
function mergeValues(a: Value, b: Value, why: string, where: TextRange): Value {
  if (a === b) return a;
  if (a.kind === 'array' || b.kind === 'array') return mergeArrays(itemsOf(a), itemsOf(b), why);
  if (samePieces(a.pieces, b.pieces)) return a;
  const shared = commonPrefix(a.pieces, b.pieces, samePiece);
  const restA = a.pieces.slice(shared);
  const restB = b.pieces.slice(shared);
  const texts = [textOf(restA), textOf(restB)];
  if (shared === 0 && !texts.some((text) => text === null || BLANK.test(text) || text === '')) {
    return { kind: 'scalar', pieces: [missing(`${texts[0]} or ${texts[1]}, ${why}`, restA[0]?.range ?? where)] };
  }
  if (texts[0] !== null && texts[0] === texts[1]) return a;
  const blank = { ...computed(' ', where, null) };
  return {
    kind: 'scalar',
    pieces: [...a.pieces.slice(0, shared), ...onlyMaybe(restA, why), blank, ...onlyMaybe(restB, why)],
  };
}

function mergeArrays(a: readonly Pieces[], b: readonly Pieces[], why: string): Value {
  const shared = commonPrefix(a, b, samePieces);
  const rest = [...a.slice(shared), ...b.slice(shared)];
  return { kind: 'array', items: [...a.slice(0, shared), ...rest.map((item) => onlyMaybe(item, why))] };
}

function itemsOf(value: Value): readonly Pieces[] {
  if (value.kind === 'array') return value.items;
  return value.pieces.length === 0 ? [] : [value.pieces];
}

function commonPrefix<T>(a: readonly T[], b: readonly T[], same: (x: T, y: T) => boolean): number {
  let shared = 0;
  while (shared < a.length && shared < b.length && same(a[shared]!, b[shared]!)) shared++;
  return shared;
}
