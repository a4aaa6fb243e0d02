/**
 * Calls. A function or class of the same file is followed; `run.Config(X, …)` is an X; a command line that argparse
 * reads has its defaults, the environment has those that the script gives; every other call gives an object with its
 * arguments as parts.
 */

import type { SyntaxNode } from '@lezer/common';
import { builtin } from './builtins.ts';
import { evaluate } from './expressions.ts';
import { callFunction } from './functions.ts';
import { charge, type Machine, newObject, part, rangeFor, shownNode, unknownAt } from './machine.ts';
import { childrenOf, commaGroups } from './syntax.ts';
import { lastPart, nameOf, type PyClass, type PyField, type PyObject, type PyValue } from './value.ts';

export interface Arguments {
  readonly positional: readonly PyValue[];
  readonly keywords: ReadonlyMap<string, PyField>;
}

const WRAPPERS = /(?:^|\.)(?:run|fdl|nemo_run)\.(?:Config|Partial)$/;
/** Methods that give back what they are called on. */
const BUILDERS = /^(?:merge|with_\w+|build_config|finalize|clone|copy)$/;

export function evaluateCall(machine: Machine, node: SyntaxNode): PyValue {
  const [callee, list] = childrenOf(node);
  if (callee === undefined || list?.name !== 'ArgList') return newObject(machine, unknownCall(machine, node));
  const method = methodOf(machine, callee);
  const target = method === null ? evaluate(machine, callee) : method.target;
  const args = argumentsOf(machine, list);
  if (target.kind === 'function')
    return callFunction(machine, target, args) ?? newObject(machine, unknownCall(machine, node));
  if (target.kind === 'class') return recorded(machine, instance(machine, node, target, args), node);
  const known = builtin(machine, node, {
    name: nameOf(target) ?? '',
    owner: method?.owner ?? null,
    method: method?.name ?? null,
    args,
  });
  if (known !== null) return known;
  if (method?.owner.kind === 'object' && method.owner.shape === 'call' && BUILDERS.test(method.name))
    return method.owner;
  return recorded(machine, called(machine, callee, nameOf(target) ?? '', args, method), node);
}

function unknownCall(machine: Machine, node: SyntaxNode) {
  return { range: rangeFor(machine, node), missing: shownNode(machine, node), shape: 'call' } as const;
}

interface Method {
  readonly owner: PyValue;
  readonly name: string;
  readonly target: PyValue;
}

/** `a.b(…)`: what it is called on, without making `b` a part of it. */
function methodOf(machine: Machine, callee: SyntaxNode): Method | null {
  if (callee.name !== 'MemberExpression') return null;
  const children = childrenOf(callee);
  const last = children.at(-1);
  const [first] = children;
  if (first === undefined || last?.name !== 'PropertyName') return null;
  const owner = evaluate(machine, first);
  const name = machine.text.slice(last.from, last.to);
  const range = rangeFor(machine, last);
  if (owner.kind !== 'object')
    return { owner, name, target: newObject(machine, { range, missing: shownNode(machine, callee) }) };
  if (owner.fields.has(name) || owner.type?.methods.has(name))
    return { owner, name, target: part(machine, owner, name, range) };
  const written = owner.callee === '' ? name : `${owner.callee}.${name}`;
  return {
    owner,
    name,
    target: newObject(machine, { range, callee: written.slice(-200), missing: written.slice(-200) }),
  };
}

function argumentsOf(machine: Machine, list: SyntaxNode): Arguments {
  const positional: PyValue[] = [];
  const keywords = new Map<string, PyField>();
  for (const group of commaGroups(childrenOf(list))) {
    const [first, second, third] = group;
    if (first!.name === '**' || first!.name === '*') {
      const spread = second === undefined ? null : evaluate(machine, second);
      if (first!.name === '**' && spread?.kind === 'object') addAll(machine, keywords, spread.fields);
      if (first!.name === '*' && spread?.kind === 'list' && positional.length < 1000)
        positional.push(...spread.items.slice(0, 1000));
      continue;
    }
    if (second?.name !== 'AssignOp') {
      if (group.length === 1) positional.push(evaluate(machine, first!));
      continue;
    }
    // `f(pp=)` and `f(pp=8x)` are being typed.
    const value = third === undefined || group.length > 3 ? unknownAt(machine, list) : evaluate(machine, third);
    const written = { style: 'keyword', end: group.at(-1)!.to, target: '' } as const;
    keywords.set(machine.text.slice(first!.from, first!.to), { value, keyRange: rangeFor(machine, first!), written });
  }
  return { positional, keywords };
}

function addAll(machine: Machine, keywords: Map<string, PyField>, fields: ReadonlyMap<string, PyField>): void {
  charge(machine, fields.size);
  for (const [key, field] of fields) keywords.set(key, field);
}

function called(machine: Machine, callee: SyntaxNode, name: string, args: Arguments, method: Method | null): PyObject {
  const wrapped = WRAPPERS.test(name) ? args.positional[0] : undefined;
  const inner = nameOf(wrapped);
  const own = wrapped === undefined || inner === null ? name : inner;
  const fields = byName(machine, own, args);
  return newObject(machine, {
    shape: 'call',
    callee: own,
    fields,
    positional: wrapped === undefined ? args.positional : args.positional.slice(1),
    self: method?.owner.kind === 'object' && method.owner.shape === 'call' ? method.owner : null,
    range: inner !== null && wrapped !== undefined && 'range' in wrapped ? wrapped.range : calleeRange(machine, callee),
    missing: `${lastPart(own) || shownNode(machine, callee)}(…)`,
  });
}

/** Keywords, and what a known function takes by place. */
function byName(machine: Machine, name: string, { positional, keywords }: Arguments): Map<string, PyField> {
  const fields = new Map(keywords);
  const last = lastPart(name);
  const names = Object.hasOwn(machine.signatures, last) ? machine.signatures[last]! : [];
  positional.slice(0, names.length).forEach((value, i) => {
    const range = 'range' in value ? value.range : { file: machine.file, offset: 0, length: 0 };
    const written = { style: 'item', end: range.offset + range.length, target: '' } as const;
    fields.set(names[i]!, { value, keyRange: range, written });
  });
  return fields;
}

/** The last name of `a.b.c(…)`. */
function calleeRange(machine: Machine, callee: SyntaxNode) {
  const last = childrenOf(callee).at(-1);
  return rangeFor(machine, last?.name === 'PropertyName' ? last : callee);
}

function instance(machine: Machine, node: SyntaxNode, type: PyClass, args: Arguments): PyObject {
  const callee = childrenOf(node)[0]!;
  const object = newObject(machine, {
    shape: 'call',
    callee: type.name,
    fields: new Map(type.fields),
    positional: args.positional,
    type,
    range: calleeRange(machine, callee),
    missing: `${type.name}(…)`,
  });
  for (const [key, field] of args.keywords) object.fields.set(key, field);
  const init = type.methods.get('__init__');
  if (init !== undefined) callFunction(machine, { ...init, bound: object }, args);
  return object;
}

function recorded(machine: Machine, object: PyObject, node: SyntaxNode): PyObject {
  const { frame } = machine;
  if (machine.calls.length < 20_000) {
    machine.calls.push({ object, site: node.from, end: node.to, within: frame.name, scope: frame.scope });
  }
  return object;
}

/** A copy whose parts may be set without changing the first. */
export function copied(machine: Machine, object: PyObject, depth = 0): PyObject {
  const copy: PyObject = { ...object, fields: new Map(), birth: machine.undecided.length };
  for (const [key, field] of object.fields) {
    const { value } = field;
    const next = value.kind === 'object' && depth < 8 ? copied(machine, value, depth + 1) : value;
    if (machine.steps-- > 0) copy.fields.set(key, { ...field, value: next });
  }
  return copy;
}
