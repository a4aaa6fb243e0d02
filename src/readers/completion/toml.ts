/** Completion in TOML: the keys of the section at the cursor that are not there yet, and the words that a key takes. */

import type { Completion } from '../../model/reading.ts';
import { nodeAt, type TreeNode } from '../tree.ts';
import { blankedOut, type KeyTable } from './tree.ts';

const SECTION = /^[ \t]*\[([\w.-]+)\][ \t]*(?:#.*)?$/gm;

/** `tableOf` is the table of keys for a file's tree. Never throws. */
export function tomlCompletions(
  text: string,
  offset: number,
  read: (text: string) => TreeNode,
  tableOf: (root: TreeNode) => KeyTable,
): readonly Completion[] {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  const section = sectionAt(text.slice(0, offset));
  if (section === null || isWithinValue(text.slice(0, offset - line.length))) return [];
  const key = /^\uFEFF?[ \t]*([\w-]*)$/.exec(line);
  if (key !== null) return keyItems({ text, offset, section, typed: key[1]!.length }, read, tableOf);
  const value = /^\uFEFF?[ \t]*([\w-]+)[ \t]*=[ \t]*(["']?[\w.-]*)$/.exec(line);
  if (value === null) return [];
  const length = value[2]!.length + /^[\w.-]*["']?/.exec(text.slice(offset, offset + 100))![0].length;
  return tableOf(read(text))
    .words([...section, value[1]!])
    .map(({ word, meaning, quoted }) => ({
      kind: 'value',
      label: word,
      insertText: quoted ? JSON.stringify(word) : word,
      documentation: meaning,
      offset: offset - value[2]!.length,
      length,
    }));
}

interface KeyPlace {
  readonly text: string;
  readonly offset: number;
  readonly section: readonly string[];
  readonly typed: number;
}

function keyItems(
  { text, offset, section, typed }: KeyPlace,
  read: (text: string) => TreeNode,
  tableOf: (root: TreeNode) => KeyTable,
): readonly Completion[] {
  const start = offset - typed;
  const end = offset + /^[\w-]*/.exec(text.slice(offset, offset + 200))![0].length;
  const hasValue = /^[ \t]*=/.test(text.slice(end, end + 20));
  const root = read(hasValue ? text : blankedOut(text, start, end));
  const around = nodeAt(root, section.join('.'));
  const present = around.kind !== 'map' ? [] : [...around.entries.values()];
  const others = new Set(
    present
      .filter(({ keyRange }) => keyRange.offset + keyRange.length < start || keyRange.offset > end)
      .map((e) => e.key),
  );
  return tableOf(root)
    .keys(section)
    .filter(({ name, opens }) => !opens && !others.has(name))
    .map(({ name, about }) => ({
      kind: 'key',
      label: name,
      insertText: hasValue ? name : `${name} = `,
      documentation: about,
      offset: start,
      length: end - start,
    }));
}

/** The section that the end of a text stands in; null in a table of a list. */
function sectionAt(before: string): readonly string[] | null {
  const last = [...before.matchAll(SECTION)].at(-1);
  const list = before.lastIndexOf('\n[[');
  if (last === undefined) return list < 0 ? [] : null;
  return list > last.index ? null : last[1]!.split('.');
}

/** Whether the text ends within a list or a text that goes over several lines. */
function isWithinValue(before: string): boolean {
  if ((before.split('"""').length - 1) % 2 === 1 || (before.split("'''").length - 1) % 2 === 1) return true;
  const opened = [...before.matchAll(/^[ \t]*[\w."-]+[ \t]*=[ \t]*\[/gm)].at(-1);
  if (opened === undefined) return false;
  let depth = 0;
  for (const c of before.slice(opened.index + opened[0].length - 1)) depth += c === '[' ? 1 : c === ']' ? -1 : 0;
  return depth > 0;
}
