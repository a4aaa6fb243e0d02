/**
 * Which statement of a broken TOML text is to blame. The parser reports where it could not go on, which is often the
 * line after the half-typed one (`pp =`, `[par`, an array without its end).
 */

/** Whole lines, the last line break excluded. */
interface Lines {
  readonly start: number;
  readonly end: number;
}

/** What to blank, and the statement in it that is to blame. */
export interface Broken extends Lines {
  readonly blame: Lines;
}

const HEADER = /^\s*\[\[?\s*([\w"'.\- ]*?)\s*(?:\]\]?\s*(?:#.*)?)?$/;
const WHOLE_HEADER = /^\s*(?:\[[^[\]]+\]|\[\[[^[\]]+\]\])\s*(?:#.*)?$/;
const STATEMENT = /^\s*[\w"'.\- ]+=/;
const LONG_QUOTE = /"""|'''/;

/** The line that holds an offset. */
function lineAt(text: string, offset: number): Lines {
  const start = offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
  const newline = text.indexOf('\n', offset);
  return { start, end: newline < 0 ? text.length : newline };
}

function lineBefore(text: string, line: Lines): Lines | null {
  return line.start === 0 ? null : lineAt(text, line.start - 1);
}

function slice(text: string, line: Lines): string {
  return text.slice(line.start, line.end);
}

/** The nearest line above that fits, blank lines and comments passed over where asked. */
function above(text: string, line: Lines, fits: (content: string) => boolean): Lines | null {
  for (let at = lineBefore(text, line); at !== null; at = lineBefore(text, at)) {
    if (fits(slice(text, at))) return at;
  }
  return null;
}

/** A broken header takes its whole section with it: its keys must not end up in the section before. */
function withSection(text: string, blame: Lines): Broken {
  if (!HEADER.test(slice(text, lineAt(text, blame.start)))) return { ...blame, blame };
  let end = blame.end;
  while (end < text.length) {
    const line = lineAt(text, end + 1);
    if (HEADER.test(slice(text, line)) || line.end <= end) break;
    end = line.end;
  }
  return { start: blame.start, end, blame };
}

/**
 * Statements that may be to blame for an error at `offset`, the likeliest first; at least one, none of them empty. A
 * whole header can only be at fault when it is given `twice`.
 */
export function brokenCandidates(text: string, offset: number, twice: boolean): readonly Broken[] {
  const line = lineAt(text, offset);
  const out: Lines[] = [];
  const content = slice(text, line).trim();
  const before = above(text, line, (other) => other.trim() !== '' && !other.trim().startsWith('#'));
  const atStart = text.slice(line.start, offset).trim() === '';
  const blamable = (each: Lines) => twice || !WHOLE_HEADER.test(slice(text, each));
  if (content !== '' && blamable(line)) out.push(line);
  // Only an error at the start of a line can be the fault of the one before.
  if (before !== null && (atStart || content === '')) {
    const opening = above(text, line, (other) => STATEMENT.test(other) || HEADER.test(other));
    if (blamable(before)) out.push(before);
    if (opening !== null && opening.start < before.start && blamable(opening)) {
      out.push({ start: opening.start, end: before.end });
    }
  }
  const quote = LONG_QUOTE.test(slice(text, line)) ? null : above(text, line, (other) => LONG_QUOTE.test(other));
  if (quote !== null) out.push(quote);
  if (out.length === 0) out.push({ start: 0, end: text.length });
  return out.map((blame) => withSection(text, blame));
}

/** The text with a range turned into spaces; line breaks stay. */
export function blank(text: string, start: number, end: number): string {
  return text.slice(0, start) + text.slice(start, end).replace(/[^\r\n]/g, ' ') + text.slice(end);
}

/** The section that an offset stands in: its name and where its header line starts; the empty name at the top. */
export function sectionAt(text: string, offset: number): { readonly name: string; readonly start: number } {
  const line = lineAt(text, offset);
  const header = HEADER.test(slice(text, line)) ? line : above(text, line, (other) => HEADER.test(other));
  if (header === null) return { name: '', start: 0 };
  return { name: HEADER.exec(slice(text, header))![1]!, start: header.start };
}

/** The key of a broken statement, and the section that it stands in. */
export interface HalfWritten {
  readonly section: string;
  readonly key: string;
  readonly offset: number;
}

const BARE_KEY = /^[ \t]*([\w-]+)[ \t]*=/;

/** The statement at the start of a line; null where it has no plain key. */
export function halfWritten(text: string, start: number): HalfWritten | null {
  const found = BARE_KEY.exec(text.slice(start, start + 200));
  if (found === null) return null;
  return { section: sectionAt(text, start).name, key: found[1]!, offset: start + found[0].indexOf(found[1]!) };
}
