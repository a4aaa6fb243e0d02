/**
 * Completion in Python recipes: after `cfg.model.` the names that the reader reads there, and the words of an
 * attribute that takes only some. Only attributes of a name of the file itself: an imported module's are not ours.
 */

import type { Completion } from '../../model/reading.ts';
import type { KeyTable } from './tree.ts';

const CHAIN = /(?:^|[^\w.])([A-Za-z_]\w*)((?:\.\w+)*)\.(\w*)$/;
const ASSIGNED = /^[ \t]*([A-Za-z_]\w*)((?:\.\w+)+)[ \t]*=[ \t]*(["']?[\w.-]*)$/;
/** Characters of a line that are looked at. */
const MAX_LINE = 400;

/** `table` is that of the parts of a recipe, below the name that holds it. Never throws. */
export function attributeCompletions(text: string, offset: number, table: KeyTable): readonly Completion[] {
  const line = text.slice(Math.max(text.lastIndexOf('\n', offset - 1) + 1, offset - MAX_LINE), offset);
  if (/#/.test(line)) return [];
  const value = ASSIGNED.exec(line);
  if (value !== null) return wordItems(text, offset, value, table);
  const chain = CHAIN.exec(line);
  if (chain === null || isWithinQuotes(line) || !isOwnName(text, chain[1]!)) return [];
  const typed = chain[3]!.length;
  const rest = /^\w*/.exec(text.slice(offset, offset + 200))![0].length;
  const place = { offset: offset - typed, length: typed + rest };
  return table.keys(chain[2]!.split('.').slice(1)).map(({ name, about }) => ({
    kind: 'key',
    label: name,
    insertText: name,
    documentation: about,
    ...place,
  }));
}

function wordItems(
  text: string,
  offset: number,
  [, name, path, typed]: RegExpExecArray,
  table: KeyTable,
): readonly Completion[] {
  if (!isOwnName(text, name!)) return [];
  const rest = /^[\w.-]*["']?/.exec(text.slice(offset, offset + 100))![0].length;
  return table.words(path!.split('.').slice(1)).map(({ word, meaning, quoted }) => ({
    kind: 'value',
    label: quoted ? word : pythonWord(word),
    insertText: quoted ? JSON.stringify(word) : pythonWord(word),
    documentation: meaning,
    offset: offset - typed!.length,
    length: typed!.length + rest,
  }));
}

function pythonWord(word: string): string {
  return word === 'true' ? 'True' : word === 'false' ? 'False' : word;
}

function isWithinQuotes(line: string): boolean {
  return (line.split('"').length - 1) % 2 === 1 || (line.split("'").length - 1) % 2 === 1;
}

/** Whether the file assigns the name, or a function takes it. */
function isOwnName(text: string, name: string): boolean {
  return new RegExp(
    `(?:^|[\\n(,])[ \\t]*${name}[ \\t]*(?::[^=\\n]{0,80})?(?:=(?!=)|[,)])|(?:^|[\\n(,])[ \\t]*${name}[ \\t]*:`,
  ).test(text);
}
