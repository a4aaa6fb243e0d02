/**
 * Statements of a shell script, read tolerantly: commands with their assignments, arrays with comments inside, `if`,
 * `case`, loops, functions, groups and heredocs. What does not fit the grammar is skipped, so that a script that is
 * being typed still gives every word it has. One pass; nesting deeper than MAX_DEPTH is read flat.
 */

import { MAX_DEPTH } from '../limits.ts';
import { type Base, match, type Reader, readSimple, readWords, skipBlanks, skipRedirections } from './simple.ts';
import type { Connector, Script, ShellProblem, Statement, Word } from './syntax.ts';
import { literalText } from './syntax.ts';
import { type Cursor, isMeta, peek, readUntilDoubleParenthesis, readWord, startsWith } from './words.ts';

const FUNCTION_HEAD = /(?:function[ \t]+)?([A-Za-z_][A-Za-z0-9_:.-]*)[ \t]*\([ \t]*\)[ \t\r\n]*(?=[{(])/y;
const FUNCTION_WORD = /function[ \t]+([A-Za-z_][A-Za-z0-9_:.-]*)[ \t\r\n]*(?=[{(])/y;
/** Words that end a list of statements. */
const CLOSERS = new Set(['then', 'elif', 'else', 'fi', 'do', 'done', 'esac', '}', ')', ';;', ';&', ';;&']);

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
    readInto(statements, reader);
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

function readList(reader: Reader): readonly Statement[] {
  const statements: Statement[] = [];
  readInto(statements, reader);
  return statements;
}

/** Statements up to a closing word, which stays unread. */
function readInto(statements: Statement[], reader: Reader): void {
  let connector: Connector = ';';
  for (;;) {
    skipBlanks(reader, true);
    const operator = readOperator(reader);
    if (operator !== null) {
      connector = operator;
      continue;
    }
    if (reader.cursor.at >= reader.cursor.end || closerAt(reader) !== null) return;
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
