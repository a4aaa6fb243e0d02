/**
 * What a Python expression comes to when it is read and not run: plain values with the literal they were written as,
 * lists, objects with their named parts, and functions of the same file. What is not known is an object too, which can
 * say what would have to be known: parts may still be set on it.
 */

import type { SyntaxNode } from '@lezer/common';
import type { KnownSource, TextRange } from '../../model/source.ts';
import type { ScalarValue } from '../tree.ts';

export interface PyScalar {
  readonly kind: 'scalar';
  readonly value: ScalarValue;
  /** The literal, quotes included, or the whole expression of a computed value. */
  readonly text: string;
  readonly range: TextRange;
  /** Where the value comes from, when it is not simply the literal at `range`. */
  readonly source: KnownSource | null;
  /** A default of the command line: what is launched may well have another, so that nothing is decided by it. */
  readonly loose?: true;
}

export interface PyList {
  readonly kind: 'list';
  readonly items: PyValue[];
  readonly range: TextRange;
}

/** How a part of an object was written, for adding another beside it. */
export interface Written {
  /** `x(key=…)`, `{"key": …}`, `a.b.key = …`, `def f(key=…)`. */
  readonly style: 'keyword' | 'item' | 'attribute' | 'parameter';
  /** The offset behind the value. */
  readonly end: number;
  /** `a.b` in front of an attribute; empty for the other styles. */
  readonly target: string;
}

export interface PyField {
  readonly value: PyValue;
  readonly keyRange: TextRange;
  readonly written: Written;
}

export interface PyObject {
  readonly kind: 'object';
  /** `call`: what a call gives; `name`: a name that this file does not explain; `dict`; `instance` of a class here. */
  readonly shape: 'call' | 'name' | 'dict';
  /** The dotted name that was called or read: `nl.MegatronStrategy`. */
  readonly callee: string;
  readonly fields: Map<string, PyField>;
  readonly positional: readonly PyValue[];
  /** The object whose method gave this one. */
  readonly self: PyObject | null;
  readonly type: PyClass | null;
  /** The name that was called, or the whole expression. */
  readonly range: TextRange;
  /** What would have to be known to have a plain value here. */
  readonly missing: string;
  /** How many undecided branches deep it was made. */
  readonly birth: number;
}

export interface PyFunction {
  readonly kind: 'function';
  readonly name: string;
  readonly nameRange: TextRange;
  readonly node: SyntaxNode;
  readonly scope: Scope;
  readonly bound: PyObject | null;
}

export interface PyClass {
  readonly kind: 'class';
  readonly name: string;
  readonly fields: ReadonlyMap<string, PyField>;
  readonly methods: ReadonlyMap<string, PyFunction>;
}

export type PyValue = PyScalar | PyList | PyObject | PyFunction | PyClass;

export interface Scope {
  readonly names: Map<string, PyValue>;
  readonly parent: Scope | null;
}

/** The name that a value stands for: `PipelineScheduleType.gpipe`, `torch.bfloat16`; null for a plain value. */
export function nameOf(value: PyValue | undefined): string | null {
  if (value === undefined) return null;
  if (value.kind === 'object') return value.callee === '' ? null : value.callee;
  return value.kind === 'function' || value.kind === 'class' ? value.name : null;
}

/** The last part of a dotted name. */
export function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

export function fieldAt(object: PyValue | undefined, path: string): PyField | null {
  let value = object;
  let field: PyField | null = null;
  for (const key of path.split('.')) {
    if (value?.kind !== 'object') return null;
    field = value.fields.get(key) ?? null;
    if (field === null) return null;
    value = field.value;
  }
  return field;
}

/** The part of an object at a dotted path; undefined where nothing is written. */
export function partAt(object: PyValue | undefined, path: string): PyValue | undefined {
  return fieldAt(object, path)?.value;
}

export function textOf(value: PyValue | undefined): string | null {
  return value?.kind === 'scalar' && typeof value.value === 'string' ? value.value : null;
}

/** A dictionary's key as the name of a part: strings, numbers and tuples of them; null for anything else. */
export function keyText(key: PyValue): string | null {
  if (key.kind === 'scalar') return typeof key.value === 'string' ? key.value : `[${key.value}]`;
  if (key.kind !== 'list' || key.items.length > 8) return null;
  const parts = key.items.map((each) => (each.kind === 'scalar' ? String(each.value) : null));
  return parts.includes(null) ? null : `[${parts.join(',')}]`;
}

export function numberOf(value: PyValue | undefined): number | null {
  return value?.kind === 'scalar' && typeof value.value === 'number' ? value.value : null;
}

export function isNone(value: PyValue | undefined): boolean {
  return value?.kind === 'scalar' && value.value === null;
}

/** Whether a value is true where a condition asks; null when that is not known. */
export function truth(value: PyValue): boolean | null {
  if (value.kind === 'scalar') return value.loose === true ? null : Boolean(value.value);
  if (value.kind === 'list') return value.items.length > 0;
  return value.kind === 'object' ? null : true;
}

/** Whether two values are surely the same. */
export function same(a: PyValue | undefined, b: PyValue): boolean {
  return a === b || (a?.kind === 'scalar' && b.kind === 'scalar' && a.value === b.value);
}
