/**
 * A MaxText config over its parents: `base_config` names a file that is looked for beside it and above, and
 * `model_name` one of `models/`. Mirrors AI-Hypercomputer/maxtext@e591f30c src/maxtext/configs/pyconfig.py.
 */

import { MAX_DEPTH } from '../limits.ts';
import { type Companions, companion, merged, missing, need, wordAt } from '../mcore/config.ts';
import { folderOf } from '../shell/paths.ts';
import { nodeAt, type TreeNode } from '../tree.ts';

const MAX_PARENTS = 4;

/** The config with its parents below it and its model's file in between. */
export function maxtextConfig(file: string, root: TreeNode, companions: Companions): TreeNode {
  const withBase = overBase(file, root, companions, new Set([file]));
  const name = wordAt(withBase, 'model_name');
  if (name === null || name === 'default' || !/^[\w.-]{1,80}$/.test(name)) return withBase;
  const model = found(companions, modelPaths(file, name), 'looked for');
  return model === null ? withBase : merged(merged(withBase, model.root), root);
}

/** Chains of parents end where one names itself again. */
function overBase(file: string, root: TreeNode, companions: Companions, seen: Set<string>): TreeNode {
  const node = nodeAt(root, 'base_config');
  const named = wordAt(root, 'base_config');
  if (named === null || named === '' || node.kind !== 'scalar' || seen.size > Math.min(MAX_PARENTS, MAX_DEPTH))
    return root;
  const base = found(companions, parentPaths(file, named), 'named');
  if (base === null) return root;
  if (seen.has(base.path)) {
    missing(companions, `${base.path} is its own base_config`, node.range);
    return root;
  }
  seen.add(base.path);
  return merged(overBase(base.path, base.root, companions, seen), root);
}

/** The folder itself and those above it. */
function folders(file: string): readonly string[] {
  const list: string[] = [];
  for (let folder = folderOf(file); list.length < MAX_PARENTS; folder = folderOf(folder)) {
    list.push(folder);
    if (folder === '') break;
  }
  return list;
}

function parentPaths(file: string, named: string): readonly string[] {
  if (named.startsWith('/') || named.includes('..') || named.length > 200) return [];
  return folders(file).map((folder) => (folder === '' ? named : `${folder}/${named}`));
}

function modelPaths(file: string, name: string): readonly string[] {
  return parentPaths(file, `models/${name}.yml`);
}

/** The first path that is at hand; else all are wanted. */
function found(
  companions: Companions,
  paths: readonly string[],
  wanted: 'named' | 'looked for',
): { readonly path: string; readonly root: TreeNode } | null {
  const path = paths.find((each) => Object.hasOwn(companions.texts, each));
  if (path !== undefined) {
    const root = companion(companions, path, wanted);
    return root === null ? null : { path, root };
  }
  // Above its own folder a file is only looked for.
  for (const [i, each] of paths.entries()) need(companions, each, i > 0 ? 'looked for' : wanted);
  return null;
}
