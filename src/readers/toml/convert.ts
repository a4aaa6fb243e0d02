/** From the TOML parser's nodes to the tree that all front ends share. */

import type { Finding } from '../../model/finding.ts';
import type { TextRange } from '../../model/source.ts';
import { finding, MAX_DEPTH } from '../limits.ts';
import type { parser } from '../parsers.ts';
import type { MapEntry, TreeNode } from '../tree.ts';

export type TomlProgram = ReturnType<ReturnType<typeof parser<'toml'>>['parseTOML']>;
type KeyValue = Extract<TomlProgram['body'][0]['body'][number], { type: 'TOMLKeyValue' }>;
type Key = KeyValue['key'];
type Span = readonly [number, number];

/** A map and a list while they are filled; done, they are nodes of the tree. */
interface OpenMap {
  readonly kind: 'map';
  readonly entries: Map<string, MapEntry>;
  readonly flow: boolean;
  readonly range: TextRange;
}

interface OpenList {
  readonly kind: 'list';
  readonly items: TreeNode[];
  readonly range: TextRange;
}

interface Context {
  readonly file: string;
  readonly text: string;
  readonly problems: Finding[];
  tooDeep: boolean;
}

/** The tree of a parsed program; ranges are those of `text`, which has the same offsets. */
export function convertToml(file: string, text: string, program: TomlProgram, problems: Finding[]): TreeNode {
  const context: Context = { file, text, problems, tooDeep: false };
  const root = openMap({ file, offset: 0, length: text.length }, false);
  for (const node of program.body[0].body) {
    if (node.type === 'TOMLKeyValue') {
      place(context, root, node, 0);
      continue;
    }
    const table = openTable(context, root, node.key, node.kind === 'array', node.range);
    for (const entry of node.body) if (table !== null) place(context, table, entry, node.key.keys.length);
  }
  return root;
}

function openMap(range: TextRange, flow: boolean): OpenMap {
  return { kind: 'map', entries: new Map(), flow, range };
}

function rangeOf(context: Context, [start, end]: Span): TextRange {
  return { file: context.file, offset: start, length: end - start };
}

function keyName(key: Key['keys'][number]): string {
  return key.type === 'TOMLBare' ? key.name : key.value;
}

function tooDeep(context: Context, range: TextRange): void {
  if (context.tooDeep) return;
  context.tooDeep = true;
  const message = `Not read below here: more than ${MAX_DEPTH} nested values`;
  context.problems.push(finding('syntax-error', message, { ...range, length: Math.min(range.length, 1) }));
}

/** The map that holds the last of some keys, the ones before created as needed; null where a value is in the way. */
function descend(context: Context, from: OpenMap, keys: Key['keys'], depth: number): OpenMap | null {
  if (depth + keys.length > MAX_DEPTH) {
    tooDeep(context, rangeOf(context, keys[0]!.range));
    return null;
  }
  let map = from;
  for (const key of keys.slice(0, -1)) {
    const name = keyName(key);
    const keyRange = rangeOf(context, key.range);
    const found = map.entries.get(name)?.value ?? openMap(keyRange, false);
    if (!map.entries.has(name)) map.entries.set(name, { key: name, keyRange, value: found });
    const next = found.kind === 'list' ? found.items.at(-1) : found;
    if (next?.kind !== 'map') return null;
    map = next as OpenMap;
  }
  return map;
}

function openTable(context: Context, root: OpenMap, key: Key, isArray: boolean, span: Span): OpenMap | null {
  const parent = descend(context, root, key.keys, 0);
  if (parent === null) return null;
  const last = key.keys.at(-1)!;
  const name = keyName(last);
  const keyRange = rangeOf(context, last.range);
  const found = parent.entries.get(name);
  const table = openMap(rangeOf(context, span), false);
  if (isArray) {
    const list: OpenList = (found?.value as OpenList | undefined) ?? { kind: 'list', items: [], range: table.range };
    list.items.push(table);
    if (found === undefined) parent.entries.set(name, { key: name, keyRange, value: list });
    return table;
  }
  // `[a]` after `[a.b]`: what stands in it already is kept, and the place is the header's.
  const earlier = found?.value.kind === 'map' ? found.value.entries : [];
  for (const [inner, entry] of earlier) table.entries.set(inner, entry);
  parent.entries.set(name, { key: name, keyRange, value: table });
  return table;
}

function place(context: Context, into: OpenMap, node: KeyValue, depth: number): void {
  const map = descend(context, into, node.key.keys, depth);
  if (map === null) return;
  const last = node.key.keys.at(-1)!;
  const key = keyName(last);
  const value = convertValue(context, node.value, depth + node.key.keys.length);
  map.entries.set(key, { key, keyRange: rangeOf(context, last.range), value });
}

function convertValue(context: Context, node: KeyValue['value'], depth: number): TreeNode {
  const range = rangeOf(context, node.range);
  if (node.type === 'TOMLValue') {
    const text = context.text.slice(range.offset, range.offset + range.length);
    const value = node.value instanceof Object ? text : node.value;
    return { kind: 'scalar', value, text, quoted: node.kind === 'string', range };
  }
  if (depth >= MAX_DEPTH) {
    tooDeep(context, range);
    return { kind: 'missing', range };
  }
  if (node.type === 'TOMLArray') {
    return { kind: 'list', items: node.elements.map((element) => convertValue(context, element, depth + 1)), range };
  }
  const map = openMap(range, true);
  for (const entry of node.body) place(context, map, entry, depth + 1);
  return map;
}
