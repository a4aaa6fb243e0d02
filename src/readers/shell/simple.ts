/**
 * Simple commands of a shell script: words, assignments, arrays with comments inside, redirections and heredocs, and
 * the blanks and comments between them. What has no place is skipped.
 */

import type { Assignment, Directive, Heredoc, SimpleStatement, Word } from './syntax.ts';
import { literalText } from './syntax.ts';
import { type Cursor, continuation, peek, readWord, skipParentheses, startsWith } from './words.ts';

const DECLARATORS = new Set(['export', 'local', 'declare', 'readonly', 'typeset']);
const ASSIGNMENT = /[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]\n]{0,80}\])?\+?=/y;
const REDIRECTION = /(?:[0-9]*|&)(?:<<<|<<-?|<>|<&|>&|>>|>\||<|>)/y;

interface Pending {
  readonly delimiter: string;
  readonly literal: boolean;
  readonly stripTabs: boolean;
  readonly into: Heredoc[];
}

export interface Reader {
  readonly cursor: Cursor;
  readonly directives: Directive[];
  readonly pending: Pending[];
  depth: number;
}

export function match(cursor: Cursor, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.text);
  return found !== null && cursor.at + found[0].length <= cursor.end ? found : null;
}

export type Base = Pick<SimpleStatement, 'connector' | 'negated' | 'offset'>;

/** Blanks, continuations and comments; line ends too where they mean nothing more. */
export function skipBlanks(reader: Reader, lines: boolean): void {
  const { cursor } = reader;
  while (cursor.at < cursor.end) {
    const c = cursor.text[cursor.at];
    const skipped = continuation(cursor);
    if (c === ' ' || c === '\t' || c === '\r') cursor.at++;
    else if (skipped > 0) cursor.at += skipped;
    else if (c === '#') readComment(reader);
    else if (c === '\n' && lines) {
      cursor.at++;
      readHeredocs(reader);
    } else return;
  }
}

function readComment({ cursor, directives }: Reader): void {
  const start = cursor.at;
  while (cursor.at < cursor.end && cursor.text[cursor.at] !== '\n') cursor.at++;
  if (cursor.text.startsWith('#SBATCH', start)) {
    directives.push({ text: cursor.text.slice(start + 7, cursor.at), offset: start + 7 });
  }
}

function readHeredocs({ cursor, pending }: Reader): void {
  for (const { delimiter, literal, stripTabs, into } of pending.splice(0)) {
    const start = cursor.at;
    let end = cursor.end;
    while (cursor.at < cursor.end) {
      const lineStart = cursor.at;
      const found = cursor.text.slice(lineStart, cursor.end).indexOf('\n');
      const lineEnd = found < 0 ? cursor.end : lineStart + found;
      cursor.at = Math.min(lineEnd + 1, cursor.end);
      const line = cursor.text.slice(lineStart, lineEnd).replace(/\r$/, '');
      if ((stripTabs ? line.replace(/^\t+/, '') : line) === delimiter) {
        end = lineStart;
        break;
      }
    }
    into.push({ start, end, literal });
  }
}

/** Words up to the end of the line or an operator. */
export function readWords(reader: Reader): readonly Word[] {
  const words: Word[] = [];
  for (;;) {
    skipBlanks(reader, false);
    const word = readWord(reader.cursor);
    if (word === null) return words;
    words.push(word);
  }
}

export function skipRedirections(reader: Reader): void {
  const heredocs: Heredoc[] = [];
  do skipBlanks(reader, false);
  while (readRedirection(reader, heredocs));
}

/** A redirection at the cursor with its target; heredocs are remembered for the end of the line. */
function readRedirection(reader: Reader, heredocs: Heredoc[]): boolean {
  const { cursor } = reader;
  const found = match(cursor, REDIRECTION);
  if (found === null) return false;
  cursor.at += found[0].length;
  // `>(…)` and `<(…)` stand where a word does.
  if (peek(cursor) === '(') {
    skipParentheses(cursor);
    return true;
  }
  skipBlanks(reader, false);
  const target = readWord(cursor);
  if (target !== null && /<<-?$/.test(found[0]) && !found[0].endsWith('<<<')) {
    const literal = /["'\\]/.test(cursor.text.slice(target.offset, target.offset + target.length));
    const delimiter = literalText(target) ?? cursor.text.slice(target.offset, target.offset + target.length);
    reader.pending.push({ delimiter, literal, stripTabs: found[0].endsWith('-'), into: heredocs });
  }
  return true;
}

export function readSimple(reader: Reader, base: Base): SimpleStatement | null {
  const { cursor } = reader;
  const assignments: Assignment[] = [];
  const words: Word[] = [];
  const heredocs: Heredoc[] = [];
  let declares = false;
  let tests = false;
  for (;;) {
    skipBlanks(reader, false);
    const c = peek(cursor);
    if (c === undefined || c === '\n') break;
    if (tests) {
      const word = readWord(cursor) ?? readTestOperator(cursor);
      words.push(word);
      if (literalText(word) === ']]') tests = false;
      continue;
    }
    if (readRedirection(reader, heredocs)) continue;
    const assignment = words.length === 0 || declares ? match(cursor, ASSIGNMENT) : null;
    if (assignment !== null) {
      assignments.push(readAssignment(reader, assignment[0]));
      continue;
    }
    const word = readWord(cursor);
    if (word === null) break;
    if (words.length === 0) {
      const name = literalText(word) ?? '';
      declares = DECLARATORS.has(name);
      tests = name === '[[';
    }
    words.push(word);
  }
  return assignments.length + words.length + heredocs.length + reader.pending.length === 0
    ? null
    : { kind: 'simple', ...base, assignments, words, heredocs };
}

/** Inside `[[ … ]]` operators are words. */
function readTestOperator(cursor: Cursor): Word {
  const offset = cursor.at;
  const twice = startsWith(cursor, '&&') || startsWith(cursor, '||');
  cursor.at = Math.min(cursor.at + (twice ? 2 : 1), cursor.end);
  const text = cursor.text.slice(offset, cursor.at);
  return { parts: [{ kind: 'text', text, offset, quoted: false }], offset, length: text.length };
}

function readAssignment(reader: Reader, head: string): Assignment {
  const { cursor } = reader;
  const offset = cursor.at;
  cursor.at += head.length;
  const index = head.indexOf('[');
  const append = head[head.length - 2] === '+';
  const name = head.slice(0, index >= 0 ? index : head.length - (append ? 2 : 1));
  const value =
    peek(cursor) === '(' ? readArray(reader) : (readWord(cursor) ?? { parts: [], offset: cursor.at, length: 0 });
  return { name, element: index >= 0, append, value, offset };
}

/** `( … )` over lines, with comments. A missing end takes what is there. */
function readArray(reader: Reader): readonly Word[] {
  const { cursor } = reader;
  const open = cursor.at;
  const words: Word[] = [];
  cursor.at++;
  for (;;) {
    skipBlanks(reader, true);
    const word = readWord(cursor);
    if (word !== null) {
      words.push(word);
      continue;
    }
    const c = peek(cursor);
    if (c === ')') {
      cursor.at++;
      return words;
    }
    if (c === undefined) {
      cursor.problems.push({ message: 'This array is never closed', offset: open, length: 1 });
      return words;
    }
    // `[0]=x`, `<`, `;` and the like have no place here.
    cursor.at++;
  }
}
