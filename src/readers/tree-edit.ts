/**
 * Writing a key into a map in braces (JSON, GPT-NeoX) or without: replaced in its place, or a line of its own in the
 * quotes, spelling and indentation of its neighbour.
 */

import type { TextEdit } from '../model/finding.ts';
import { indentOf, lineBreakOf } from './edit-lines.ts';
import type { MapNode, TreeNode } from './tree.ts';

/** Sets a key of a map: in its place, else on a line after the first of `after` that is written. */
export function setKey(
  file: string,
  text: string,
  root: MapNode,
  key: string,
  literal: string,
  after: readonly string[],
): readonly TextEdit[] | null {
  const present = root.entries.get(key)?.value;
  if (present !== undefined) return replaced(file, present, literal);
  const neighbour = after.map((name) => root.entries.get(name)).find((entry) => entry !== undefined);
  if (neighbour === undefined || neighbour.value.kind !== 'scalar' || neighbour.value.range.length === 0) return null;
  const { keyRange, value } = neighbour;
  const written = text.slice(keyRange.offset, keyRange.offset + keyRange.length);
  const quote = /^["']/.exec(written)?.[0] ?? '';
  const name = written.includes('-') ? key.replaceAll('_', '-') : key;
  const end = value.range.offset + value.range.length;
  const comma = /^[ \t]*,/.exec(text.slice(end, end + 40))?.[0].length ?? 0;
  const line = `${lineBreakOf(text)}${indentOf(text, keyRange.offset)}${quote}${name}${quote}: ${literal}`;
  if (!root.flow) return [{ file, offset: end, length: 0, text: line }];
  return comma > 0
    ? [{ file, offset: end + comma, length: 0, text: `${line},` }]
    : [{ file, offset: end, length: 0, text: `,${line}` }];
}

function replaced(file: string, node: TreeNode, literal: string): readonly TextEdit[] | null {
  if (node.kind !== 'scalar' || node.range.length === 0) return null;
  return [{ file, offset: node.range.offset, length: node.range.length, text: literal }];
}
