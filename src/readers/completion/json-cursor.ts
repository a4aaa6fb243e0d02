/** Where a cursor stands in half-typed JSON, by a scanner that takes any text. The `jsonc` parser must be loaded. */

import { parser } from '../parsers.ts';
import type { Cursor } from './yaml-cursor.ts';

/** null in a comment, and outside the outermost braces. */
export function jsonCursor(text: string, offset: number): Cursor | null {
  const location = parser('jsonc').getLocation(text.replace(/^\uFEFF/, ' '), offset);
  const { previousNode, isAtPropertyKey } = location;
  const names = location.path.map((segment) => (typeof segment === 'number' ? '[]' : segment));
  const inNode =
    previousNode !== undefined && previousNode.offset <= offset && offset <= previousNode.offset + previousNode.length;
  let start = inNode ? previousNode.offset : offset;
  let end = inNode ? previousNode.offset + previousNode.length : offset;
  if (!inNode) {
    while (start > 0 && /[\w.\-"]/.test(text[start - 1]!)) start--;
    while (end < text.length && /[\w.\-"]/.test(text[end]!)) end++;
  }
  if (/\/\/[^\n]*$/.test(text.slice(text.lastIndexOf('\n', offset - 1) + 1, start))) return null;
  if (names.length === 0) return null;
  return {
    path: isAtPropertyKey ? names.slice(0, -1) : names,
    place: isAtPropertyKey ? 'key' : 'value',
    start,
    end,
    flow: true,
  };
}
