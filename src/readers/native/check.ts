/**
 * The native format's own validation: one walk over the tree against the key table. It reports unknown keys (with
 * what was probably meant), wrong types, unknown words and numbers out of range, each at its exact token, and hands
 * the legal values on. A key without a value counts as absent: that is how a config looks while it is typed.
 */

import type { Finding } from '../../model/finding.ts';
import type { TextRange } from '../../model/source.ts';
import { finding, MAX_PROBLEMS } from '../limits.ts';
import type { MapEntry, TreeNode } from '../tree.ts';
import { parseNumber, quoteValue } from '../values.ts';
import {
  canonicalChoice,
  childKey,
  childNames,
  choiceValues,
  expectation,
  isNativeKey,
  type KeyRow,
  keyRow,
  NATIVE_KEYS,
} from './keys.ts';
import { suggest } from './suggest.ts';

export type NativeValue = number | string | boolean;

export interface Token {
  readonly value: NativeValue;
  readonly range: TextRange;
}

export interface Checked {
  /** Legal values by their key (`pipeline.size`, `stages[3].layers`). */
  readonly values: ReadonlyMap<string, Token>;
  /** Values that are given but not legal, by their key. */
  readonly illegal: ReadonlyMap<string, TextRange>;
  readonly findings: readonly Finding[];
}

interface Walk {
  readonly values: Map<string, Token>;
  readonly illegal: Map<string, TextRange>;
  readonly findings: Finding[];
}

/** Checks a whole file. At most `MAX_PROBLEMS` findings: a broken file has thousands. */
export function checkTree(root: TreeNode): Checked {
  const walk: Walk = { values: new Map(), illegal: new Map(), findings: [] };
  if (root.kind === 'map') checkMap(walk, root.entries, '', '');
  else if (root.kind === 'list' || (root.kind === 'scalar' && root.value !== null)) {
    report(walk, 'invalid-value', `A pipeline plan is a map of keys, not ${quoteValue(root)}`, root.range);
  }
  return walk;
}

/** A value from outside the file, against the same table; null where it is not legal. */
export function legalValue(row: KeyRow, written: NativeValue): NativeValue | null {
  switch (row.type) {
    case 'integer':
    case 'number': {
      const value = typeof written === 'string' ? parseNumber(written) : written;
      return typeof value === 'number' && inRange(row, value) ? value : null;
    }
    case 'boolean':
      return written === true || written === 'true' ? true : written === false || written === 'false' ? false : null;
    case 'text':
      return String(written);
    case 'choice':
      return canonicalChoice(row, String(written));
    case 'map':
    case 'list':
      return null;
  }
}

/** `key` is the key in the table (`stages[].layers`), `label` the key as the user sees it (`stages[3].layers`). */
function checkMap(walk: Walk, entries: ReadonlyMap<string, MapEntry>, key: string, label: string): void {
  for (const entry of entries.values()) {
    const child = childKey(key, entry.key);
    if (isNativeKey(child)) checkNode(walk, entry.value, child, childKey(label, entry.key));
    else report(walk, 'unknown-key', unknownKeyMessage(key, entry.key), entry.keyRange);
  }
}

function checkNode(walk: Walk, node: TreeNode, key: keyof typeof NATIVE_KEYS, label: string): void {
  if (node.kind === 'missing' || (node.kind === 'scalar' && node.value === null)) return;
  const row = keyRow(key);
  if (row.type === 'map' && node.kind === 'map') {
    checkMap(walk, node.entries, key, label);
    return;
  }
  if (row.type === 'list' && node.kind === 'list') {
    for (const [index, item] of node.items.entries()) checkItem(walk, item, key, `${label}[${index}]`);
    return;
  }
  const value = node.kind === 'scalar' ? scalarValue(row, node.value, node.text, node.quoted) : null;
  if (value !== null) {
    walk.values.set(label, { value, range: node.range });
    return;
  }
  walk.illegal.set(label, node.range);
  const code = key === 'pipeline.schedule' ? 'unknown-schedule' : 'invalid-value';
  report(walk, code, illegalMessage(row, node, label), node.range);
}

function checkItem(walk: Walk, item: TreeNode, listKey: string, label: string): void {
  if (item.kind === 'map') checkMap(walk, item.entries, `${listKey}[]`, label);
  if (item.kind === 'map' || item.kind === 'missing' || (item.kind === 'scalar' && item.value === null)) return;
  walk.illegal.set(label, item.range);
  report(walk, 'invalid-value', `${label} takes a map of keys, not ${quoteValue(item)}`, item.range);
}

/** The value that a token means under the row's type; null where it means none. */
function scalarValue(row: KeyRow, value: NativeValue | null, text: string, quoted: boolean): NativeValue | null {
  if (value === null) return null;
  switch (row.type) {
    case 'integer':
    case 'number':
      return quoted || typeof value === 'boolean' ? null : legalValue(row, value);
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'text':
      return typeof value === 'string' ? value : text;
    case 'choice':
      return legalValue(row, typeof value === 'string' ? value : text);
    case 'map':
    case 'list':
      return null;
  }
}

function inRange(row: Extract<KeyRow, { type: 'integer' | 'number' }>, value: number): boolean {
  if (!Number.isFinite(value) || (row.type === 'integer' && !Number.isSafeInteger(value))) return false;
  return value <= row.maximum && (row.exclusive === true ? value > row.minimum : value >= row.minimum);
}

function illegalMessage(row: KeyRow, node: TreeNode, label: string): string {
  if (row.type === 'choice' && node.kind === 'scalar') {
    const values = choiceValues(row);
    const few = values.length <= 4;
    const meant = few ? null : suggest(String(node.value), [...values, ...Object.keys(row.spellings)]);
    const hint = meant === null ? `takes ${expectation(row)}` : `did you mean ${canonicalChoice(row, meant)}?`;
    return `${label}: ${quoteValue(node)} is not known; ${hint}`;
  }
  return `${label} takes ${expectation(row)}, not ${quoteValue(node)}`;
}

function unknownKeyMessage(parent: string, name: string): string {
  const shown = name.length > 40 ? `${name.slice(0, 40)}…` : name;
  const where = parent === '' ? 'at the top' : `in ${parent}`;
  const elsewhere = Object.keys(NATIVE_KEYS).find((key) => key.endsWith(`.${name}`) && !key.includes('[]'));
  const near = suggest(name, childNames(parent));
  if (near !== null) return `Unknown key ${shown} ${where}; did you mean ${near}?`;
  return elsewhere === undefined
    ? `Unknown key ${shown} ${where}: nothing reads it`
    : `Unknown key ${shown} ${where}; did you mean ${elsewhere}?`;
}

function report(walk: Walk, code: Parameters<typeof finding>[0], message: string, range: TextRange): void {
  if (walk.findings.length < MAX_PROBLEMS) walk.findings.push(finding(code, message, range));
}
