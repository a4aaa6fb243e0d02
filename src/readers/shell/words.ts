/**
 * The words of a shell script: quotes, escapes, continuations and every kind of `$` expansion, with exact offsets.
 * It reads each character once and always ends: an end that is missing (a quote, a brace) is a problem beside the
 * word, because a config is half-typed most of its life. The rules are those of the Bash manual, "Quoting" and
 * "Shell Parameter Expansion".
 */

import { MAX_DEPTH } from '../limits.ts';
import type { Part, ShellProblem, VariableOperator, Word } from './syntax.ts';

/** A place in the text that every function moves forward. */
export interface Cursor {
  readonly text: string;
  readonly end: number;
  at: number;
  /** Inside an unquoted heredoc `\$` is expanded later, by the script that the heredoc becomes. */
  readonly inHeredoc: boolean;
  readonly problems: ShellProblem[];
  depth: number;
}

const NAME_START = /[A-Za-z_]/;
const NAME = /[A-Za-z0-9_]*/y;
const SPECIAL = /[0-9@*#?$!-]/;
const META = new Set([' ', '\t', '\r', '\n', ';', '&', '|', '<', '>', '(', ')']);

export function isMeta(c: string | undefined): boolean {
  return c === undefined || META.has(c);
}

/** The character `ahead` of the cursor; undefined past the end. */
export function peek(cursor: Cursor, ahead = 0): string | undefined {
  const at = cursor.at + ahead;
  return at < cursor.end ? cursor.text[at] : undefined;
}

export function startsWith(cursor: Cursor, what: string): boolean {
  return cursor.at + what.length <= cursor.end && cursor.text.startsWith(what, cursor.at);
}

/** Length of a line continuation at the cursor; 0 where there is none. */
export function continuation(cursor: Cursor): number {
  if (peek(cursor) !== '\\') return 0;
  if (peek(cursor, 1) === '\n') return 2;
  return peek(cursor, 1) === '\r' && peek(cursor, 2) === '\n' ? 3 : 0;
}

/** Adds literal text; joins it to the run before when the characters are neighbours in the file. */
function pushText(parts: Part[], text: string, offset: number, quoted: boolean): void {
  const last = parts.at(-1);
  if (last?.kind === 'text' && last.quoted === quoted && last.offset + last.text.length === offset) {
    parts[parts.length - 1] = { ...last, text: last.text + text };
  } else {
    parts.push({ kind: 'text', text, offset, quoted });
  }
}

/** One word at the cursor, up to an unquoted blank or operator; null where there is none. */
export function readWord(cursor: Cursor): Word | null {
  const offset = cursor.at;
  const parts: Part[] = [];
  readParts(cursor, parts, isMeta, false);
  return cursor.at === offset ? null : { parts, offset, length: cursor.at - offset };
}

/** Reads parts until an unquoted character that `stops`, or the end. */
export function readParts(cursor: Cursor, parts: Part[], stops: (c: string) => boolean, quoted: boolean): void {
  while (cursor.at < cursor.end) {
    const c = cursor.text[cursor.at]!;
    if (stops(c)) return;
    const skipped = continuation(cursor);
    if (skipped > 0) cursor.at += skipped;
    else if (c === '\\') readEscape(cursor, parts, quoted);
    else if (c === "'" && !quoted) readSingleQuoted(cursor, parts);
    else if (c === '"') readDoubleQuoted(cursor, parts);
    else if (c === '$') readDollar(cursor, parts, quoted);
    else if (c === '`') readBackticks(cursor, parts, quoted);
    else readRun(cursor, parts, stops, quoted);
  }
}

/** A run of plain characters, taken at once so that long literals stay cheap. */
function readRun(cursor: Cursor, parts: Part[], stops: (c: string) => boolean, quoted: boolean): void {
  const start = cursor.at;
  cursor.at++;
  while (cursor.at < cursor.end) {
    const c = cursor.text[cursor.at]!;
    if (c === '\\' || c === '"' || c === '$' || c === '`' || (c === "'" && !quoted) || stops(c)) break;
    cursor.at++;
  }
  pushText(parts, cursor.text.slice(start, cursor.at), start, quoted);
}

function readEscape(cursor: Cursor, parts: Part[], quoted: boolean): void {
  const next = peek(cursor, 1);
  if (cursor.inHeredoc && next === '$') {
    cursor.at++;
    readDollar(cursor, parts, quoted);
  } else if (next === undefined || (quoted && !'$`"\\'.includes(next))) {
    pushText(parts, '\\', cursor.at, quoted);
    cursor.at++;
  } else {
    pushText(parts, next, cursor.at + 1, true);
    cursor.at += 2;
  }
}

function readSingleQuoted(cursor: Cursor, parts: Part[]): void {
  const open = cursor.at;
  const end = find(cursor, "'", open + 1);
  pushText(parts, cursor.text.slice(open + 1, end), open + 1, true);
  cursor.at = Math.min(end + 1, cursor.end);
  if (end === cursor.end) unended(cursor, open, 1, 'This quote is never closed');
}

function readDoubleQuoted(cursor: Cursor, parts: Part[]): void {
  const open = cursor.at;
  cursor.at++;
  // An empty pair is a word of its own.
  if (peek(cursor) === '"') pushText(parts, '', cursor.at, true);
  readParts(cursor, parts, (c) => c === '"', true);
  if (cursor.at < cursor.end) cursor.at++;
  else unended(cursor, open, 1, 'This quote is never closed');
}

function unended(cursor: Cursor, offset: number, length: number, message: string): void {
  cursor.problems.push({ message, offset, length });
}

function readDollar(cursor: Cursor, parts: Part[], quoted: boolean): void {
  const next = peek(cursor, 1);
  if (cursor.depth >= MAX_DEPTH || next === undefined) {
    pushText(parts, '$', cursor.at, quoted);
    cursor.at++;
    return;
  }
  cursor.depth++;
  if (next === '{') readBraced(cursor, parts, quoted);
  else if (next === '(' && peek(cursor, 2) === '(') readArithmetic(cursor, parts, quoted);
  else if (next === '(') readCommand(cursor, parts, quoted);
  else if ((next === "'" || next === '"') && !quoted) cursor.at++;
  else if (NAME_START.test(next) || SPECIAL.test(next)) readPlainVariable(cursor, parts, quoted);
  else {
    pushText(parts, '$', cursor.at, quoted);
    cursor.at++;
  }
  cursor.depth--;
}

function readName(cursor: Cursor): string {
  NAME.lastIndex = cursor.at;
  const name = NAME.exec(cursor.text)?.[0] ?? '';
  const within = name.slice(0, Math.max(0, cursor.end - cursor.at));
  cursor.at += within.length;
  return within;
}

function readPlainVariable(cursor: Cursor, parts: Part[], quoted: boolean): void {
  const offset = cursor.at;
  cursor.at++;
  const first = peek(cursor) ?? '';
  let name: string;
  if (NAME_START.test(first)) name = readName(cursor);
  else {
    name = first;
    cursor.at++;
  }
  const index = name === '@' || name === '*' ? name : null;
  const length = cursor.at - offset;
  parts.push({ kind: 'variable', name, index, operator: '', operand: [], offset, length, quoted });
}

const OPERATORS: readonly VariableOperator[] = [':-', ':=', ':+', ':?', '-', '=', '+', '?'];

function readBraced(cursor: Cursor, parts: Part[], quoted: boolean): void {
  const offset = cursor.at;
  cursor.at += 2;
  let operator: VariableOperator = '';
  if (peek(cursor) === '#' && peek(cursor, 1) !== '}') {
    operator = 'length';
    cursor.at++;
  } else if (peek(cursor) === '!') {
    operator = 'other';
    cursor.at++;
  }
  let name = readName(cursor);
  if (name === '' && SPECIAL.test(peek(cursor) ?? '')) {
    name = peek(cursor)!;
    cursor.at++;
  }
  const index = readIndex(cursor) ?? (name === '@' || name === '*' ? name : null);
  const operand: Part[] = [];
  if (peek(cursor) !== '}') {
    const found = OPERATORS.find((each) => startsWith(cursor, each));
    if (operator === '') operator = found ?? 'other';
    if (found !== undefined) cursor.at += found.length;
    readParts(cursor, operand, (c) => c === '}', quoted);
  }
  if (cursor.at < cursor.end) cursor.at++;
  else unended(cursor, offset, 2, 'This brace is never closed');
  parts.push({ kind: 'variable', name, index, operator, operand, offset, length: cursor.at - offset, quoted });
}

/** `[@]`, `[*]` or `[number]` after a name; anything else is an element that is not followed. */
function readIndex(cursor: Cursor): string | null {
  if (peek(cursor) !== '[') return null;
  const start = cursor.at + 1;
  while (cursor.at < cursor.end && cursor.text[cursor.at] !== ']' && cursor.text[cursor.at] !== '\n') cursor.at++;
  const index = cursor.text.slice(start, cursor.at).replace(/^["']|["']$/g, '');
  if (peek(cursor) === ']') cursor.at++;
  return index;
}

function readArithmetic(cursor: Cursor, parts: Part[], quoted: boolean): void {
  const offset = cursor.at;
  cursor.at += 3;
  const inner = readUntilDoubleParenthesis(cursor, offset, 3);
  parts.push({ kind: 'arithmetic', parts: inner, offset, length: cursor.at - offset, quoted });
}

/** The expression of `$((…))` or `((…))` as parts; the cursor stands behind the opening and ends behind `))`. */
export function readUntilDoubleParenthesis(cursor: Cursor, open: number, openLength: number): readonly Part[] {
  const inner: Part[] = [];
  let nested = 0;
  for (;;) {
    readParts(cursor, inner, (c) => c === '(' || c === ')', true);
    const c = peek(cursor);
    if (c === undefined) {
      unended(cursor, open, openLength, 'This arithmetic is never closed');
      return inner;
    }
    if (c === ')' && nested === 0) break;
    nested += c === '(' ? 1 : -1;
    pushText(inner, c, cursor.at, true);
    cursor.at++;
  }
  cursor.at += peek(cursor, 1) === ')' ? 2 : 1;
  return inner;
}

/** `$(…)`: skipped as text, with quotes and nested parentheses in mind. */
function readCommand(cursor: Cursor, parts: Part[], quoted: boolean): void {
  const offset = cursor.at;
  const start = offset + 2;
  cursor.at++;
  const closed = skipParentheses(cursor);
  if (!closed) unended(cursor, offset, 2, 'This command substitution is never closed');
  const text = cursor.text.slice(start, closed ? cursor.at - 1 : cursor.end);
  parts.push({ kind: 'command', text, offset, length: cursor.at - offset, quoted });
}

/** Moves from a `(` behind its `)`, quotes and nesting in mind; false when it never comes. */
export function skipParentheses(cursor: Cursor): boolean {
  cursor.at++;
  let nested = 1;
  let inDouble = false;
  while (cursor.at < cursor.end && nested > 0) {
    const c = cursor.text[cursor.at]!;
    if (c === '\\') cursor.at++;
    else if (c === '"') inDouble = !inDouble;
    else if (c === "'" && !inDouble) cursor.at = find(cursor, "'", cursor.at + 1);
    else if (c === '(') nested++;
    else if (c === ')') nested--;
    cursor.at++;
  }
  cursor.at = Math.min(cursor.at, cursor.end);
  return nested === 0;
}

/** The next `what` from an offset on; the end of what is read where there is none. */
function find(cursor: Cursor, what: string, from: number): number {
  const found = cursor.text.slice(from, cursor.end).indexOf(what);
  return found < 0 ? cursor.end : from + found;
}

function readBackticks(cursor: Cursor, parts: Part[], quoted: boolean): void {
  const offset = cursor.at;
  cursor.at++;
  const start = cursor.at;
  while (cursor.at < cursor.end && cursor.text[cursor.at] !== '`') cursor.at += cursor.text[cursor.at] === '\\' ? 2 : 1;
  cursor.at = Math.min(cursor.at, cursor.end);
  const text = cursor.text.slice(start, cursor.at);
  if (cursor.at < cursor.end) cursor.at++;
  else unended(cursor, offset, 1, 'This backtick is never closed');
  parts.push({ kind: 'command', text, offset, length: cursor.at - offset, quoted });
}
