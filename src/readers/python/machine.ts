/**
 * The state of reading a Python file: what is left of the budget, which undecided branch is being read, which names
 * are in sight, and every call that was met. Reading is bounded: at most so many steps in a file and in one function,
 * so many calls deep; what lies beyond is unknown.
 */

import type { SyntaxNode } from '@lezer/common';
import { fromText, type TextRange } from '../../model/source.ts';
import {
  type PyField,
  type PyFunction,
  type PyObject,
  type PyScalar,
  type PyValue,
  type Scope,
  same,
  type Written,
} from './value.ts';

export const MAX_FILE_STEPS = 400_000;
export const MAX_CALLS_DEEP = 12;
export const MAX_EXPRESSION_DEPTH = 60;
export const MAX_ITEMS = 10_000;

/** One call of something that this file does not define. */
export interface CallRecord {
  readonly object: PyObject;
  /** Where the call stands. */
  readonly site: number;
  readonly end: number;
  /** The function that it stands in; empty for the module. */
  readonly within: string;
  readonly scope: Scope;
}

export interface Frame {
  readonly scope: Scope;
  readonly name: string;
  readonly birth: number;
  state: 'running' | 'left' | 'raised';
  result: PyValue | null;
  /** What undecided branches return. */
  readonly others: PyValue[];
  /** Where the last sure `return` stands. */
  returnAt: number | null;
}

/** Parameters of a library's functions, by name, so that what is passed by place has its name. */
export type Signatures = Readonly<Record<string, readonly string[]>>;

export interface Machine {
  readonly file: string;
  readonly text: string;
  steps: number;
  deep: number;
  depth: number;
  /** Conditions of the undecided branches that are being read, the outermost first. */
  readonly undecided: string[];
  frame: Frame;
  readonly calls: CallRecord[];
  readonly signatures: Signatures;
}

export function newFrame(scope: Scope, name: string, birth: number): Frame {
  return { scope, name, birth, state: 'running', result: null, others: [], returnAt: null };
}

export function rangeFor(machine: Machine, node: { readonly from: number; readonly to: number }): TextRange {
  return { file: machine.file, offset: node.from, length: node.to - node.from };
}

/** The text of a node for a message: one line, and not long. */
export function shownNode(machine: Machine, node: { readonly from: number; readonly to: number }): string {
  const text = machine.text.slice(node.from, Math.min(node.to, node.from + 80)).replace(/\s+/g, ' ');
  return node.to - node.from > 60 ? `${text.slice(0, 60)}…` : text;
}

export function spend(machine: Machine): boolean {
  return machine.steps-- > 0;
}

/** What handling many items or a long text costs beyond its own step. */
export function charge(machine: Machine, steps: number): void {
  machine.steps -= steps;
}

export function newObject(machine: Machine, parts: Partial<PyObject> & Pick<PyObject, 'range' | 'missing'>): PyObject {
  return {
    kind: 'object',
    shape: 'name',
    callee: '',
    fields: new Map(),
    positional: [],
    self: null,
    type: null,
    birth: machine.undecided.length,
    ...parts,
  };
}

export function unknownAt(machine: Machine, node: SyntaxNode, missing?: string): PyObject {
  return newObject(machine, {
    range: rangeFor(machine, node),
    missing: missing ?? shownNode(machine, node),
  });
}

/** A literal as it is written. */
export function literal(machine: Machine, node: SyntaxNode, value: PyScalar['value'], inner?: TextRange): PyScalar {
  const range = rangeFor(machine, node);
  return {
    kind: 'scalar',
    value,
    text: machine.text.slice(node.from, node.to),
    range,
    source: inner === undefined ? null : { kind: 'text', range: inner },
  };
}

/** A value that an expression computes; the hover shows the expression. */
export function computed(machine: Machine, node: SyntaxNode, value: PyScalar['value']): PyScalar {
  const range = rangeFor(machine, node);
  const { source } = fromText(value, range, `computed: ${shownNode(machine, node)}`);
  return {
    kind: 'scalar',
    value,
    text: machine.text.slice(node.from, Math.min(node.to, node.from + 200)),
    range,
    source,
  };
}

export function lookUp(scope: Scope, name: string): PyValue | undefined {
  for (let at: Scope | null = scope; at !== null; at = at.parent) {
    const found = at.names.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Sets a name. What only an undecided branch sets is unknown, unless it was the same before. */
export function setName(machine: Machine, name: string, value: PyValue, range: TextRange): void {
  const { scope, birth } = machine.frame;
  const before = lookUp(scope, name);
  scope.names.set(name, settled(machine, name, before, value, range, birth));
}

/** Sets a part of an object, in the same way. */
export function setField(machine: Machine, object: PyObject, key: string, field: PyField): void {
  const before = object.fields.get(key)?.value;
  const value = settled(machine, key, before, field.value, field.keyRange, object.birth);
  // What an undecided branch writes is no neighbour for what is to hold always.
  const sure = machine.undecided.length <= object.birth;
  const written: Written = sure ? field.written : { ...field.written, style: 'item' };
  object.fields.delete(key);
  object.fields.set(key, { ...field, value, written });
}

/** Sets several parts. */
export function setFields(machine: Machine, object: PyObject, fields: ReadonlyMap<string, PyField>): void {
  charge(machine, fields.size);
  for (const [key, field] of fields) setField(machine, object, key, field);
}

function settled(
  machine: Machine,
  name: string,
  before: PyValue | undefined,
  value: PyValue,
  range: TextRange,
  birth: number,
): PyValue {
  if (machine.undecided.length <= birth || same(before, value)) return value;
  const condition = machine.undecided.at(-1)!;
  return newObject(machine, { range, missing: `${name}, which depends on ${condition}` });
}

/** The part of an object; one that is not written is made, so that parts of it may be set. */
export function part(machine: Machine, object: PyObject, key: string, range: TextRange): PyValue {
  const field = object.fields.get(key);
  if (field !== undefined) return field.value;
  const method = object.type?.methods.get(key);
  if (method !== undefined) return { ...method, bound: object } satisfies PyFunction;
  const callee = object.callee === '' ? key : `${object.callee}.${key}`;
  const made = newObject(machine, {
    range,
    callee: callee.length > 200 ? key : callee,
    missing: object.callee === '' ? object.missing : callee,
    self: object.shape === 'call' ? object : null,
    birth: object.birth,
  });
  object.fields.set(key, {
    value: made,
    keyRange: range,
    written: { style: 'attribute', end: range.offset + range.length, target: '' },
  });
  return made;
}
