/**
 * Shell values that remember where they were written. A value is a row of pieces: literal text that maps one to one
 * to characters of a file, text that was computed, or something unknown with what is missing. Every later stage
 * (splitting, arrays, flags) passes pieces on, so that `--num-layers $NL` ends at the token that defines `NL`.
 */

import type { TextRange } from '../../model/source.ts';

/**
 * What kind of unknown: one value; a positional parameter, which may be absent; all arguments; or a variable that the
 * file does not set, which may hold any number of words or none.
 */
export type UnknownKind = 'value' | 'positional' | 'arguments' | 'variable';

export interface Piece {
  /** null: not known, see `missing`. */
  readonly text: string | null;
  /** Where it is written. */
  readonly range: TextRange;
  /** The characters in the file are the text itself, so that an edit can replace them. */
  readonly exact: boolean;
  /** What one should know of it: "default of ${X:-1}; the environment may override it". */
  readonly note: string | null;
  /** What is not known, where `text` is null. */
  readonly missing: string | null;
  /** Holds only under a condition that the file does not decide. */
  readonly maybe: string | null;
  readonly unknown: UnknownKind | null;
}

export type Pieces = readonly Piece[];

export type Value =
  | { readonly kind: 'scalar'; readonly pieces: Pieces }
  | { readonly kind: 'array'; readonly items: readonly Pieces[] };

export function literal(text: string, file: string, offset: number): Piece {
  return {
    text,
    range: { file, offset, length: text.length },
    exact: true,
    note: null,
    missing: null,
    maybe: null,
    unknown: null,
  };
}

/** Text that does not stand in the file as such: the result of arithmetic. */
export function computed(text: string, range: TextRange, note: string | null): Piece {
  return { text, range, exact: false, note, missing: null, maybe: null, unknown: null };
}

export function missing(what: string, range: TextRange, unknown: UnknownKind = 'value'): Piece {
  return { text: null, range, exact: false, note: null, missing: what, maybe: null, unknown };
}

/** Longer texts are of no use as one value. */
const MAX_VALUE_LENGTH = 1 << 20;

/** The whole text; null when any piece is unknown, or when it is far too long. */
export function textOf(pieces: Pieces): string | null {
  if (pieces.length === 1) return pieces[0]!.text;
  let text = '';
  for (const piece of pieces) {
    if (piece.text === null || text.length > MAX_VALUE_LENGTH) return null;
    text += piece.text;
  }
  return text;
}

/** Whether the pieces hold nothing at all; null when that depends on an unknown. */
export function isEmpty(pieces: Pieces): boolean | null {
  const text = textOf(pieces);
  if (text !== null) return text === '';
  return pieces.some((piece) => piece.text !== null && piece.text !== '') ? false : null;
}

export function withNote(pieces: Pieces, note: string): Pieces {
  return pieces.map((piece) => (piece.note === null ? { ...piece, note } : piece));
}

export function onlyMaybe(pieces: Pieces, why: string): Pieces {
  return pieces.map((piece) => (piece.maybe === null ? { ...piece, maybe: why } : piece));
}

/** The first note, unknown or condition among the pieces. */
export function noteOf(pieces: Pieces): string | null {
  return pieces.find((piece) => piece.note !== null)?.note ?? null;
}

export function missingOf(pieces: Pieces): string | null {
  return pieces.find((piece) => piece.missing !== null)?.missing ?? null;
}

export function maybeOf(pieces: Pieces): string | null {
  return pieces.find((piece) => piece.maybe !== null)?.maybe ?? null;
}

/**
 * Where the pieces are written: the one piece that has text, or the span over neighbours in one file; null when they
 * stand in several places.
 */
export function rangeOfPieces(pieces: Pieces): TextRange | null {
  const told = pieces.filter((piece) => piece.text !== '');
  const [first] = told.length > 0 ? told : pieces;
  if (first === undefined) return null;
  if (told.length <= 1) return first.range;
  let end = first.range.offset;
  for (const { range } of told) {
    if (range.file !== first.range.file || range.offset < end || range.offset > end + 4) {
      if (range !== first.range) return null;
    }
    end = range.offset + range.length;
  }
  return { file: first.range.file, offset: first.range.offset, length: end - first.range.offset };
}

export const BLANK = /[ \t\r\n]+/;

/** Splits at blanks as an unquoted expansion does. The first and last fields join their neighbours when no blank stands there. */
export function splitFields(pieces: Pieces): {
  readonly fields: readonly Pieces[];
  readonly leading: boolean;
  readonly trailing: boolean;
} {
  const fields: Piece[][] = [];
  let leading = false;
  let open = false;
  let trailing = false;
  for (const piece of pieces) {
    if (piece.text === null || !BLANK.test(piece.text)) {
      if (piece.text === '') continue;
      if (open) fields.at(-1)!.push(piece);
      else fields.push([piece]);
      open = true;
      trailing = false;
      continue;
    }
    const blanks = /[^ \t\r\n]+/g;
    let reached = 0;
    for (let found = blanks.exec(piece.text); found !== null; found = blanks.exec(piece.text)) {
      const part = slice(piece, found.index, found[0]);
      if (found.index > reached || !open) {
        if (found.index > 0 && fields.length === 0) leading = true;
        fields.push([part]);
      } else fields.at(-1)!.push(part);
      reached = found.index + found[0].length;
      open = true;
    }
    trailing = reached < piece.text.length;
    if (trailing) {
      if (fields.length === 0) leading = true;
      open = false;
    }
  }
  return { fields, leading, trailing };
}

function slice(piece: Piece, at: number, text: string): Piece {
  if (!piece.exact) return { ...piece, text };
  const range = { file: piece.range.file, offset: piece.range.offset + at, length: text.length };
  return { ...piece, text, range };
}

/** How many pieces a value holds, for the budget. */
export function sizeOf(value: Value): number {
  return value.kind === 'scalar' ? value.pieces.length : value.items.reduce((sum, item) => sum + item.length, 0);
}
