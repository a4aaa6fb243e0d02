/** Writing into YAML: a value is replaced in its place, a key that is absent becomes a line of its map. */

import type { TextEdit } from '../../model/finding.ts';
import { indentOf, lineBreakOf, lineEnd } from '../edit-lines.ts';
import { nodeAt, type TreeNode } from '../tree.ts';

/** Sets the last key of a dotted path to a YAML literal; null where its map does not exist or is empty. */
export function setYaml(
  file: string,
  text: string,
  root: TreeNode,
  path: string,
  literal: string,
): readonly TextEdit[] | null {
  const node = nodeAt(root, path);
  if (node.kind === 'map' || node.kind === 'list') return null;
  if (node.kind === 'scalar' && node.range.length > 0) {
    return [{ file, offset: node.range.offset, length: node.range.length, text: literal }];
  }
  const dot = path.lastIndexOf('.');
  const map = dot < 0 ? root : nodeAt(root, path.slice(0, dot));
  if (map.kind !== 'map') return null;
  const key = path.slice(dot + 1);
  const present = map.entries.get(key);
  if (present !== undefined) {
    const colon = text.indexOf(':', present.keyRange.offset + present.keyRange.length);
    return colon < 0 ? null : [{ file, offset: colon + 1, length: 0, text: ` ${literal}` }];
  }
  const own = [...map.entries.values()].filter(
    ({ keyRange }) => keyRange.offset >= map.range.offset && keyRange.offset < map.range.offset + map.range.length,
  );
  const last = own.at(-1);
  if (last === undefined) return null;
  const end = endOf(last.value) ?? last.keyRange.offset + last.keyRange.length;
  if (map.flow) return [{ file, offset: end, length: 0, text: `, ${key}: ${literal}` }];
  const added = `${lineBreakOf(text)}${indentOf(text, last.keyRange.offset)}${key}: ${literal}`;
  return [{ file, offset: lineEnd(text, end), length: 0, text: added }];
}

/** Where a value ends in the text; a block collection's range may run into the white space after it. */
function endOf(node: TreeNode): number | null {
  if (node.kind === 'missing') return null;
  if (node.kind === 'scalar') return node.range.length === 0 ? null : node.range.offset + node.range.length;
  if (node.kind === 'map' && node.flow) return node.range.offset + node.range.length;
  const children = node.kind === 'list' ? node.items : [...node.entries.values()].map((entry) => entry.value);
  const inside = children.map(endOf).filter((end) => end !== null);
  return inside.length === 0
    ? node.range.offset + node.range.length
    : inside.reduce((end, each) => Math.max(end, each));
}
