/**
 * What holds after branches of which only one runs, for a reason that the file does not decide. What all agree on
 * stays; options that only one adds are kept, marked; two single values become unknown, never one of them.
 */

import type { TextRange } from '../../model/source.ts';
import {
  BLANK,
  computed,
  missing,
  missingOf,
  onlyMaybe,
  type Piece,
  type Pieces,
  sizeOf,
  textOf,
  type Value,
} from './values.ts';

export interface MergeReason {
  /** "depending on a condition in line 12". */
  readonly why: string;
  readonly where: TextRange;
  /** Variables that the condition tests for being set. */
  readonly tested: ReadonlySet<string>;
  /** Pays for the work. */
  readonly spend: (cost: number) => void;
}

/** Merges the variables after another branch into those after the first. */
export function mergeVariables(into: Map<string, Value>, other: ReadonlyMap<string, Value>, reason: MergeReason): void {
  const { why, tested } = reason;
  for (const [name, value] of other) {
    const own = into.get(name);
    if (own === value) continue;
    into.set(name, own === undefined ? lonely(value, why, tested.has(name)) : mergeValues(own, value, reason));
    reason.spend(sizeOf(value) + (own === undefined ? 0 : sizeOf(own)));
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

/** Pieces that a merged value may have; two branches that add options again and again would grow without end. */
const MAX_MERGED = 2000;

/** What both agree on stays; what only one has is kept as `maybe`; two single values become unknown. */
function mergeValues(a: Value, b: Value, { why, where }: MergeReason): Value {
  if (a.kind === 'array' || b.kind === 'array') return mergeArrays(itemsOf(a), itemsOf(b), why);
  const texts = [textOf(a.pieces), textOf(b.pieces)];
  if (samePieces(a.pieces, b.pieces) || (texts[0] !== null && texts[0] === texts[1])) return a;
  const shared = commonPrefix(a.pieces, b.pieces, samePiece);
  const restA = a.pieces.slice(shared);
  const restB = b.pieces.slice(shared);
  const place = restA[0]?.range ?? where;
  if (shared === 0 && !holdsOptions(restA) && !holdsOptions(restB)) {
    const known = missingOf(a.pieces) ?? missingOf(b.pieces);
    return { kind: 'scalar', pieces: [missing(known ?? `${shown(texts[0])} or ${shown(texts[1])}, ${why}`, place)] };
  }
  if (a.pieces.length + restB.length > MAX_MERGED) {
    return { kind: 'scalar', pieces: [missing(`options ${why}`, place, 'variable')] };
  }
  const blank = computed(' ', where, null);
  const pieces = [...a.pieces.slice(0, shared), ...onlyMaybe(restA, why), blank, ...onlyMaybe(restB, why)];
  return { kind: 'scalar', pieces };
}

/** Whether the pieces are several words or a flag, rather than one value. */
function holdsOptions(pieces: Pieces): boolean {
  return pieces.some(({ text }) => text !== null && (BLANK.test(text) || text.startsWith('-')));
}

function shown(text: string | null | undefined): string {
  if (text === null || text === undefined) return '?';
  if (text === '') return 'nothing';
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
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
