/**
 * Writing one value into a YAML or JSON text in place: the token is replaced, or a key is inserted beside its
 * siblings in their own style (block or flow, indentation, line break), with comments and all else left alone.
 */

import type { TextEdit } from '../../model/finding.ts';
import type { MapEntry, MapNode, ScalarNode, TreeNode } from '../tree.ts';
import type { NativeValue } from './check.ts';

interface Target {
  readonly file: string;
  readonly text: string;
  readonly json: boolean;
}

/** One edit that makes the dotted key hold the value; null where something else stands in its way. */
export function setEdits(
  file: string,
  text: string,
  root: TreeNode,
  key: string,
  value: NativeValue,
): readonly TextEdit[] | null {
  const target: Target = { file, text, json: /\.jsonc?$/i.test(file) };
  const path = key.split('.');
  if (root.kind !== 'map') return appendToEmpty(target, root, path, value);
  let map: MapNode = root;
  for (const [depth, name] of path.entries()) {
    const rest = path.slice(depth + 1);
    const entry = map.entries.get(name);
    if (entry === undefined) return insert(target, map, pairText(target, [name, ...rest], value));
    const node = entry.value;
    const empty = node.kind === 'missing' || (node.kind === 'scalar' && node.value === null);
    if (empty)
      return fill(target, entry, rest.length === 0 ? valueText(target, value) : `{ ${pairText(target, rest, value)} }`);
    if (rest.length === 0) {
      return node.kind === 'scalar'
        ? [edit(target, node.range.offset, node.range.length, sameQuotes(target, node, value))]
        : null;
    }
    if (node.kind !== 'map') return null;
    map = node;
  }
  return null;
}

function edit(target: Target, offset: number, length: number, text: string): TextEdit {
  return { file: target.file, offset, length, text };
}

function appendToEmpty(
  target: Target,
  root: TreeNode,
  path: readonly string[],
  value: NativeValue,
): readonly TextEdit[] | null {
  const empty = root.kind === 'missing' || (root.kind === 'scalar' && root.value === null && root.text === '');
  const onlyComments = target.text.split(/\r\n|\r|\n/).every((line) => /^\uFEFF?\s*(#.*)?$/.test(line));
  if (!empty || target.json || !onlyComments) return null;
  const atLineStart = /(^\uFEFF?|[\r\n])$/.test(target.text);
  return [
    edit(
      target,
      target.text.length,
      0,
      `${atLineStart ? '' : eol(target)}${pairText(target, path, value)}${eol(target)}`,
    ),
  ];
}

/** The place after the colon of a key that has no value. */
function fill(target: Target, entry: MapEntry, written: string): readonly TextEdit[] | null {
  const { value } = entry;
  if (value.kind === 'scalar' && value.range.length > 0)
    return [edit(target, value.range.offset, value.range.length, written)];
  const colon = colonAfter(target, entry);
  if (colon === null) return [edit(target, endOfKey(entry), 0, `: ${written}`)];
  return [edit(target, colon + 1, 0, ` ${written}`)];
}

function insert(target: Target, map: MapNode, pair: string): readonly TextEdit[] | null {
  const last = lastEntry(map);
  if (last === null) {
    if (target.text[map.range.offset] !== '{') return null;
    const blank = /^[ \t]/.test(target.text.slice(map.range.offset + 1));
    return [edit(target, map.range.offset + 1, 0, blank ? ` ${pair}` : ` ${pair} `)];
  }
  const end = endOfEntry(target, last);
  const lineStart = startOfLine(target, last.keyRange.offset);
  const before = target.text.slice(lineStart, last.keyRange.offset).replace('\uFEFF', '');
  const indent = ' '.repeat(before.length);
  if (!map.flow)
    return [edit(target, endOfLine(target, end), 0, `${eol(target)}${/\S/.test(before) ? indent : before}${pair}`)];
  const ownLine = !/\S/.test(before);
  const nothingBehind = /^[ \t]*,?[ \t]*$/.test(target.text.slice(end, endOfLine(target, end)));
  return [edit(target, end, 0, ownLine && nothingBehind ? `,${eol(target)}${before}${pair}` : `, ${pair}`)];
}

/** The last entry that stands in the map itself; merged ones stand elsewhere. */
function lastEntry(map: MapNode): MapEntry | null {
  let last: MapEntry | null = null;
  const end = map.range.offset + map.range.length;
  for (const entry of map.entries.values()) {
    const { offset } = entry.keyRange;
    const inside = offset >= map.range.offset && offset <= end;
    if (inside && (last === null || offset > last.keyRange.offset)) last = entry;
  }
  return last;
}

function endOfEntry(target: Target, entry: MapEntry): number {
  const afterKey = endOfKey(entry);
  const end = endOfNode(target, entry.value);
  if (end === null) return (colonAfter(target, entry) ?? afterKey - 1) + 1;
  return end >= afterKey ? end : endOfLine(target, afterKey);
}

/** The end of what is written; null for nothing. A block ends with its last value, not with the blank lines behind. */
function endOfNode(target: Target, node: TreeNode): number | null {
  if (node.kind === 'missing' || (node.kind === 'scalar' && node.range.length === 0)) return null;
  const written = node.range.offset + node.range.length;
  if (node.kind === 'map' && !node.flow) {
    const last = lastEntry(node);
    return last === null ? written : endOfEntry(target, last);
  }
  if (node.kind === 'list' && target.text[node.range.offset] !== '[') {
    const last = node.items.at(-1);
    const end = last === undefined ? null : endOfNode(target, last);
    return end === null || end < node.range.offset ? trimBreaks(target, written) : end;
  }
  return trimBreaks(target, written);
}

function trimBreaks(target: Target, offset: number): number {
  let end = offset;
  while (end > 0 && /\s/.test(target.text[end - 1]!)) end--;
  return end;
}

function endOfKey(entry: MapEntry): number {
  return entry.keyRange.offset + entry.keyRange.length;
}

function colonAfter(target: Target, entry: MapEntry): number | null {
  const end = endOfKey(entry);
  const found = /^[ \t]*:/.exec(target.text.slice(end, end + 200));
  return found === null ? null : end + found[0].length - 1;
}

function startOfLine(target: Target, offset: number): number {
  const { text } = target;
  let start = offset;
  while (start > 0 && text[start - 1] !== '\n' && text[start - 1] !== '\r') start--;
  return start;
}

function endOfLine(target: Target, offset: number): number {
  const { text } = target;
  let end = offset;
  while (end < text.length && text[end] !== '\n' && text[end] !== '\r') end++;
  return end;
}

function eol(target: Target): string {
  return /\r\n|\r|\n/.exec(target.text)?.[0] ?? '\n';
}

function pairText(target: Target, path: readonly string[], value: NativeValue): string {
  const [name = '', ...rest] = path;
  const key = target.json ? JSON.stringify(name) : name;
  return `${key}: ${rest.length === 0 ? valueText(target, value) : `{ ${pairText(target, rest, value)} }`}`;
}

const PLAIN = /^[A-Za-z][\w.-]*(?: [\w.-]+)*$|^1f1b[\w-]*$/;
const RESERVED = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

function valueText(target: Target, value: NativeValue): string {
  if (typeof value !== 'string') return String(value);
  return !target.json && PLAIN.test(value) && !RESERVED.test(value) ? value : JSON.stringify(value);
}

/** A quoted token keeps its quotes. */
function sameQuotes(target: Target, node: ScalarNode, value: NativeValue): string {
  const written = valueText(target, value);
  const quote = node.text[0];
  if (typeof value !== 'string' || !node.quoted || written !== value) return written;
  return quote === "'" || quote === '"' ? `${quote}${value}${quote}` : written;
}
