/**
 * `key=value` words of an expanded command, as Hydra (`a.b=1`, `+a.b=1`, `++a.b=1`, `~a.b`) and MaxText (`a=1`) read
 * them: the last one of a key counts.
 */

import type { TextRange } from '../../model/source.ts';
import { type Argument, argumentOf, type Flags } from './flags.ts';
import { dropFront } from './slurm.ts';
import { literal, type Pieces } from './values.ts';

export interface Override {
  readonly key: string;
  /** As it is written, with what stands in front: `+a.b`. */
  readonly spelled: string;
  readonly range: TextRange;
  readonly value: Argument;
}

export interface Overrides {
  readonly byKey: ReadonlyMap<string, Override>;
  /** Expansions that may hold any overrides. */
  readonly open: Flags['open'];
}

const HEAD = /^(?:\+{1,2}|~)?([A-Za-z_][\w.]*(?:@[\w.]+)?)=/;

/** `fallback` is the place of a word whose pieces stand in several places. */
export function readOverrides(words: readonly Pieces[], fallback: TextRange): Overrides {
  const byKey = new Map<string, Override>();
  const open: Flags['open'][number][] = [];
  for (const word of words) {
    const head = word[0]?.text ?? '';
    const found = HEAD.exec(head);
    if (found !== null) {
      const { range } = word[0]!;
      const spelled = found[0].slice(0, -1);
      const rest = dropFront(word, found[0].length);
      const value = argumentOf(rest.length > 0 ? rest : [literal('', range.file, range.offset)], range);
      byKey.set(found[1]!, {
        key: found[1]!,
        spelled,
        range: { ...range, length: Math.min(spelled.length, range.length) },
        value,
      });
      continue;
    }
    const alone = word.every((piece) => piece.unknown !== null || piece.text === '');
    const kind = alone ? (word.find((piece) => piece.unknown !== null)?.unknown ?? null) : null;
    if (kind === 'arguments' || kind === 'variable')
      open.push({ missing: argumentOf(word, fallback).missing ?? '', kind });
  }
  return { byKey, open };
}
