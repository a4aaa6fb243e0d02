/**
 * The YAML front end: text to tree, over the tolerant document parser of the `yaml` library. Aliases share the tree
 * of their anchor instead of copying it, and merge keys (`<<`) are resolved here, so that an alias bomb or a cycle
 * costs no more than the text itself.
 */

import type { Finding } from '../../model/finding.ts';
import type { TextRange } from '../../model/source.ts';
import { finding, MAX_DEPTH, MAX_PROBLEMS, MAX_SLOW_TEXT_LENGTH, refuseText } from '../limits.ts';
import { parser } from '../parsers.ts';
import { type MapEntry, NOTHING, type Tree, type TreeNode } from '../tree.ts';

/** Values that a file may hold once its aliases are followed. */
const MAX_EXPANDED = 100_000;
/** Entries that merge keys may bring in. */
const MAX_MERGED = 10_000;
/** Open brackets, those in texts and comments counted too. */
const MAX_BRACKETS = 1000;
/** Quotes without an end that are passed over. */
const MAX_OPEN_QUOTES = 4;

/** Needs the `yaml` parser to be loaded. Problems: syntax errors, duplicate keys, limits. Never throws. */
export function readYaml(file: string, text: string): Tree {
  const refused = refuseText(file, text, MAX_SLOW_TEXT_LENGTH);
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
  const deep = tooDeepAt(text);
  const open: Finding[] = deep === null ? [] : [tooDeep({ file, offset: deep, length: 1 })];
  let readable = deep === null ? text : text.slice(0, text.lastIndexOf('\n', deep) + 1);
  for (;;) {
    const tree = convertOnce(file, readable);
    const quote = open.length < MAX_OPEN_QUOTES ? openQuote(tree, readable) : null;
    if (quote === null) return { root: tree.root, problems: [...open, ...tree.problems].slice(0, MAX_PROBLEMS) };
    open.push(finding('syntax-error', 'YAML: Missing closing quote', { file, ...lineRest(readable, quote) }));
    readable = `${readable.slice(0, quote)} ${readable.slice(quote + 1)}`;
  }
}

/** A quote that is never closed swallows the file: it is read as a space instead, so that the rest is kept. */
function openQuote(tree: Tree, text: string): number | null {
  if (!tree.problems.some(({ message }) => /^YAML: Missing closing ["']quote/.test(message))) return null;
  const last = lastScalar(tree.root);
  return last?.quoted === true &&
    last.range.offset + last.range.length >= text.trimEnd().length &&
    last.text.includes('\n')
    ? last.range.offset
    : null;
}

function lastScalar(node: TreeNode): Extract<TreeNode, { kind: 'scalar' }> | null {
  if (node.kind === 'scalar') return node;
  const children =
    node.kind === 'list'
      ? node.items
      : node.kind === 'map'
        ? [...node.entries.values()].map((entry) => entry.value)
        : [];
  let found: Extract<TreeNode, { kind: 'scalar' }> | null = null;
  for (const child of children) {
    const last = lastScalar(child);
    if (last !== null && (found === null || last.range.offset > found.range.offset)) found = last;
  }
  return found;
}

function lineRest(text: string, offset: number): { readonly offset: number; readonly length: number } {
  return { offset, length: /^[^\r\n]*/.exec(text.slice(offset, offset + 200))![0].trimEnd().length };
}

function convertOnce(file: string, text: string): Tree {
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

/** Where a text nests so deeply that even parsing it would take long: brackets, or list dashes on one line. */
function tooDeepAt(text: string): number | null {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '[' || c === '{') depth++;
    else if ((c === ']' || c === '}') && depth > 0) depth--;
    if (depth > MAX_BRACKETS) return i;
  }
  const dashes = text.search(/(?:[-?] +){200}/);
  return dashes < 0 ? null : dashes;
}

function tooDeep(range: TextRange): Finding {
  return finding('syntax-error', `Not read below here: more than ${MAX_DEPTH} nested values`, range);
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
      walk.problems.push(tooDeep({ ...range, length: Math.min(range.length, 1) }));
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
      for (const each of child.node.kind === 'list' ? child.node.items : [child.node]) inherited.push(each);
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
    if (walk.problems.length < MAX_PROBLEMS)
      walk.problems.push(finding('syntax-error', `YAML: *${name} stands inside its own anchor`, range));
    return { node: { kind: 'missing', range }, expanded: 0 };
  }
  if (target === undefined) {
    if (walk.problems.length < MAX_PROBLEMS) {
      walk.problems.push(finding('syntax-error', `YAML: *${name} has no anchor before it`, range));
    }
    return { node: { kind: 'missing', range }, expanded: 0 };
  }
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
