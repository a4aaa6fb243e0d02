/**
 * An object of a Python file as the tree that YAML and TOML give, so that every reader of keys can read it: parts are
 * keys, and a part that is not known says what is missing.
 */

import { unknown } from '../../model/source.ts';
import { type MapEntry, type MapNode, NOTHING, type ScalarNode, type TreeNode } from '../tree.ts';
import type { PyField, PyObject, PyScalar, PyValue } from './value.ts';

const MAX_TREE_DEPTH = 12;
const MAX_NODES = 20_000;

/** Only parts that are written somewhere; an object that holds itself ends at some depth. */
export function treeOf(value: PyValue): TreeNode {
  return node(value, 0, { left: MAX_NODES });
}

function node(value: PyValue, depth: number, budget: { left: number }): TreeNode {
  if (depth > MAX_TREE_DEPTH || budget.left-- <= 0) return NOTHING;
  switch (value.kind) {
    case 'scalar':
      return scalarNode(value);
    case 'list':
      return { kind: 'list', items: value.items.map((each) => node(each, depth + 1, budget)), range: value.range };
    case 'object':
      return value.fields.size > 0 && hasWritten(value) ? mapNode(value, depth, budget) : openNode(value);
    default:
      return NOTHING;
  }
}

/** A part that was only looked at is not there. */
export function isWritten({ written, value }: PyField, depth = 0): boolean {
  if (written.style !== 'attribute' || written.target !== '') return true;
  return value.kind === 'object' && depth < MAX_TREE_DEPTH && hasWritten(value, depth + 1);
}

function hasWritten(object: PyObject, depth = 0): boolean {
  for (const field of object.fields.values()) if (isWritten(field, depth)) return true;
  return false;
}

function mapNode(object: PyObject, depth: number, budget: { left: number }): MapNode {
  const entries = new Map<string, MapEntry>();
  for (const [key, field] of object.fields) {
    if (!isWritten(field)) continue;
    const { value } = field;
    const held = budget.left > 0 ? node(value, depth + 1, budget) : NOTHING;
    entries.set(key, { key, keyRange: field.keyRange, value: held });
  }
  return { kind: 'map', entries, flow: false, range: object.range };
}

function scalarNode({ value, text, range, source }: PyScalar): ScalarNode {
  const quoted = typeof value === 'string';
  return { kind: 'scalar', value, text, quoted, range, ...(source === null ? {} : { source }) };
}

/** A dotted name or a call stands for itself; as a number it is unknown. */
function openNode(object: PyObject): TreeNode {
  const { source } = unknown(object.missing, undefined, object.range);
  return { kind: 'scalar', value: object.callee, text: object.callee, quoted: true, range: object.range, source };
}
