/**
 * Where a cursor stands in half-typed YAML: by indentation and open braces alone, since a parser has no answer for
 * text that is not there yet. Covers what plans are written in: block and flow maps, lists, quotes and comments.
 */

/** `path` are the keys around the cursor; `[]` is an entry of a list. */
export interface Cursor {
  readonly path: readonly string[];
  readonly place: 'key' | 'value';
  /** The word that the cursor stands in. */
  readonly start: number;
  readonly end: number;
  /** Inside braces. */
  readonly flow: boolean;
}

interface Level {
  readonly indent: number;
  readonly key: string;
}

interface Open {
  readonly bracket: '{' | '[';
  key: string | null;
}

/** null in a comment, in a quoted text that is no key or value of its own, or after a finished value. */
export function yamlCursor(text: string, position: number): Cursor | null {
  const offset = Math.min(Math.max(0, position), text.length);
  const levels: Level[] = [];
  let lineStart = 0;
  while (true) {
    const line = readLine(text, lineStart, offset, levels);
    if (line.cursor !== undefined) return line.cursor;
    lineStart = line.next;
  }
}

interface Line {
  /** Given once the cursor's line is reached. */
  readonly cursor?: Cursor | null;
  readonly next: number;
}

const ENTRY = /^("(?:[^"\\]|\\.)*"|'[^']*'|[^\s#'"{}[\],:][^:#{}[\],]*?)[ \t]*:(?=[ \t]|[\r\n]|$)/;

/** Reads one block line and what it opens; `levels` become those that the next line may stand in. */
function readLine(text: string, start: number, offset: number, levels: Level[]): Line {
  const end = endOfLine(text, start);
  const here = offset <= end;
  let at = start + (text[start] === '\uFEFF' ? 1 : 0);
  at += blanks(text, at);
  if (here && at >= offset) return { cursor: keyCursor(text, offset, levels, offset - start), next: end };
  if (at >= end || text[at] === '#') return here ? { cursor: null, next: end } : { next: afterBreak(text, end) };
  while (text[at] === '-' && /^-(?:[ \t]|[\r\n]|$)/.test(text.slice(at, at + 2))) {
    const indent = at - start;
    while (levels.length > 0 && closesBefore(levels.at(-1)!, indent)) levels.pop();
    levels.push({ indent, key: '[]' });
    at += 1 + blanks(text, at + 1);
    if (here && at >= offset) return { cursor: keyCursor(text, offset, levels, offset - start), next: end };
  }
  const indent = at - start;
  const entry = ENTRY.exec(text.slice(at, Math.min(end, at + 200)));
  let value = at;
  if (entry !== null) {
    const afterColon = at + entry[0].length;
    if (here && offset < afterColon) return { cursor: keyCursor(text, offset, levels, indent), next: end };
    while (levels.length > 0 && levels.at(-1)!.indent >= indent) levels.pop();
    levels.push({ indent, key: unquoted(entry[1]!) });
    value = afterColon + blanks(text, afterColon);
  } else if (here && !/[{[]/.test(text[at] ?? '')) {
    return { cursor: keyCursor(text, offset, levels, indent), next: end };
  }
  if (text[value] === '{' || text[value] === '[') return readFlow(text, value, offset, levels);
  if (!here) return { next: afterBreak(text, end) };
  return { cursor: wordCursor(text, offset, pathOf(levels), 'value', false), next: end };
}

/** A list entry may stand as far left as the key that it belongs to. */
function closesBefore(level: Level, indent: number): boolean {
  return level.indent > indent || (level.indent === indent && level.key === '[]');
}

function keyCursor(text: string, offset: number, levels: readonly Level[], indent: number): Cursor | null {
  const kept = levels.filter((level) => level.indent < indent);
  return wordCursor(text, offset, pathOf(kept), 'key', false);
}

/** Reads from an open bracket to where it is closed, or to the cursor. */
function readFlow(text: string, start: number, offset: number, levels: readonly Level[]): Line {
  const open: Open[] = [];
  const path = () => [...pathOf(levels), ...open.flatMap(keysOf)];
  for (let at = start; at < offset && at < text.length; at++) {
    const c = text[at]!;
    const top = open.at(-1);
    if (c === '"' || c === "'") {
      const close = text.indexOf(c, at + 1);
      if (close < 0 || close >= offset) return { cursor: flowCursor(text, offset, path(), top), next: offset };
      at = close;
    } else if (c === '#' && /\s/.test(text[at - 1] ?? ' ')) {
      const end = endOfLine(text, at);
      if (end >= offset) return { cursor: null, next: offset };
      at = end;
    } else if (c === '{' || c === '[') {
      open.push({ bracket: c, key: null });
    } else if (c === '}' || c === ']') {
      open.pop();
      if (open.length === 0)
        return offset <= endOfLine(text, at)
          ? { cursor: null, next: offset }
          : { next: afterBreak(text, endOfLine(text, at)) };
    } else if (c === ',' && top !== undefined) {
      top.key = null;
    } else if (c === ':' && top !== undefined && top.key === null && /[\s"'{[,}]/.test(text[at + 1] ?? ' ')) {
      top.key = keyBefore(text, at);
    }
  }
  return { cursor: flowCursor(text, offset, path(), open.at(-1)), next: offset };
}

function keysOf(level: Open): readonly string[] {
  return level.bracket === '[' ? ['[]'] : level.key === null ? [] : [level.key];
}

function flowCursor(text: string, offset: number, path: readonly string[], top: Open | undefined): Cursor | null {
  if (top === undefined || top.bracket === '[') return null;
  return wordCursor(text, offset, path, top.key === null ? 'key' : 'value', true);
}

function keyBefore(text: string, colon: number): string {
  const found = /("(?:[^"\\]|\\.)*"|'[^']*'|[^\s{}[\],:"']+)[ \t]*$/.exec(text.slice(Math.max(0, colon - 200), colon));
  return unquoted(found?.[1] ?? '');
}

function wordCursor(
  text: string,
  offset: number,
  path: readonly string[],
  place: 'key' | 'value',
  flow: boolean,
): Cursor | null {
  let start = offset;
  while (start > 0 && /[\w.\-"']/.test(text[start - 1]!)) start--;
  let end = offset;
  while (end < text.length && /[\w.\-"']/.test(text[end]!)) end++;
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  if (/(^|\s)#/.test(text.slice(lineStart, start))) return null;
  return { path, place, start, end, flow };
}

function pathOf(levels: readonly Level[]): readonly string[] {
  return levels.map((level) => level.key);
}

function unquoted(key: string): string {
  return /^["']/.test(key) ? key.slice(1, -1) : key.trim();
}

function blanks(text: string, at: number): number {
  let end = at;
  while (text[end] === ' ' || text[end] === '\t') end++;
  return end - at;
}

function endOfLine(text: string, at: number): number {
  let end = at;
  while (end < text.length && text[end] !== '\n' && text[end] !== '\r') end++;
  return end;
}

function afterBreak(text: string, end: number): number {
  return text.startsWith('\r\n', end) ? end + 2 : end + 1;
}
