/**
 * The tree that every text front end (YAML, TOML, JSON) turns a file into: maps, lists and scalars with the exact
 * range of every key and value, in UTF-16 code units. Keys live in a `Map`, so that `__proto__` and `constructor` are
 * keys like any other. A path that leads nowhere is a node too (`missing`), which knows where it was looked for.
 */

import type { Finding } from '../model/finding.ts';
import type { Source, TextRange } from '../model/source.ts';

export type ScalarValue = string | number | boolean | null;

export interface ScalarNode {
  readonly kind: 'scalar';
  readonly value: ScalarValue;
  /** As written, quotes included. */
  readonly text: string;
  readonly quoted: boolean;
  readonly range: TextRange;
  /** Where the value comes from, when it is more than its text (Python); unknown values have no other sign. */
  readonly source?: Source;
}

export interface MapEntry {
  readonly key: string;
  readonly keyRange: TextRange;
  readonly value: TreeNode;
}

export interface MapNode {
  readonly kind: 'map';
  /** In file order; of a key given twice the last one counts. */
  readonly entries: ReadonlyMap<string, MapEntry>;
  /** Written between braces. */
  readonly flow: boolean;
  readonly range: TextRange;
}

export interface ListNode {
  readonly kind: 'list';
  readonly items: readonly TreeNode[];
  readonly range: TextRange;
}

export interface MissingNode {
  readonly kind: 'missing';
  /** The key of the nearest container that does exist, or the value that is no container; null at the root. */
  readonly range: TextRange | null;
}

export type TreeNode = ScalarNode | MapNode | ListNode | MissingNode;

/** What a front end returns: it never throws, and keeps what could be read beside the problems. */
export interface Tree {
  readonly root: TreeNode;
  readonly problems: readonly Finding[];
}

export const NOTHING: MissingNode = { kind: 'missing', range: null };

/** The entry at a dotted path (`pipeline.size`); null where there is none. */
export function entryAt(root: TreeNode, path: string): MapEntry | null {
  const keys = path.split('.');
  let node = root;
  for (const key of keys.slice(0, -1)) {
    const next: MapEntry | undefined = node.kind === 'map' ? node.entries.get(key) : undefined;
    if (next === undefined) return null;
    node = next.value;
  }
  return node.kind === 'map' ? (node.entries.get(keys.at(-1)!) ?? null) : null;
}

/** The node at a dotted path; `missing` with the range of the nearest container that exists. */
export function nodeAt(root: TreeNode, path: string): TreeNode {
  let node = root;
  let nearest: TextRange | null = null;
  for (const key of path.split('.')) {
    if (node.kind !== 'map') return { kind: 'missing', range: node.kind === 'scalar' ? node.range : nearest };
    const entry = node.entries.get(key);
    if (entry === undefined) return { kind: 'missing', range: nearest };
    nearest = entry.keyRange;
    node = entry.value;
  }
  return node;
}

/** Whether the path leads to a value that is not null. */
export function has(root: TreeNode, path: string): boolean {
  const node = nodeAt(root, path);
  return node.kind !== 'missing' && !(node.kind === 'scalar' && node.value === null);
}
