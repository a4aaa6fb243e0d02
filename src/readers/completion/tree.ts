/**
 * Completion in files that are trees of keys (YAML, JSON): the keys that may stand at the cursor and are not there yet,
 * and the words that a key takes. What a format has is a table; the cursor and the text say where in it one stands.
 */

import type { Completion } from '../../model/reading.ts';
import type { TreeNode } from '../tree.ts';
import type { Cursor } from './yaml-cursor.ts';

/** A key that may stand somewhere. */
export interface Offer {
  readonly name: string;
  readonly about: string;
  /** Holds a map or a list. */
  readonly opens: boolean;
}

/** A value that a key takes. */
export interface Word {
  readonly word: string;
  readonly meaning: string;
  /** A text where texts are quoted; false for numbers, true and false. */
  readonly quoted: boolean;
}

/** What a format has below a path of keys; `[]` is an entry of a list. */
export interface KeyTable {
  readonly keys: (path: readonly string[]) => readonly Offer[];
  readonly words: (path: readonly string[]) => readonly Word[];
}

/** What is known of one key. */
export interface KeyHelp {
  readonly about: string;
  readonly words?: readonly Word[];
}

/** Words of one meaning each. */
export function quotedWords(meanings: Readonly<Record<string, string>>): readonly Word[] {
  return Object.entries(meanings).map(([word, meaning]) => ({ word, meaning, quoted: true }));
}

export function switchWords(about: string): readonly Word[] {
  return ['true', 'false'].map((word) => ({ word, meaning: about, quoted: false }));
}

/** The table of a format whose keys are dotted paths; what leads to a key is a map. */
export function pathTable(rows: ReadonlyMap<string, KeyHelp>): KeyTable {
  return {
    keys: (path) => {
      const prefix = path.map((name) => `${name}.`).join('');
      const offers = new Map<string, Offer>();
      for (const [key, { about }] of rows) {
        if (!key.startsWith(prefix)) continue;
        const [name, ...deeper] = key.slice(prefix.length).split('.');
        if (deeper.length === 0) offers.set(name!, { name: name!, about, opens: false });
        else if (!offers.has(name!))
          offers.set(name!, { name: name!, about: `Holds ${deeper.join('.')}`, opens: true });
      }
      return [...offers.values()];
    },
    words: (path) => rows.get(path.join('.'))?.words ?? [],
  };
}

export interface TreeText {
  readonly text: string;
  readonly cursor: Cursor | null;
  readonly json: boolean;
  /** The tree of the text, for what stands there already. */
  readonly read: (text: string) => TreeNode;
}

export function treeCompletions({ text, cursor, json, read }: TreeText, table: KeyTable): readonly Completion[] {
  if (cursor === null) return [];
  const place = { offset: cursor.start, length: cursor.end - cursor.start };
  if (cursor.place === 'value') {
    return table.words(cursor.path).map(({ word, meaning, quoted }) => ({
      kind: 'value',
      label: word,
      insertText: json && quoted ? JSON.stringify(word) : word,
      documentation: meaning,
      ...place,
    }));
  }
  const offers = table.keys(cursor.path);
  if (offers.length === 0) return [];
  const hasColon = /^[ \t]*:/.test(text.slice(cursor.end, cursor.end + 20));
  const present = siblings(read(hasColon ? text : blankedOut(text, cursor.start, cursor.end)), cursor);
  return offers
    .filter(({ name }) => !present.has(name))
    .map(({ name, about, opens }) => {
      const written = json ? JSON.stringify(name) : name;
      return {
        kind: 'key',
        label: name,
        insertText: hasColon ? written : `${written}:${opens && !json && !cursor.flow ? '' : ' '}`,
        documentation: about,
        ...place,
      };
    });
}

/** A half-typed word would run together with the next line; the rest of the text keeps its places. */
export function blankedOut(text: string, start: number, end: number): string {
  return text.slice(0, start) + ' '.repeat(end - start) + text.slice(end);
}

/** Names beside the one that is typed: those of the map around the cursor, without the word at the cursor. */
function siblings(root: TreeNode, cursor: Cursor): ReadonlySet<string> {
  let node = root;
  for (const name of cursor.path) {
    if (node.kind === 'list' && name === '[]') {
      const items = node.items.filter((item) => item.range !== null && item.range.offset <= cursor.end);
      node = items.at(-1) ?? { kind: 'missing', range: null };
    } else if (node.kind === 'map') {
      node = node.entries.get(name)?.value ?? { kind: 'missing', range: null };
    }
  }
  if (node.kind !== 'map') return new Set();
  const others = [...node.entries.values()].filter(({ keyRange }) => {
    return cursor.end < keyRange.offset || cursor.start > keyRange.offset + keyRange.length;
  });
  return new Set(others.map((entry) => entry.key));
}
