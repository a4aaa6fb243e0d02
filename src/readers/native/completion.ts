/**
 * Completion for the native format: the keys that may stand at the cursor and are not there yet, and the words that a
 * key takes, with what each means. Pure data; the editor binds it. The parsers must be loaded.
 */

import { nativeTree } from '../native.ts';
import { parser } from '../parsers.ts';
import type { TreeNode } from '../tree.ts';
import { type Cursor, yamlCursor } from './cursor.ts';
import { childKey, childNames, choiceValues, expectation, isNativeKey, type KeyRow, keyRow } from './keys.ts';

export interface NativeCompletion {
  readonly kind: 'key' | 'value';
  readonly label: string;
  readonly insertText: string;
  /** Plain text: what it means and what it takes. */
  readonly documentation: string;
  /** The word to replace, in UTF-16 code units. */
  readonly offset: number;
  readonly length: number;
}

/** What may be typed at `offset`, in the order of the format; empty where nothing fits. Never throws. */
export function completions(path: string, text: string, offset: number): readonly NativeCompletion[] {
  const json = /\.jsonc?$/i.test(path);
  const cursor = json ? jsonCursor(text, offset) : yamlCursor(text, offset);
  if (cursor === null) return [];
  return cursor.place === 'key' ? keyItems(path, text, cursor, json) : valueItems(cursor, json);
}

function keyItems(path: string, text: string, cursor: Cursor, json: boolean): readonly NativeCompletion[] {
  const parent = nativeKeyOf(cursor.path);
  if (parent === null) return [];
  const hasColon = /^[ \t]*:/.test(text.slice(cursor.end, cursor.end + 20));
  const settled = hasColon ? text : blankOut(text, cursor.start, cursor.end);
  const present = siblings(nativeTree(path, settled).root, cursor);
  return childNames(parent)
    .filter((name) => !present.has(name) && (json || name !== '$schema'))
    .map((name) => {
      const key = childKey(parent, name);
      const row = isNativeKey(key) ? keyRow(key) : null;
      const written = json ? JSON.stringify(name) : name;
      const opens = row !== null && (row.type === 'map' || row.type === 'list');
      return {
        kind: 'key',
        label: name,
        insertText: hasColon ? written : `${written}:${opens && !json && !cursor.flow ? '' : ' '}`,
        documentation: row === null ? '' : documentation(row),
        ...replaced(cursor),
      };
    });
}

/** A half-typed word would run together with the next line; the rest of the text keeps its places. */
function blankOut(text: string, start: number, end: number): string {
  return text.slice(0, start) + ' '.repeat(end - start) + text.slice(end);
}

function documentation(row: KeyRow): string {
  const takes = row.type === 'map' || row.type === 'list' ? '' : `\n\nTakes ${expectation(row)}.`;
  const examples = 'examples' in row && row.examples.length > 0 ? ` For example ${row.examples.join(', ')}.` : '';
  return `${row.description}${takes}${examples}`;
}

function valueItems(cursor: Cursor, json: boolean): readonly NativeCompletion[] {
  const key = nativeKeyOf(cursor.path);
  if (key === null || !isNativeKey(key)) return [];
  const row = keyRow(key);
  return wordsOf(row).map(({ word, meaning, quoted }) => ({
    kind: 'value',
    label: word,
    insertText: json && quoted ? JSON.stringify(word) : word,
    documentation: meaning,
    ...replaced(cursor),
  }));
}

interface Word {
  readonly word: string;
  readonly meaning: string;
  readonly quoted: boolean;
}

function wordsOf(row: KeyRow): readonly Word[] {
  switch (row.type) {
    case 'choice':
      return choiceValues(row).map((word) => ({ word, meaning: row.meanings[word] ?? '', quoted: true }));
    case 'boolean':
      return ['true', 'false'].map((word) => ({ word, meaning: row.description, quoted: false }));
    case 'text':
      return row.examples.map((word) => ({ word, meaning: row.description, quoted: true }));
    case 'integer':
    case 'number':
      return row.minimum === row.maximum
        ? [{ word: String(row.minimum), meaning: row.description, quoted: false }]
        : [];
    case 'map':
    case 'list':
      return [];
  }
}

function replaced(cursor: Cursor): { readonly offset: number; readonly length: number } {
  return { offset: cursor.start, length: cursor.end - cursor.start };
}

/** The key in the table (`stages[].layers`) of a cursor's path; null outside the format. */
function nativeKeyOf(path: readonly string[]): string | null {
  let key = '';
  for (const name of path) {
    key = name === '[]' ? `${key}[]` : childKey(key, name);
    if (name !== '[]' && !isNativeKey(key)) return null;
  }
  return key === '' || key.endsWith('[]') || isNativeKey(key) ? key : null;
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

function jsonCursor(text: string, offset: number): Cursor | null {
  const location = parser('jsonc').getLocation(text.replace(/^\uFEFF/, ' '), offset);
  const { previousNode, isAtPropertyKey } = location;
  const names = location.path.map((segment) => (typeof segment === 'number' ? '[]' : segment));
  const inNode =
    previousNode !== undefined && previousNode.offset <= offset && offset <= previousNode.offset + previousNode.length;
  let start = inNode ? previousNode.offset : offset;
  let end = inNode ? previousNode.offset + previousNode.length : offset;
  if (!inNode) {
    while (start > 0 && /[\w.\-"]/.test(text[start - 1]!)) start--;
    while (end < text.length && /[\w.\-"]/.test(text[end]!)) end++;
  }
  if (/\/\/[^\n]*$/.test(text.slice(text.lastIndexOf('\n', offset - 1) + 1, start))) return null;
  if (names.length === 0) return null;
  return {
    path: isAtPropertyKey ? names.slice(0, -1) : names,
    place: isAtPropertyKey ? 'key' : 'value',
    start,
    end,
    flow: true,
  };
}
