/**
 * Expansion of shell words into fields that remember where their text is written: parameters with defaults, arrays,
 * arithmetic, and field splitting as the Bash manual has it ("Shell Expansions"). Every expansion spends from a
 * budget, so that a script cannot blow up (`A="$A$A"` again and again): past it, values are unknown.
 */

import type { TextRange } from '../../model/source.ts';
import { evaluateArithmetic } from './arithmetic.ts';
import { placeOfScript, ROOT } from './paths.ts';
import type { Part, Word } from './syntax.ts';
import {
  computed,
  isEmpty,
  literal,
  missing,
  missingOf,
  noteOf,
  onlyMaybe,
  type Piece,
  type Pieces,
  splitFields,
  textOf,
  type Value,
  withNote,
} from './values.ts';

/** What the words are expanded in. */
export interface Scope {
  readonly file: string;
  readonly text: string;
  /** A variable as the script or its batch header sets it; undefined where it does not. */
  readonly get: (name: string) => Value | undefined;
  readonly set: (name: string, value: Value) => void;
  /** Arguments of the script or function; null where nobody knows them. */
  readonly positional: readonly Pieces[] | null;
  /** A script that was sourced and lies outside the root: what is set nowhere else may be set there. */
  readonly outside: string | null;
  /** Pays for work; false when the budget is gone. */
  readonly spend: (cost: number) => boolean;
}

type VariablePart = Extract<Part, { kind: 'variable' }>;

/** The fields that a word becomes in a command or an array. */
export function expandFields(word: Word, scope: Scope): readonly Pieces[] {
  return expandParts(word.parts, scope, true);
}

/** The one value that a word becomes on the right of `=`, unsplit. */
export function expandValue(parts: readonly Part[], scope: Scope): Pieces {
  return expandParts(parts, scope, false)[0] ?? [];
}

function rangeOfPart(part: { readonly offset: number; readonly length: number }, scope: Scope): TextRange {
  return { file: scope.file, offset: part.offset, length: part.length };
}

function costOf(pieces: Pieces): number {
  let cost = 1;
  for (const piece of pieces) cost += 1 + ((piece.text?.length ?? 0) >> 3);
  return cost;
}

function expandParts(parts: readonly Part[], scope: Scope, splitting: boolean): readonly Pieces[] {
  const [only] = parts;
  // Most words are plain.
  if (parts.length === 1 && only?.kind === 'text') return [[literal(only.text, scope.file, only.offset)]];
  const fields: Piece[][] = [];
  let current: Piece[] | null = null;
  const append = (pieces: Pieces): void => {
    current ??= [];
    for (const piece of pieces) current.push(piece);
  };
  const close = (): void => {
    if (current !== null) fields.push(current);
    current = null;
  };
  const appendSplit = (pieces: Pieces): void => {
    const split = splitFields(pieces);
    if (split.leading) close();
    split.fields.forEach((field, i) => {
      if (i > 0) close();
      append(field);
    });
    if (split.trailing) close();
  };
  for (const part of parts) {
    if (part.kind === 'text') {
      append([literal(part.text, scope.file, part.offset)]);
      continue;
    }
    const items = valuesOf(part, scope);
    const cost = items.reduce((sum, item) => sum + costOf(item), 0);
    if (!scope.spend(cost)) {
      append([missing('a text that grows without end', rangeOfPart(part, scope), 'variable')]);
    } else if (!splitting || (part.quoted && !(part.kind === 'variable' && part.index === '@'))) {
      append(joined(items, rangeOfPart(part, scope)));
    } else {
      items.forEach((item, i) => {
        if (i > 0) close();
        if (part.quoted) append(item);
        else appendSplit(item);
      });
    }
  }
  close();
  return fields;
}

function joined(items: readonly Pieces[], where: TextRange): Pieces {
  const blank = computed(' ', where, null);
  return items.flatMap((item, i) => (i === 0 ? item : [blank, ...item]));
}

function valuesOf(part: Exclude<Part, { kind: 'text' }>, scope: Scope): readonly Pieces[] {
  if (part.kind === 'variable') return variableItems(part, scope);
  return [[part.kind === 'arithmetic' ? arithmeticPiece(part, scope) : commandPiece(part, scope)]];
}

/** `$((…))`, or why it has no number. */
function arithmeticPiece(part: Extract<Part, { kind: 'arithmetic' }>, scope: Scope): Piece {
  const range = rangeOfPart(part, scope);
  const found = evaluateParts(part.parts, scope);
  if (found.value === null) return missing(found.missing, range);
  const expression = scope.text.slice(part.offset, part.offset + Math.min(part.length, 60));
  const note = [`computed by ${expression}`, found.note].filter((each) => each !== null).join('; ');
  return computed(String(found.value), range, note);
}

export interface ArithmeticResult {
  readonly value: number | null;
  readonly missing: string;
  readonly note: string | null;
}

/** The value of an arithmetic expression given as parts. */
export function evaluateParts(parts: readonly Part[], scope: Scope): ArithmeticResult {
  const pieces = expandValue(parts, scope);
  const text = textOf(pieces);
  if (text === null) return { value: null, missing: missingOf(pieces) ?? 'an arithmetic expression', note: null };
  let note = noteOf(pieces);
  let unset: string | null = null;
  const value = evaluateArithmetic(text, (name) => {
    const variable = scope.get(name);
    const named = variable?.kind === 'scalar' ? variable.pieces : null;
    const number = named === null ? null : numberOf(textOf(named));
    if (number === null) unset ??= missingOf(named ?? []) ?? `$${name}`;
    else note ??= noteOf(named ?? []);
    return number;
  });
  return { value, missing: unset ?? 'the result of an arithmetic expression', note };
}

function numberOf(text: string | null): number | null {
  return text !== null && /^\s*[+-]?\d{1,15}\s*$/.test(text) ? Number(text) : null;
}

function commandPiece(part: Extract<Part, { kind: 'command' }>, scope: Scope): Piece {
  const range = rangeOfPart(part, scope);
  const place = placeOfScript(part.text, scope.file);
  if (place !== null) return computed(place, range, null);
  const shown = part.text.trim().replace(/\s+/g, ' ');
  return missing(`the output of \`${shown.length > 40 ? `${shown.slice(0, 40)}…` : shown}\``, range);
}

/** The items that a variable stands for; one for a plain variable. */
function variableItems(part: VariablePart, scope: Scope): readonly Pieces[] {
  const items = baseItems(part, scope);
  const range = rangeOfPart(part, scope);
  switch (part.operator) {
    case '':
    case '?':
    case ':?':
      return items ?? [[unsetPiece(part, range, scope)]];
    case 'length':
      return [[items === undefined ? unsetPiece(part, range, scope) : lengthPiece(part, items, range)]];
    case 'other':
      return [[otherPiece(part, scope)]];
    case '+':
    case ':+':
      return alternative(part, items, scope);
    default:
      return withDefault(part, items, scope);
  }
}

function otherPiece(part: VariablePart, scope: Scope): Piece {
  const range = rangeOfPart(part, scope);
  return part.name === '@' || part.name === '*'
    ? missing('the arguments of the script', range, 'arguments')
    : missing(`what ${shownPart(part, scope)} cuts out`, range);
}

function shownPart(part: VariablePart, scope: Scope): string {
  const text = scope.text.slice(part.offset, part.offset + Math.min(part.length, 60));
  return part.length > 60 ? `${text}…` : text.replace(/\s+/g, ' ');
}

function unsetPiece(part: VariablePart, range: TextRange, { outside }: Scope): Piece {
  if (/^\d+$/.test(part.name)) return missing(`argument $${part.name} of the script`, range, 'positional');
  if (part.name === '@' || part.name === '*') return missing('the arguments of the script', range, 'arguments');
  if (!/^[A-Za-z_]/.test(part.name)) return missing(`$${part.name}`, range);
  const why = outside === null ? 'the script does not set' : `may be set in ${outside}, outside the workspace`;
  return missing(`$${part.name}, which ${why}`, range, 'variable');
}

function lengthPiece(part: VariablePart, items: readonly Pieces[], range: TextRange): Piece {
  if (part.index !== null) return computed(String(items.length), range, null);
  const text = textOf(items[0] ?? []);
  return text === null ? missing(`the length of $${part.name}`, range) : computed(String(text.length), range, null);
}

function baseItems(part: VariablePart, scope: Scope): readonly Pieces[] | undefined {
  const { name, index } = part;
  if (/^[1-9]\d*$/.test(name)) {
    const argument = scope.positional?.[Number(name) - 1];
    return scope.positional === null ? undefined : [argument ?? []];
  }
  if (name === '@' || name === '*') return scope.positional ?? undefined;
  if (name === '0' || name === 'BASH_SOURCE') {
    return [[computed(`${ROOT}/${scope.file}`, rangeOfPart(part, scope), null)]];
  }
  const value = scope.get(name);
  if (value === undefined) return undefined;
  if (value.kind === 'scalar')
    return index === null || index === '@' || index === '*' || index === '0' ? [value.pieces] : [[]];
  if (index === '@' || index === '*') return value.items;
  if (index === null || /^\d+$/.test(index)) return [value.items[Number(index ?? 0)] ?? []];
  return [[missing(`$${name}[${index}]`, rangeOfPart(part, scope))]];
}

/** `${X:-d}` and `${X:=d}`: what the script sets wins; else the default, which the environment may override. */
function withDefault(part: VariablePart, items: readonly Pieces[] | undefined, scope: Scope): readonly Pieces[] {
  const absent = items === undefined || items.every((item) => item.length > 0 && item.every(mayBeAbsent));
  const empty = items?.every((item) => isEmpty(item) === true) ?? true;
  if (!absent && !(empty && part.operator.startsWith(':'))) return items ?? [];
  const pieces = expandValue(part.operand, scope);
  const who = /^\d/.test(part.name) ? 'an argument' : 'the environment';
  const told = absent ? withNote(pieces, `default of ${shownPart(part, scope)}; ${who} may override it`) : pieces;
  if (part.operator.endsWith('=')) scope.set(part.name, { kind: 'scalar', pieces: told });
  return [told];
}

function mayBeAbsent(piece: Piece): boolean {
  return piece.unknown === 'positional' || piece.unknown === 'variable';
}

function alternative(part: VariablePart, items: readonly Pieces[] | undefined, scope: Scope): readonly Pieces[] {
  const pieces = expandValue(part.operand, scope);
  const empties = items?.map(isEmpty) ?? [null];
  if (empties.every((each) => each === true)) return [];
  if (empties.includes(false)) return [pieces];
  return [onlyMaybe(pieces, `only when $${part.name} is set`)];
}
