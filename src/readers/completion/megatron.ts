/**
 * Completion of Megatron-core's keys in the spelling of a framework that feeds it: below dotted paths in YAML. The keys
 * are those that the reader reads, from the same table.
 */

import { megatronHelp } from '../../frameworks/megatron-core/key-help.ts';
import { MEGATRON_KEYS, type MegatronKey } from '../../frameworks/megatron-core/keys.ts';
import type { Completion } from '../../model/reading.ts';
import type { Spelling } from '../mcore/settings.ts';
import type { TreeNode } from '../tree.ts';
import { type KeyHelp, pathTable, quotedWords, switchWords, treeCompletions } from './tree.ts';
import { yamlCursor } from './yaml-cursor.ts';

/** Dotted paths and what each means, in the order of Megatron's keys. */
export function megatronRows(spellings: readonly Spelling[]): ReadonlyMap<string, KeyHelp> {
  const rows = new Map<string, KeyHelp>();
  for (const spelling of spellings) {
    for (const [key, paths] of Object.entries(spelling) as [MegatronKey, readonly string[]][]) {
      const help = megatronHelp(key);
      if (help === null) continue;
      const { about, words } = help;
      const taken =
        words !== undefined ? quotedWords(words) : MEGATRON_KEYS[key].takes === 'switch' ? switchWords(about) : [];
      for (const path of paths) rows.set(path, { about, words: taken });
    }
  }
  return rows;
}

/** In YAML; `spellings` are those of the file's plans, read from the text without the word that is being typed. */
export function megatronYamlCompletions(
  text: string,
  offset: number,
  read: (text: string) => TreeNode,
  spellings: (settled: string) => readonly Spelling[],
): readonly Completion[] {
  const cursor = yamlCursor(text, offset);
  if (cursor === null) return [];
  const settled =
    cursor.place === 'value'
      ? text
      : text.slice(0, cursor.start) + ' '.repeat(cursor.end - cursor.start) + text.slice(cursor.end);
  const table = pathTable(megatronRows(spellings(settled)));
  return treeCompletions({ text, cursor, json: false, read }, table);
}
