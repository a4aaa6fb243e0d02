/** Completion in a torchtitan TOML: the keys that the file's era takes in the section at the cursor, and schedules. */

import type { Completion } from '../../model/reading.ts';
import { tomlCompletions } from '../completion/toml.ts';
import { type KeyHelp, pathTable } from '../completion/tree.ts';
import { readToml } from '../toml/read.ts';
import type { TreeNode } from '../tree.ts';
import { pathOf, titanConfig } from './config.ts';
import { OTHER_KEYS, PARALLEL_KEYS } from './keys.ts';

export function titanCompletions(path: string, text: string, offset: number): readonly Completion[] {
  const read = (whole: string): TreeNode => readToml(path, whole).root;
  return tomlCompletions(text, offset, read, (root) => {
    const config = titanConfig(path, text, root, {});
    const rows = new Map<string, KeyHelp>();
    for (const [name, key] of Object.entries(PARALLEL_KEYS)) {
      if (key.eras.includes(config.era)) rows.set(pathOf(config, name), key);
    }
    for (const [at, key] of Object.entries(OTHER_KEYS)) if (key.eras.includes(config.era)) rows.set(at, key);
    return pathTable(rows);
  });
}
