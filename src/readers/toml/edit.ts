/** Writing into TOML: a value is replaced in its place, a key that is absent becomes a line of its section. */

import type { TextEdit } from '../../model/finding.ts';
import { indentOf, lineBreakOf, lineEnd } from '../edit-lines.ts';
import { nodeAt, type TreeNode } from '../tree.ts';

/** Sets `section.key` to a TOML literal; null where the file gives the section another form. */
export function setToml(
  file: string,
  text: string,
  root: TreeNode,
  path: string,
  literal: string,
): readonly TextEdit[] | null {
  const node = nodeAt(root, path);
  if (node.kind !== 'missing') return [{ file, offset: node.range.offset, length: node.range.length, text: literal }];
  const [section, key] = path.split('.');
  if (section === undefined || key === undefined) return null;
  const table = nodeAt(root, section);
  const newline = lineBreakOf(text);
  if (table.kind === 'missing' && root.kind === 'map') {
    const gap = text === '' ? '' : /\n$/.test(text) ? newline : newline + newline;
    const added = `${gap}[${section}]${newline}${key} = ${literal}${newline}`;
    return [{ file, offset: text.length, length: 0, text: added }];
  }
  if (table.kind !== 'map' || table.flow || text[table.range.offset] !== '[') return null;
  const last = table.range.offset + table.range.length;
  const added = `${newline}${indentOf(text, lastStart(table, last))}${key} = ${literal}`;
  return [{ file, offset: lineEnd(text, last), length: 0, text: added }];
}

/** Where the last key of a table starts, for its indentation. */
function lastStart(table: Extract<TreeNode, { kind: 'map' }>, end: number): number {
  const starts = [...table.entries.values()].map((entry) => entry.keyRange.offset).filter((offset) => offset <= end);
  return Math.max(table.range.offset, ...starts.slice(-1));
}
