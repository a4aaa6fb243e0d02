/**
 * Completion in launch scripts: Megatron's flags where a command or an array of arguments takes one, and the words of
 * those that take only some. Names are the dialect's, as its reader reads them.
 */

import { megatronHelp } from '../../frameworks/megatron-core/key-help.ts';
import { MEGATRON_KEYS, type MegatronKey } from '../../frameworks/megatron-core/keys.ts';
import type { Completion } from '../../model/reading.ts';

/** How a framework spells Megatron's flags; as Megatron does where nothing is said. */
export interface FlagDialect {
  readonly names?: Readonly<Partial<Record<MegatronKey, string>>>;
  readonly spell?: (name: string) => string;
}

interface FlagRow {
  readonly spelled: string;
  readonly about: string;
  readonly words: Readonly<Record<string, string>>;
}

function flagRows({ names, spell }: FlagDialect): readonly FlagRow[] {
  return (Object.keys(MEGATRON_KEYS) as MegatronKey[]).flatMap((key) => {
    const help = megatronHelp(key);
    // Megatron has no flag for the number of microbatches: it follows from the batches.
    if (help === null || (key === 'microbatches' && names?.microbatches === undefined)) return [];
    const name = names?.[key] ?? MEGATRON_KEYS[key].flag;
    return [{ spelled: `--${spell?.(name) ?? name}`, about: help.about, words: help.words ?? {} }];
  });
}

/** Lines of a statement that are looked at. */
const MAX_LINES = 400;
/** What a flag of the training may belong to: a launch, an assignment, or a statement that has such flags already. */
const TAKES_FLAGS =
  /\.py\b|\bmegatron[ \t]|^[ \t]*(?:(?:export|local|readonly|declare)[ \t]+(?:-\w+[ \t]+)?)?[A-Za-z_]\w*\+?=/;

/** What may be typed at `offset` of a script. Never throws. */
export function flagCompletions(text: string, offset: number, dialect: FlagDialect): readonly Completion[] {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const line = text.slice(lineStart, offset);
  if (/(?:^|\s)#/.test(line)) return [];
  const rows = flagRows(dialect);
  const valued = /(?:^|[\s"'(=])(--[\w-]+)(?:=|[ \t]+)["']?([\w.]*)$/.exec(line);
  const row = valued === null ? undefined : rows.find(({ spelled }) => spelled === valued[1]);
  if (valued !== null) return row === undefined ? [] : wordItems(row, text, offset, valued[2]!.length);
  const typed = /(?:^|[\s"'(=])(--?[\w-]*)$/.exec(line)?.[1];
  if (typed === undefined) return [];
  const { before, after } = statementAt(text, lineStart, offset);
  const place = placed(text, offset, typed.length, /^[\w-]*/);
  const rest = before.slice(0, before.length - typed.length) + after.replace(/^[\w-]*/, '');
  const given = ({ spelled }: FlagRow): boolean => new RegExp(`${spelled}(?![\\w-])`).test(rest);
  if (!TAKES_FLAGS.test(before) && !rows.some(given)) return [];
  return rows
    .filter((row) => !given(row))
    .map(({ spelled, about }) => ({
      kind: 'key',
      label: spelled,
      insertText: spelled,
      documentation: about,
      ...place,
    }));
}

function wordItems({ words }: FlagRow, text: string, offset: number, typed: number): readonly Completion[] {
  const place = placed(text, offset, typed, /^[\w.]*/);
  return Object.entries(words).map(([word, meaning]) => ({
    kind: 'value',
    label: word,
    insertText: word,
    documentation: meaning,
    ...place,
  }));
}

function placed(text: string, offset: number, typed: number, rest: RegExp) {
  const after = rest.exec(text.slice(offset, offset + 100))![0].length;
  return { offset: offset - typed, length: typed + after };
}

/**
 * The statement around the cursor, in its two halves: lines that a backslash continues, and, within the parentheses or
 * quotes that an assignment opens, all lines of them.
 */
function statementAt(
  text: string,
  lineStart: number,
  offset: number,
): { readonly before: string; readonly after: string } {
  let continued: number | null = null;
  let start = lineStart;
  for (let line = 0; line < MAX_LINES && start > 0; line++) {
    const previous = text.lastIndexOf('\n', start - 2) + 1;
    const above = text.slice(previous, start).trimEnd();
    const close = closeOf(above);
    if (close !== null) {
      const end = text.indexOf(close, offset);
      return { before: text.slice(previous, offset), after: text.slice(offset, end < 0 ? offset : end) };
    }
    if (!above.endsWith('\\')) {
      continued ??= start;
      if (!WITHIN.test(above)) break;
    }
    start = previous;
  }
  const after = /^(?:[^\n]*\\\r?\n){0,400}[^\n]*/.exec(text.slice(offset, offset + 40_000))![0];
  return { before: text.slice(continued ?? start, offset), after };
}

/** A line as it stands within an array of flags. */
const WITHIN = /^[ \t]*(?:--[\w-]|"?\$[{(]?\w|#|$)/;

/** What closes the parenthesis or quote that an assignment's line leaves open; null where it opens none. */
function closeOf(line: string): string | null {
  const opened = /^[ \t]*(?:\w+[ \t]+)*[A-Za-z_]\w*\+?=(\(|"|')(.*)$/.exec(line);
  if (opened === null) return null;
  const close = opened[1] === '(' ? ')' : opened[1]!;
  return opened[2]!.includes(close) ? null : close;
}
