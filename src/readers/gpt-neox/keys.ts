/** GPT-NeoX takes `-` and `_` in keys alike: a config under the names with `_`, and each as it is written. */

import type { MapEntry, MapNode } from '../tree.ts';

/** The top of the config with `_` for `-`; of two spellings of a key the last counts. */
export function underscored(root: MapNode): MapNode {
  const entries = new Map<string, MapEntry>();
  for (const entry of root.entries.values()) entries.set(entry.key.replaceAll('-', '_'), entry);
  return { ...root, entries };
}
