/**
 * Typed values out of a tree: every number, word and switch that a reader takes goes through here, so that NaN, a
 * negative size, a fraction or a string is the same clear `invalid-value` in every format, and never a number that
 * something computes with.
 */

import type { Finding } from '../model/finding.ts';
import { fromText, type Sourced, type Unknown, unknown } from '../model/source.ts';
import { finding } from './limits.ts';
import { entryAt, type MissingNode, nodeAt, type ScalarNode, type TreeNode } from './tree.ts';

/** What a number must be, in words that follow "takes". */
export interface NumberRule {
  readonly takes: string;
  readonly accepts: (value: number) => boolean;
}

/** A size or a count: 1, 2, 3 … */
export const WHOLE: NumberRule = { takes: 'a whole number from 1', accepts: (v) => Number.isSafeInteger(v) && v >= 1 };
export const WHOLE_OR_ZERO: NumberRule = {
  takes: 'a whole number from 0',
  accepts: (v) => Number.isSafeInteger(v) && v >= 0,
};
/** -1 stands for "what is left", as in torchtitan. */
export const WHOLE_OR_REST: NumberRule = {
  takes: 'a whole number from 1, or -1',
  accepts: (v) => Number.isSafeInteger(v) && (v >= 1 || v === -1),
};
export const POSITIVE: NumberRule = { takes: 'a number above 0', accepts: (v) => Number.isFinite(v) && v > 0 };
export const NOT_NEGATIVE: NumberRule = { takes: 'a number from 0', accepts: (v) => Number.isFinite(v) && v >= 0 };

const NUMBER = /^[+-]?(?:\d[\d_]*)(?:\.\d*)?(?:e[+-]?\d+)?$|^[+-]?\.\d+(?:e[+-]?\d+)?$/i;

/** A decimal number as Python, YAML 1.1 and TOML write it (`1_000`, `1e3`, `.5`); null for any other text. */
export function parseNumber(text: string): number | null {
  return NUMBER.test(text) ? Number(text.replaceAll('_', '')) : null;
}

function numberOf(node: ScalarNode): number | null {
  if (typeof node.value === 'number') return node.value;
  return typeof node.value === 'string' && !node.quoted ? parseNumber(node.value) : null;
}

/** A text for a message: one line, and not long. */
export function shortened(text: string): string {
  const line = text.slice(0, 200).replace(/\s+/g, ' ').trim();
  return line.length > 40 ? `${line.slice(0, 40)}…` : line;
}

/** What stands there, for a message. */
export function quoteValue(node: TreeNode): string {
  if (node.kind === 'map') return 'a map';
  if (node.kind === 'list') return 'a list';
  if (node.kind === 'missing') return 'nothing';
  return shortened(node.text);
}

function absentOrNull(node: TreeNode): node is MissingNode | (ScalarNode & { readonly value: null }) {
  return node.kind === 'missing' || (node.kind === 'scalar' && node.value === null);
}

/**
 * A key without a value: it is being typed, or its value is broken, so that what it will be is unknown. Null where the
 * key is absent, or where a null is written.
 */
function halfWritten(root: TreeNode, path: string, absent: Sourced<unknown>): Unknown | null {
  const entry = entryAt(root, path);
  if (entry === null || !isHalfWritten(entry.value)) return null;
  const say = absent.source.kind === 'unknown' ? absent.source.say : undefined;
  return unknown(`a value for ${path}`, say, entry.keyRange);
}

export function isHalfWritten(node: TreeNode): boolean {
  return node.kind === 'missing' || (node.kind === 'scalar' && node.value === null && node.text === '');
}

/** The front end's own word that a value is not known. */
function openSource(node: TreeNode): Unknown | null {
  return node.kind === 'scalar' && node.source?.kind === 'unknown' ? { value: null, source: node.source } : null;
}

/** The value with where it comes from: its text, unless the front end knows better. */
function read<T>(value: T, { source, range }: ScalarNode): Sourced<T> {
  return source === undefined || source.kind === 'unknown' ? fromText(value, range) : { value, source };
}

function refuse(node: Exclude<TreeNode, { kind: 'missing' }>, path: string, takes: string, problems: Finding[]) {
  problems.push(finding('invalid-value', `${path} takes ${takes}, not ${quoteValue(node)}`, node.range));
  return unknown(`a ${path} that is ${takes}`, undefined, node.range);
}

/**
 * The number at a dotted path. `absent` is returned where the key is not given or null; a value that the rule does
 * not accept adds an `invalid-value` to `problems` and is unknown.
 */
export function numberAt(
  root: TreeNode,
  path: string,
  rule: NumberRule,
  absent: Sourced<number>,
  problems: Finding[],
): Sourced<number> {
  const node = nodeAt(root, path);
  if (absentOrNull(node)) return halfWritten(root, path, absent) ?? absent;
  const open = openSource(node);
  if (open !== null) return open;
  const value = node.kind === 'scalar' ? numberOf(node) : null;
  return node.kind === 'scalar' && value !== null && rule.accepts(value)
    ? read(value, node)
    : refuse(node, path, rule.takes, problems);
}

/** The text at a dotted path; a number or a switch counts as the text that is written. */
export function textAt(root: TreeNode, path: string, absent: Sourced<string>, problems: Finding[]): Sourced<string> {
  const node = nodeAt(root, path);
  if (absentOrNull(node)) return halfWritten(root, path, absent) ?? absent;
  const open = openSource(node);
  if (open !== null) return open;
  if (node.kind !== 'scalar') return refuse(node, path, 'a text', problems);
  return read(typeof node.value === 'string' ? node.value : node.text, node);
}

export function booleanAt(
  root: TreeNode,
  path: string,
  absent: Sourced<boolean>,
  problems: Finding[],
): Sourced<boolean> {
  const node = nodeAt(root, path);
  if (absentOrNull(node)) return halfWritten(root, path, absent) ?? absent;
  const open = openSource(node);
  if (open !== null) return open;
  return node.kind === 'scalar' && typeof node.value === 'boolean'
    ? read(node.value, node)
    : refuse(node, path, 'true or false', problems);
}

/** One word of a closed list. */
export function choiceAt<T extends string>(
  root: TreeNode,
  path: string,
  choices: readonly T[],
  absent: Sourced<T>,
  problems: Finding[],
): Sourced<T> {
  const node = nodeAt(root, path);
  if (absentOrNull(node)) return halfWritten(root, path, absent) ?? absent;
  const open = openSource(node);
  if (open !== null) return open;
  const found = node.kind === 'scalar' ? choices.find((choice) => choice === node.value) : undefined;
  return found === undefined || node.kind !== 'scalar'
    ? refuse(node, path, `one of ${choices.join(', ')}`, problems)
    : read(found, node);
}
