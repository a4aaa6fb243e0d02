/**
 * Completion for the native format: the keys that may stand at the cursor and are not there yet, and the words that a
 * key takes, with what each means. Pure data; the editor binds it. The parsers must be loaded.
 */

import type { Completion } from '../../model/reading.ts';
import { jsonCursor } from '../completion/json-cursor.ts';
import { type KeyTable, type Offer, quotedWords, switchWords, treeCompletions, type Word } from '../completion/tree.ts';
import { yamlCursor } from '../completion/yaml-cursor.ts';
import { childKey, childNames, choiceValues, expectation, isNativeKey, type KeyRow, keyRow } from './keys.ts';
import { isJson, nativeTree } from './tree.ts';

/** What may be typed at `offset`, in the order of the format; empty where nothing fits. Never throws. */
export function completions(path: string, text: string, offset: number): readonly Completion[] {
  const json = isJson(path);
  const cursor = json ? jsonCursor(text, offset) : yamlCursor(text, offset);
  return treeCompletions(
    { text, cursor, json, read: (whole) => nativeTree(path, whole).root },
    json ? JSON_KEYS : KEYS,
  );
}

const JSON_KEYS: KeyTable = { keys: offers, words };
const KEYS: KeyTable = { keys: (path) => offers(path).filter(({ name }) => name !== '$schema'), words };

function offers(path: readonly string[]): readonly Offer[] {
  const parent = nativeKeyOf(path);
  if (parent === null) return [];
  return childNames(parent).map((name) => {
    const key = childKey(parent, name);
    const row = isNativeKey(key) ? keyRow(key) : null;
    const opens = row !== null && (row.type === 'map' || row.type === 'list');
    return { name, about: row === null ? '' : documentation(row), opens };
  });
}

function documentation(row: KeyRow): string {
  const takes = row.type === 'map' || row.type === 'list' ? '' : `\n\nTakes ${expectation(row)}.`;
  const examples = 'examples' in row && row.examples.length > 0 ? ` For example ${row.examples.join(', ')}.` : '';
  return `${row.description}${takes}${examples}`;
}

function words(path: readonly string[]): readonly Word[] {
  const key = nativeKeyOf(path);
  return key === null || !isNativeKey(key) ? [] : wordsOf(keyRow(key));
}

function wordsOf(row: KeyRow): readonly Word[] {
  switch (row.type) {
    case 'choice':
      return quotedWords(Object.fromEntries(choiceValues(row).map((word) => [word, row.meanings[word] ?? ''])));
    case 'boolean':
      return switchWords(row.description);
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

/** The key in the table (`stages[].layers`) of a cursor's path; null outside the format. */
function nativeKeyOf(path: readonly string[]): string | null {
  let key = '';
  for (const name of path) {
    key = name === '[]' ? `${key}[]` : childKey(key, name);
    if (name !== '[]' && !isNativeKey(key)) return null;
  }
  return key === '' || key.endsWith('[]') || isNativeKey(key) ? key : null;
}
