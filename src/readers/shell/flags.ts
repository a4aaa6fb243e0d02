/**
 * The flags of an expanded command, as argparse reads them: `--flag value`, `--flag=value`, several values, the last
 * one wins. Names are compared with `-` for `_`, since torchrun and many forks take both.
 */

import type { TextRange } from '../../model/source.ts';
import { dropFront } from './slurm.ts';
import {
  literal,
  maybeOf,
  missingOf,
  noteOf,
  type Piece,
  type Pieces,
  rangeOfPieces,
  splitFields,
  textOf,
} from './values.ts';

/** One word of a command: its text, or what is missing, and where it is written. */
export interface Argument {
  readonly text: string | null;
  readonly range: TextRange;
  /** The characters at `range` are the text itself. */
  readonly exact: boolean;
  readonly note: string | null;
  readonly missing: string | null;
  readonly maybe: string | null;
}

export interface Flag {
  /** Without dashes in front, with `-` for `_`. */
  readonly name: string;
  /** As it is written. */
  readonly spelled: string;
  readonly range: TextRange;
  readonly values: readonly Argument[];
  readonly maybe: string | null;
}

export interface Flags {
  /** The last one of each name. */
  readonly byName: ReadonlyMap<string, Flag>;
  /** Expansions in the place of a flag that may hold any flags: what is missing of each. */
  readonly open: readonly { readonly missing: string; readonly kind: 'arguments' | 'variable' | 'value' }[];
}

/** `fallback` is the place of a word whose pieces stand in several places. */
export function argumentOf(pieces: Pieces, fallback: TextRange): Argument {
  const together = rangeOfPieces(pieces);
  const range = together ?? pieces.find((piece) => piece.text !== '')?.range ?? fallback;
  const text = textOf(pieces);
  const told = pieces.filter((piece) => piece.text !== '');
  return {
    text,
    range,
    exact: told.length === 1 && told[0]!.exact,
    note: noteOf(pieces),
    missing: text === null ? (missingOf(pieces) ?? 'a text that is too long') : null,
    maybe: maybeOf(pieces),
  };
}

/** `switches` are the names of flags that take no value. */
export function readFlags(words: readonly Pieces[], switches: ReadonlySet<string>, fallback: TextRange): Flags {
  const byName = new Map<string, Flag>();
  const open: Flags['open'][number][] = [];
  let current: (Flag & { readonly values: Argument[] }) | null = null;
  for (const word of words) {
    const started = flagAt(word, fallback);
    if (started !== null) {
      current = started;
      byName.delete(current.name);
      byName.set(current.name, current);
      if (started.values.length > 0) current = null;
      continue;
    }
    const argument = argumentOf(word, fallback);
    const takesMore = current !== null && !switches.has(current.name);
    // `$DIR/data` is one value; only an expansion that stands alone may hold flags.
    const alone = word.every((piece) => piece.unknown !== null || piece.text === '');
    const kind = alone ? (word.find((piece) => piece.unknown !== null)?.unknown ?? null) : null;
    if (argument.text === null && (!takesMore || current!.values.length > 0 || kind === 'arguments')) {
      open.push({
        missing: argument.missing ?? '',
        kind: kind === 'arguments' || kind === 'variable' ? kind : 'value',
      });
    } else if (takesMore) current!.values.push(argument);
  }
  return { byName, open };
}

/** A flag when the word starts one, with its value after `=`. */
function flagAt(word: Pieces, fallback: TextRange): (Flag & { readonly values: Argument[] }) | null {
  const head = word[0]?.text ?? textOf(word);
  const found = head === null ? null : /^(--?[A-Za-z][\w.-]*)(=?)/.exec(head);
  if (found === null) return null;
  const spelled = found[1]!;
  const rest = found[2] === '=' ? dropFront(word, found[0].length) : null;
  const name = spelled.replace(/^--?/, '').replaceAll('_', '-');
  const argument = argumentOf(word, fallback);
  const range = { ...argument.range, length: Math.min(spelled.length, argument.range.length) };
  return {
    name,
    spelled,
    range,
    values: rest === null ? [] : [argumentOf(rest.length > 0 ? rest : [literal('', range.file, range.offset)], range)],
    maybe: argument.maybe,
  };
}

/**
 * The words of a command line that is given as one text (`bash -c "…"`, `eval "…"`): split at blanks, without the
 * quotes and semicolons around them.
 */
export function wordsOfText(pieces: Pieces): readonly Pieces[] {
  return splitFields(pieces).fields.flatMap((field) => {
    const text = textOf(field);
    if (text === '\\') return [];
    const front = text === null ? 0 : (/^["']*/.exec(text)?.[0].length ?? 0);
    const trimmed = front > 0 ? dropFront(field, front) : field;
    return [dropBack(trimmed).map(unescaped)];
  });
}

/** The other shell takes one level of `\\` off. */
function unescaped(piece: Piece): Piece {
  if (piece.text === null || !piece.text.includes('\\')) return piece;
  return { ...piece, text: piece.text.replace(/\\(.)/gs, '$1'), exact: false };
}

function dropBack(pieces: Pieces): Pieces {
  const last = pieces.at(-1);
  const text = last?.text ?? null;
  if (last === undefined || text === null) return pieces;
  const kept = text.replace(/["';]+$/, '');
  if (kept.length === text.length) return pieces;
  const range = last.exact ? { ...last.range, length: kept.length } : last.range;
  return [...pieces.slice(0, -1), { ...last, text: kept, range }];
}
