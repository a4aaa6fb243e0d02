/**
 * The YAML front end: text to tree, over the tolerant document parser of the `yaml` library. Aliases share the tree
 * of their anchor instead of copying it, and merge keys (`<<`) are resolved here, so that an alias bomb or a cycle
 * costs no more than the text itself.
 */

import type { Finding } from '../../model/finding.ts';
import type { TextRange } from '../../model/source.ts';
import { finding, MAX_DEPTH, MAX_PROBLEMS, refuseText } from '../limits.ts';
import { parser } from '../parsers.ts';
import { type MapEntry, NOTHING, type Tree, type TreeNode } from '../tree.ts';

/** Values that a file may hold once its aliases are followed. */
const MAX_EXPANDED = 100_000;
/** Entries that merge keys may bring in. */
const MAX_MERGED = 10_000;

/** Needs the `yaml` parser to be loaded. Problems: syntax errors, duplicate keys, limits. Never throws. */
export function readYaml(file: string, text: string): Tree {
  const refused = refuseText(file, text);
  if (refused !== null) return { root: NOTHING, problems: [refused] };
  try {
    return convert(file, text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const problem = finding('syntax-error', 'Not read: values are nested too deeply', { file, offset: 0, length: 0 });
    return { root: NOTHING, problems: [problem] };
  }
}

type Yaml = ReturnType<typeof parser<'yaml'>>;

interface Walk {
  readonly yaml: Yaml;
  readonly file: string;
  readonly text: string;
  readonly problems: Finding[];
  /** Anchored nodes by name, as met so far in the text: an alias means the last one before it. */
  readonly anchors: Map<string, { readonly node: TreeNode; readonly expanded: number } | 'open'>;
  merged: number;
  /** Where the first value stands that is nested too deeply. */
  tooDeepAt: number | null;
  bomb: boolean;
}

interface Sized {
  readonly node: TreeNode;
  /** Values below and including this one, aliases followed. */
  readonly expanded: number;
}

function convert(file: string, text: string): Tree {
  const yaml = parser('yaml');
  const document = yaml.parseDocument(text, {
    uniqueKeys: false,
    merge: false,
    prettyErrors: false,
    logLevel: 'silent',
    strict: true,
  });
  const walk: Walk = {
    yaml,
    file,
    text,
    problems: [],
    anchors: new Map(),
    merged: 0,
    tooDeepAt: null,
    bomb: false,
  };
  const { node: root } = visit(walk, document.contents, 0);
  // A text that was cut off while deeply nested has one error per level: the depth alone is worth telling.
  const errors = document.errors.filter((error) => walk.tooDeepAt === null || error.pos[0] < walk.tooDeepAt);
  const syntax = errors.slice(0, MAX_PROBLEMS - walk.problems.length).map((error) => {
    const offset = Math.min(error.pos[0], text.length);
    const length = Math.max(0, Math.min(error.pos[1], text.length) - offset);
    return finding('syntax-error', `YAML: ${firstSentence(error.message)}`, { file, offset, length });
  });
  return { root, problems: [...syntax, ...walk.problems] };
}

function firstSentence(message: string): string {
  return message.split('\n', 1)[0]!.replace(/\s+at line \d+, column \d+:?$/, '');
}

function visit(walk: Walk, node: unknown, depth: number): Sized {
  const { yaml } = walk;
  if (yaml.isAlias(node)) return visitAlias(walk, node.source, rangeOfNode(walk, node.range));
  const anchor = yaml.isScalar(node) || yaml.isMap(node) || yaml.isSeq(node) ? node.anchor : undefined;
  if (anchor !== undefined) walk.anchors.set(anchor, 'open');
  const result = visitContent(walk, node, depth);
  if (anchor !== undefined) walk.anchors.set(anchor, result);
  return result;
}

function visitContent(walk: Walk, node: unknown, depth: number): Sized {
  const { yaml } = walk;
  if (yaml.isScalar(node)) return { node: scalar(walk, node), expanded: 1 };
  if (!yaml.isMap(node) && !yaml.isSeq(node)) return { node: NOTHING, expanded: 0 };
  const range = rangeOfNode(walk, node.range);
  if (depth >= MAX_DEPTH) {
    if (walk.tooDeepAt === null) {
      walk.tooDeepAt = range.offset;
      const message = `Not read below here: more than ${MAX_DEPTH} nested values`;
      walk.problems.push(finding('syntax-error', message, { ...range, length: Math.min(range.length, 1) }));
    }
    return { node: { kind: 'missing', range }, expanded: 0 };
  }
  if (yaml.isMap(node)) return visitMap(walk, node.items, node.flow === true, range, depth);
  let expanded = 1;
  const items = node.items.map((item) => {
    const child = visit(walk, item, depth + 1);
    expanded += child.expanded;
    return child.node;
  });
  return { node: { kind: 'list', items, range }, expanded };
}

function visitMap(
  walk: Walk,
  pairs: readonly { readonly key: unknown; readonly value: unknown }[],
  flow: boolean,
  range: TextRange,
  depth: number,
): Sized {
  const entries = new Map<string, MapEntry>();
  const inherited: TreeNode[] = [];
  let expanded = 1;
  for (const pair of pairs) {
    if (!walk.yaml.isScalar(pair.key)) continue;
    const keyRange = rangeOfNode(walk, pair.key.range);
    const key = typeof pair.key.value === 'string' ? pair.key.value : textOf(walk, keyRange);
    const child = visit(walk, pair.value, depth + 1);
    expanded += child.expanded;
    if (key === '<<') {
      inherited.push(...(child.node.kind === 'list' ? child.node.items : [child.node]));
      continue;
    }
    const earlier = entries.get(key);
    if (earlier !== undefined) reportDuplicate(walk, key, keyRange, earlier.keyRange);
    entries.delete(key);
    entries.set(key, { key, keyRange, value: child.node });
  }
  for (const source of inherited) merge(walk, entries, source);
  return { node: { kind: 'map', entries, flow, range }, expanded };
}

function merge(walk: Walk, entries: Map<string, MapEntry>, source: TreeNode): void {
  if (source.kind !== 'map') return;
  for (const entry of source.entries.values()) {
    walk.merged++;
    if (walk.merged > MAX_MERGED) {
      reportBomb(walk, source.range);
      return;
    }
    if (!entries.has(entry.key)) entries.set(entry.key, entry);
  }
}

/** A scalar reached through an alias keeps the place of the alias: that is the token to show and to edit. */
function visitAlias(walk: Walk, name: string, range: TextRange): Sized {
  const target = walk.anchors.get(name);
  if (target === 'open') {
    walk.problems.push(finding('syntax-error', `YAML: *${name} stands inside its own anchor`, range));
    return { node: { kind: 'missing', range }, expanded: 0 };
  }
  if (target === undefined) return { node: { kind: 'missing', range }, expanded: 0 };
  if (target.expanded > MAX_EXPANDED) {
    reportBomb(walk, range);
    return { node: { kind: 'missing', range }, expanded: 0 };
  }
  return target.node.kind === 'scalar' ? { node: { ...target.node, range }, expanded: 1 } : target;
}

function reportBomb(walk: Walk, range: TextRange): void {
  if (walk.bomb) return;
  walk.bomb = true;
  walk.problems.push(finding('syntax-error', 'Not read: aliases repeat more values than a config can hold', range));
}

function reportDuplicate(walk: Walk, key: string, range: TextRange, first: TextRange): void {
  if (walk.problems.length >= MAX_PROBLEMS) return;
  walk.problems.push(
    finding('duplicate-key', `"${key}" is given twice; the last one counts`, range, [
      { message: 'first given here', range: first },
    ]),
  );
}

function scalar(
  walk: Walk,
  node: { readonly value: unknown; readonly type?: unknown; readonly range?: readonly number[] | null | undefined },
): TreeNode {
  const range = rangeOfNode(walk, node.range);
  const { value } = node;
  const plain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null;
  const text = textOf(walk, range);
  return {
    kind: 'scalar',
    value: plain ? value : text,
    text,
    quoted: node.type !== 'PLAIN',
    range,
  };
}

function rangeOfNode(walk: Walk, range: readonly number[] | null | undefined): TextRange {
  const offset = Math.min(range?.[0] ?? 0, walk.text.length);
  const end = Math.min(range?.[1] ?? offset, walk.text.length);
  return { file: walk.file, offset, length: Math.max(0, end - offset) };
}

function textOf(walk: Walk, range: TextRange): string {
  return walk.text.slice(range.offset, range.offset + range.length);
}
