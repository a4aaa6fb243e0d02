/** Where a value comes from, in a few words: for the hover, the explanation and the terminal. */

import { exhaustive } from '../model/exhaustive.ts';
import { lineStarts, positionAt } from '../model/position.ts';
import type { Texts } from '../model/reading.ts';
import type { Source, Sourced, TextRange } from '../model/source.ts';

/** "pp 8 (line 14)"; "gpus ?" with what is missing. */
export function valueText(name: string, sourced: Sourced<unknown>, texts: Texts, home: string): string {
  const shown = sourced.value === null ? '?' : String(sourced.value);
  return `${name} ${shown} (${sourceText(sourced.source, texts, home)})`;
}

function sourceText(source: Source, texts: Texts, home: string): string {
  switch (source.kind) {
    case 'text':
      return `${rangeText(source.range, texts, home)}${source.note === undefined ? '' : `, ${source.note}`}`;
    case 'default':
      return `default: ${source.why}`;
    case 'derived':
      return `= ${source.how}`;
    case 'assumed':
      return `assumed by ${source.by}`;
    case 'measured':
      return `measured: ${source.how}`;
    case 'estimated':
      return `estimated: ${source.how}`;
    case 'unknown':
      return `not known: ${source.missing}`;
    default:
      return exhaustive(source);
  }
}

/** "line 14", with the file's name where it is not the document itself. */
export function rangeText(range: TextRange, texts: Texts, home: string): string {
  const text = texts[range.file];
  const line = text === undefined ? null : positionAt(lineStarts(text), range.offset).line;
  const where = line === null ? range.file : `line ${line}`;
  return range.file === home || line === null ? where : `${range.file} ${where}`;
}
