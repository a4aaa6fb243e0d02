/**
 * Python's syntax tree, from lezer's tolerant grammar. A text that differs in one place from one that was parsed
 * before is parsed only there: a recipe of 3,000 lines costs about a millisecond while it is typed. Nothing is ever
 * run or imported.
 */

import type { SyntaxNode, Tree } from '@lezer/common';
import { refuseText } from '../limits.ts';
import { parser } from '../parsers.ts';

/** Texts whose trees are kept, the latest last. */
const MAX_TREES = 4;
/** Characters in common, at either end, from which on an old tree is worth its reuse. */
const MIN_COMMON = 64;

interface Parsed {
  readonly text: string;
  readonly tree: Tree;
}

const kept: Parsed[] = [];

/** The tree's root; null for a text that is not read at all (too large, binary). Needs the `python` parser. */
export function parsePython(file: string, text: string): SyntaxNode | null {
  if (refuseText(file, text) !== null) return null;
  const same = kept.findIndex((each) => each.text === text);
  const tree = same >= 0 ? kept[same]!.tree : parseAfter(text);
  if (same >= 0) kept.splice(same, 1);
  kept.push({ text, tree });
  if (kept.length > MAX_TREES) kept.shift();
  return tree.topNode;
}

/** Forgets every tree: for measurements that must be fresh. */
export function clearPythonTrees(): void {
  kept.length = 0;
}

function parseAfter(text: string): Tree {
  const { parser: lezer, TreeFragment } = parser('python');
  const { old, start, end } = nearest(text);
  if (old === null) return lezer.parse(text);
  const change = { fromA: start, toA: old.text.length - end, fromB: start, toB: text.length - end };
  return lezer.parse(text, TreeFragment.applyChanges(TreeFragment.addTree(old.tree), [change]));
}

/** The kept text that shares most with this one at its start and end. */
function nearest(text: string): { readonly old: Parsed | null; readonly start: number; readonly end: number } {
  let best: { old: Parsed | null; start: number; end: number } = { old: null, start: 0, end: 0 };
  for (const old of kept) {
    const most = Math.min(old.text.length, text.length);
    let start = 0;
    while (start < most && old.text.charCodeAt(start) === text.charCodeAt(start)) start++;
    let end = 0;
    while (
      end < most - start &&
      old.text.charCodeAt(old.text.length - 1 - end) === text.charCodeAt(text.length - 1 - end)
    )
      end++;
    if (start + end >= Math.max(MIN_COMMON, best.start + best.end)) best = { old, start, end };
  }
  return best;
}

/** A node's children, without comments and what the parser could not place. */
export function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (!child.type.isError && child.name !== 'Comment') children.push(child);
  }
  return children;
}

/** Children between commas, brackets left out: the arguments of a call, the items of a list. */
export function commaGroups(children: readonly SyntaxNode[]): readonly (readonly SyntaxNode[])[] {
  const groups: SyntaxNode[][] = [[]];
  for (const child of children) {
    if (child.name === ',') groups.push([]);
    else if (!BRACKETS.has(child.name)) groups.at(-1)!.push(child);
  }
  return groups.filter((group) => group.length > 0);
}

const BRACKETS: ReadonlySet<string> = new Set(['(', ')', '[', ']', '{', '}']);

/** `a.b.c` where a node is nothing but names and dots; null for anything else. */
export function dottedName(node: SyntaxNode, text: string): string | null {
  const written = text.slice(node.from, Math.min(node.to, node.from + 200));
  return /^[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)*$/.test(written) ? written.replace(/\s+/g, '') : null;
}
