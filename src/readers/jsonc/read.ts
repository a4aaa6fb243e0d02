/**
 * The JSON front end: text to tree, over the tolerant `jsonc-parser`. Comments and trailing commas are accepted, since
 * editors accept them; everything else that is wrong is a problem beside the tree that could be read.
 */

import type { Finding } from '../../model/finding.ts';
import type { TextRange } from '../../model/source.ts';
import { finding, MAX_DEPTH, MAX_PROBLEMS, refuseText } from '../limits.ts';
import { parser } from '../parsers.ts';
import { type MapEntry, NOTHING, type ScalarNode, type Tree, type TreeNode } from '../tree.ts';

/** In the order of the parser's error codes, which count from 1. */
const MESSAGES = [
  'something here is no JSON value',
  'a number is not well formed',
  'a key in double quotes is missing',
  'a value is missing',
  'a colon is missing',
  'a comma is missing',
  'a closing brace is missing',
  'a closing bracket is missing',
  'nothing may follow the value',
  'a comment is not well formed',
  'a comment does not end',
  'a text does not end',
  'a number does not end',
  'a \\u escape is not well formed',
  'an escape is not well formed',
  'a control character in a text',
] as const;

/** Needs the `jsonc` parser to be loaded. Problems: syntax errors, duplicate keys, limits. Never throws. */
export function readJsonc(file: string, text: string): Tree {
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

type JsonNode = NonNullable<ReturnType<ReturnType<typeof parser<'jsonc'>>['parseTree']>>;

interface Walk {
  readonly file: string;
  readonly text: string;
  readonly problems: Finding[];
  tooDeep: boolean;
}

function convert(file: string, text: string): Tree {
  const errors: { error: number; offset: number; length: number }[] = [];
  const options = { allowTrailingComma: true, allowEmptyContent: true };
  const root = parser('jsonc').parseTree(text.replace(/^\uFEFF/, ' '), errors, options);
  const first = errors.filter(({ offset }, i) => errors[i - 1]?.offset !== offset);
  const problems = first.slice(0, MAX_PROBLEMS).map(({ error, offset, length }) => {
    const start = Math.min(offset, text.length);
    const range = { file, offset: start, length: Math.max(0, Math.min(length, text.length - start)) };
    return finding('syntax-error', `JSON: ${MESSAGES[error - 1] ?? 'this cannot be read'}`, range);
  });
  const walk: Walk = { file, text, problems, tooDeep: false };
  return { root: root === undefined ? NOTHING : visit(walk, root, 0), problems };
}

function visit(walk: Walk, node: JsonNode, depth: number): TreeNode {
  const range = rangeOfNode(walk, node);
  // `8x` is being typed; the parser takes the 8 alone.
  if (node.type === 'number' && /\w/.test(walk.text[range.offset + range.length] ?? ''))
    return { kind: 'missing', range };
  if (node.type !== 'object' && node.type !== 'array') return scalar(walk, node, range);
  if (depth >= MAX_DEPTH) {
    if (!walk.tooDeep) {
      walk.tooDeep = true;
      const message = `Not read below here: more than ${MAX_DEPTH} nested values`;
      walk.problems.push(finding('syntax-error', message, { ...range, length: Math.min(range.length, 1) }));
    }
    return { kind: 'missing', range };
  }
  const children = node.children ?? [];
  if (node.type === 'array')
    return { kind: 'list', items: children.map((item) => visit(walk, item, depth + 1)), range };
  return { kind: 'map', entries: entriesOf(walk, children, depth), flow: true, range };
}

function entriesOf(walk: Walk, properties: readonly JsonNode[], depth: number): ReadonlyMap<string, MapEntry> {
  const entries = new Map<string, MapEntry>();
  for (const property of properties) {
    const [keyNode, valueNode] = property.children ?? [];
    if (keyNode === undefined || typeof keyNode.value !== 'string') continue;
    const key = keyNode.value;
    const keyRange = rangeOfNode(walk, keyNode);
    const earlier = entries.get(key);
    if (earlier !== undefined) reportDuplicate(walk, key, keyRange, earlier.keyRange);
    entries.delete(key);
    const value = valueNode === undefined ? NOTHING : visit(walk, valueNode, depth + 1);
    entries.set(key, { key, keyRange, value });
  }
  return entries;
}

function scalar(walk: Walk, node: JsonNode, range: TextRange): ScalarNode {
  const value: unknown = node.value;
  const plain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  const text = walk.text.slice(range.offset, range.offset + range.length);
  return { kind: 'scalar', value: plain ? value : null, text, quoted: node.type === 'string', range };
}

function reportDuplicate(walk: Walk, key: string, range: TextRange, first: TextRange): void {
  if (walk.problems.length >= MAX_PROBLEMS) return;
  walk.problems.push(
    finding('duplicate-key', `"${key}" is given twice; the last one counts`, range, [
      { message: 'first given here', range: first },
    ]),
  );
}

function rangeOfNode(walk: Walk, node: JsonNode): TextRange {
  const offset = Math.min(Math.max(0, node.offset), walk.text.length);
  const end = Math.min(offset + Math.max(0, node.length), walk.text.length);
  return { file: walk.file, offset, length: end - offset };
}
