/**
 * A config that is spread over several YAML files: a document over its parents, merged key by key as OmegaConf and
 * Primus merge them (maps are joined, everything else is replaced). Every key and value of the merged tree keeps the
 * place where it is written, in whichever file that is.
 */

import type { Finding } from '../../model/finding.ts';
import type { Texts } from '../../model/reading.ts';
import type { TextRange } from '../../model/source.ts';
import { finding } from '../limits.ts';
import { folderOf, normalise } from '../shell/paths.ts';
import { entryAt, type MapEntry, type MapNode, nodeAt, type TreeNode } from '../tree.ts';
import { readYaml } from '../yaml/read.ts';

/** What reading the companions of one document brings up. */
export interface Companions {
  readonly file: string;
  readonly texts: Texts;
  readonly needs: Set<string>;
  /** Those of `needs` that nobody misses when they are not there. */
  readonly optional: Set<string>;
  /** `companion-missing` for what can never be had: outside the root, or a parent of itself. */
  readonly findings: Finding[];
  readonly trees: Map<string, TreeNode>;
}

export function openCompanions(file: string, texts: Texts): Companions {
  return { file, texts, needs: new Set(), optional: new Set(), findings: [], trees: new Map() };
}

/** Files that one document may bring in: more than any real chain of parents has. */
const MAX_FILES = 16;

/** The tree of a companion; null where it is not at hand. A file that is only looked for need not exist. */
export function companion(companions: Companions, path: string, wanted: 'named' | 'looked for'): TreeNode | null {
  const known = companions.trees.get(path);
  if (known !== undefined) return known;
  const text = Object.hasOwn(companions.texts, path) ? companions.texts[path] : undefined;
  if (text !== undefined && companions.trees.size < MAX_FILES) {
    const { root } = readYaml(path, text);
    companions.trees.set(path, root);
    return root;
  }
  if (text === undefined) need(companions, path, wanted);
  return null;
}

export function need({ needs, optional }: Companions, path: string, wanted: 'named' | 'looked for'): void {
  if (wanted === 'looked for' && !needs.has(path)) optional.add(path);
  else if (wanted === 'named') optional.delete(path);
  needs.add(path);
}

/** A file that can never be had, told at the token that names it, once. */
export function missing(companions: Companions, message: string, by: TextRange): void {
  if (companions.findings.some((each) => each.message === message)) return;
  companions.findings.push(finding('companion-missing', message, by));
}

/** A path that `from` names, relative to its folder; null when it is absolute or leaves the root. */
export function besides(from: string, named: string): string | null {
  return named.startsWith('/') || named.includes('://') ? null : normalise(`${folderOf(from)}/${named}`);
}

/** `over` on top of `base`. */
export function merged(base: TreeNode, over: TreeNode): TreeNode {
  if (over.kind === 'missing') return base;
  if (base.kind !== 'map' || over.kind !== 'map') return over;
  if (isOn(over, '_override_')) return over;
  const entries = new Map<string, MapEntry>(base.entries);
  for (const [key, entry] of over.entries) {
    const below = entries.get(key);
    const value = below === undefined ? entry.value : merged(below.value, entry.value);
    entries.set(key, { ...entry, value });
  }
  return { kind: 'map', entries, flow: over.flow, range: over.range };
}

export function isOn(root: TreeNode, path: string): boolean {
  const node = nodeAt(root, path);
  return node.kind === 'scalar' && node.value === true;
}

/** The tree without some of its keys. */
export function without(root: TreeNode, ...keys: readonly string[]): TreeNode {
  if (root.kind !== 'map') return root;
  return { ...root, entries: new Map([...root.entries].filter(([key]) => !keys.includes(key))) };
}

export function mapAt(root: TreeNode, path: string): MapNode | null {
  const node = nodeAt(root, path);
  return node.kind === 'map' ? node : null;
}

/** The text of a scalar; null where there is none, or it is null. */
export function wordAt(root: TreeNode, path: string): string | null {
  const node = nodeAt(root, path);
  if (node.kind !== 'scalar' || node.value === null) return null;
  return typeof node.value === 'string' ? node.value : node.text;
}

/** The first of some paths whose value or key is written in `file`: the line that a person would edit. */
export function placeIn(file: string, root: TreeNode, paths: readonly string[]): TextRange | null {
  for (const path of paths) {
    const node = nodeAt(root, path);
    if (node.kind === 'scalar' && node.range.file === file && node.range.length > 0) return node.range;
    const entry = entryAt(root, path);
    if (entry !== null && entry.keyRange.file === file) return entry.keyRange;
  }
  return null;
}

/** Between the quotes, where a text is quoted. */
export function innerRange({ range, text }: { readonly range: TextRange; readonly text: string }): TextRange {
  const quoted = /^(["'])[\s\S]*\1$/.test(text) && text.length >= 2;
  return quoted ? { ...range, offset: range.offset + 1, length: range.length - 2 } : range;
}
