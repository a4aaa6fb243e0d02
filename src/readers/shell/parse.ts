/**
 * Statements of a shell script, read tolerantly: commands with their assignments, arrays with comments inside, `if`,
 * `case`, loops, functions, groups and heredocs. What does not fit the grammar is skipped, so that a script that is
 * being typed still gives every word it has. One pass; nesting deeper than MAX_DEPTH is read flat.
 */

import { MAX_DEPTH } from '../limits.ts';
import type {
  Assignment,
  Connector,
  Directive,
  Heredoc,
  Script,
  ShellProblem,
  SimpleStatement,
  Statement,
  Word,
} from './syntax.ts';
import { literalText } from './syntax.ts';
import { type Cursor, continuation, isMeta, peek, readUntilDoubleParenthesis, readWord, startsWith } from './words.ts';

const DECLARATORS = new Set(['export', 'local', 'declare', 'readonly', 'typeset']);
const ASSIGNMENT = /[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]\n]{0,80}\])?\+?=/y;
const FUNCTION_HEAD = /(?:function[ \t]+)?([A-Za-z_][A-Za-z0-9_:.-]*)[ \t]*\([ \t]*\)[ \t\r\n]*(?=[{(])/y;
const FUNCTION_WORD = /function[ \t]+([A-Za-z_][A-Za-z0-9_:.-]*)[ \t\r\n]*(?=[{(])/y;
const REDIRECTION = /(?:[0-9]*|&)(?:<<<|<<-?|<>|<&|>&|>>|>\||<|>)/y;
/** Words that end a list of statements. */
const CLOSERS = new Set(['then', 'elif', 'else', 'fi', 'do', 'done', 'esac', '}', ')', ';;', ';&', ';;&']);

interface Pending {
  readonly delimiter: string;
  readonly literal: boolean;
  readonly stripTabs: boolean;
  readonly into: Heredoc[];
}

interface Reader {
  readonly cursor: Cursor;
  readonly directives: Directive[];
  readonly pending: Pending[];
  depth: number;
}

/** Reads `text` from `start` to `end`. Offsets count in the whole text. Never throws. */
export function parseShell(text: string, start = 0, end = text.length, inHeredoc = false): Script {
  const problems: ShellProblem[] = [];
  const at = start === 0 && text.charCodeAt(0) === 0xfeff ? 1 : start;
  const reader: Reader = {
    cursor: { text, end, at, inHeredoc, problems, depth: 0 },
    directives: [],
    pending: [],
    depth: 0,
  };
  const statements: Statement[] = [];
  while (reader.cursor.at < end) {
    const before = reader.cursor.at;
    statements.push(...readList(reader));
    skipStray(reader);
    if (reader.cursor.at === before) reader.cursor.at++;
  }
  return { statements, directives: reader.directives, problems };
}

/** A closing word that nothing opened. */
function skipStray(reader: Reader): void {
  const closer = closerAt(reader);
  if (closer !== null) reader.cursor.at += closer.length;
}

/** Statements up to a closing word, which stays unread. */
function readList(reader: Reader): Statement[] {
  const statements: Statement[] = [];
  let connector: Connector = ';';
  for (;;) {
    skipBlanks(reader, true);
    const operator = readOperator(reader);
    if (operator !== null) {
      connector = operator;
      continue;
    }
    if (reader.cursor.at >= reader.cursor.end || closerAt(reader) !== null) return statements;
    const before = reader.cursor.at;
    const statement = readStatement(reader, connector);
    if (statement !== null) statements.push(statement);
    if (reader.cursor.at === before) reader.cursor.at++;
    connector = ';';
  }
}

/** The operator at the cursor, read; null where there is none. */
function readOperator({ cursor }: Reader): Connector | null {
  const c = peek(cursor);
  if (c === ';' && peek(cursor, 1) !== ';' && peek(cursor, 1) !== '&') {
    cursor.at++;
    return ';';
  }
  if (c === '&') {
    const twice = peek(cursor, 1) === '&';
    cursor.at += twice ? 2 : 1;
    return twice ? '&&' : ';';
  }
  if (c === '|') {
    const twice = peek(cursor, 1) === '|';
    cursor.at += twice || peek(cursor, 1) === '&' ? 2 : 1;
    return twice ? '||' : '|';
  }
  return null;
}

/** Blanks, continuations and comments; line ends too where they mean nothing more. */
function skipBlanks(reader: Reader, lines: boolean): void {
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

/** The closing word at the cursor; null where there is none. */
function closerAt({ cursor }: Reader): string | null {
  const c = peek(cursor);
  if (c === ')') return ')';
  if (c === ';') return [';;&', ';;', ';&'].find((each) => startsWith(cursor, each)) ?? null;
  if (c === '}') return isMeta(peek(cursor, 1)) ? '}' : null;
  const word = keywordAt(cursor);
  return word !== null && CLOSERS.has(word) ? word : null;
}

const KEYWORD = /[a-z]{2,8}/y;

/** A bare lower-case word at the cursor that could be a keyword. */
function keywordAt(cursor: Cursor): string | null {
  KEYWORD.lastIndex = cursor.at;
  const word = KEYWORD.exec(cursor.text)?.[0];
  return word !== undefined && isMeta(peek(cursor, word.length)) ? word : null;
}

function match(cursor: Cursor, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.text);
  return found !== null && cursor.at + found[0].length <= cursor.end ? found : null;
}

function readStatement(reader: Reader, connector: Connector): Statement | null {
  const { cursor } = reader;
  const offset = cursor.at;
  let negated = false;
  if (peek(cursor) === '!' && isMeta(peek(cursor, 1))) {
    negated = true;
    cursor.at++;
    skipBlanks(reader, false);
  }
  const base = { connector, negated, offset };
  if (reader.depth >= MAX_DEPTH) return readSimple(reader, base);
  reader.depth++;
  const statement = readCompound(reader, base) ?? readSimple(reader, base);
  reader.depth--;
  return statement;
}

type Base = Pick<SimpleStatement, 'connector' | 'negated' | 'offset'>;

function readCompound(reader: Reader, base: Base): Statement | null {
  const { cursor } = reader;
  if (startsWith(cursor, '((')) {
    cursor.at += 2;
    return { kind: 'arithmetic', ...base, parts: readUntilDoubleParenthesis(cursor, cursor.at - 2, 2) };
  }
  if (peek(cursor) === '(' || (peek(cursor) === '{' && isMeta(peek(cursor, 1)))) {
    return { kind: 'group', ...base, body: readGroup(reader) };
  }
  const head = match(cursor, FUNCTION_HEAD) ?? match(cursor, FUNCTION_WORD);
  if (head !== null) {
    cursor.at += head[0].length;
    return { kind: 'function', ...base, name: head[1] ?? '', body: readGroup(reader) };
  }
  switch (keywordAt(cursor)) {
    case 'if':
      return readIf(reader, base);
    case 'case':
      return readCase(reader, base);
    case 'for':
    case 'select':
      return readFor(reader, base);
    case 'while':
    case 'until':
      return readWhile(reader, base);
    default:
      return null;
  }
}

/** `{ … }` or `( … )` at the cursor. */
function readGroup(reader: Reader): readonly Statement[] {
  const close = peek(reader.cursor) === '(' ? ')' : '}';
  reader.cursor.at++;
  const body = readList(reader);
  if (closerAt(reader) === close) reader.cursor.at++;
  skipRedirections(reader);
  return body;
}

/** Reads the keyword when it stands at the cursor. */
function take(reader: Reader, keyword: string): boolean {
  skipBlanks(reader, true);
  if (keywordAt(reader.cursor) !== keyword) return false;
  reader.cursor.at += keyword.length;
  return true;
}

function readIf(reader: Reader, base: Base): Statement {
  const arms: { condition: readonly Statement[]; body: readonly Statement[] }[] = [];
  let otherwise: readonly Statement[] = [];
  reader.cursor.at += 2;
  for (;;) {
    const condition = readList(reader);
    take(reader, 'then');
    arms.push({ condition, body: readList(reader) });
    if (take(reader, 'elif')) continue;
    if (take(reader, 'else')) otherwise = readList(reader);
    take(reader, 'fi');
    skipRedirections(reader);
    return { kind: 'if', ...base, arms, otherwise };
  }
}

function readCase(reader: Reader, base: Base): Statement | null {
  const { cursor } = reader;
  cursor.at += 4;
  skipBlanks(reader, true);
  const subject = readWord(cursor);
  if (subject === null || !take(reader, 'in')) return null;
  const arms: { patterns: readonly Word[]; body: readonly Statement[] }[] = [];
  for (;;) {
    skipBlanks(reader, true);
    if (cursor.at >= cursor.end || take(reader, 'esac')) return { kind: 'case', ...base, subject, arms };
    const before = cursor.at;
    const patterns = readPatterns(reader);
    const body = readList(reader);
    const closer = closerAt(reader);
    if (closer?.startsWith(';')) cursor.at += closer.length;
    else if (closer !== null && closer !== 'esac') cursor.at += closer.length;
    arms.push({ patterns, body });
    if (cursor.at === before) cursor.at++;
  }
}

function readPatterns(reader: Reader): readonly Word[] {
  const { cursor } = reader;
  const patterns: Word[] = [];
  if (peek(cursor) === '(') cursor.at++;
  for (;;) {
    skipBlanks(reader, false);
    const word = readWord(cursor);
    if (word !== null) patterns.push(word);
    skipBlanks(reader, false);
    if (peek(cursor) === '|') cursor.at++;
    else {
      if (peek(cursor) === ')') cursor.at++;
      return patterns;
    }
  }
}

function readFor(reader: Reader, base: Base): Statement {
  const { cursor } = reader;
  cursor.at += keywordAt(cursor)?.length ?? 0;
  skipBlanks(reader, false);
  let variable: string | null = null;
  let items: readonly Word[] = [];
  if (startsWith(cursor, '((')) {
    cursor.at += 2;
    readUntilDoubleParenthesis(cursor, cursor.at - 2, 2);
  } else {
    const name = readWord(cursor);
    variable = name === null ? null : literalText(name);
    if (take(reader, 'in')) items = readWords(reader);
  }
  return { kind: 'loop', ...base, variable, items, body: readLoopBody(reader) };
}

function readWhile(reader: Reader, base: Base): Statement {
  reader.cursor.at += 5;
  readList(reader);
  return { kind: 'loop', ...base, variable: null, items: [], body: readLoopBody(reader) };
}

function readLoopBody(reader: Reader): readonly Statement[] {
  skipBlanks(reader, true);
  while (readOperator(reader) !== null) skipBlanks(reader, true);
  take(reader, 'do');
  const body = readList(reader);
  take(reader, 'done');
  skipRedirections(reader);
  return body;
}

/** Words up to the end of the line or an operator. */
function readWords(reader: Reader): readonly Word[] {
  const words: Word[] = [];
  for (;;) {
    skipBlanks(reader, false);
    const word = readWord(reader.cursor);
    if (word === null) return words;
    words.push(word);
  }
}

function skipRedirections(reader: Reader): void {
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
  if (peek(cursor) === '(' && reader.depth < MAX_DEPTH) {
    reader.depth++;
    readGroup(reader);
    reader.depth--;
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

function readSimple(reader: Reader, base: Base): SimpleStatement | null {
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
  const name = head.replace(/[[+=].*$/s, '');
  const base = { name, element: head.includes('['), append: head.endsWith('+='), offset };
  if (peek(cursor) === '(') return { ...base, value: readArray(reader) };
  const word = readWord(cursor);
  return { ...base, value: word ?? { parts: [], offset: cursor.at, length: 0 } };
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
