/**
 * Functions of the file: parameters take what a call gives, else their defaults, and the body is read statement by
 * statement. Recursion and deep towers of calls end as unknown.
 */

import { noted } from './builtins.ts';
import type { Arguments } from './calls.ts';
import { evaluate } from './expressions.ts';
import { type Frame, MAX_CALLS_DEEP, type Machine, newFrame, newObject, rangeFor, spend } from './machine.ts';
import { runBody } from './statements.ts';
import { childrenOf, commaGroups } from './syntax.ts';
import type { PyFunction, PyObject, PyValue, Scope } from './value.ts';

/** What a call gives; null where the function is not read (too deep). */
export function callFunction(machine: Machine, fn: PyFunction, args: Arguments): PyValue | null {
  const frame = runFunction(machine, fn, args);
  if (frame === null) return null;
  if (frame.state === 'raised') {
    if (machine.undecided.length <= machine.frame.birth) machine.frame.state = 'raised';
    return null;
  }
  const nothing: PyValue = { kind: 'scalar', value: null, text: 'None', range: fn.nameRange, source: null };
  const result = frame.result ?? nothing;
  const others = frame.others.filter((each) => each !== result);
  if (others.length === 0) return result;
  return newObject(machine, {
    range: fn.nameRange,
    missing: `what ${fn.name}() returns, which depends on its branches`,
  });
}

/** The frame of a call after its body was read: its result and its names. */
export function runFunction(machine: Machine, fn: PyFunction, args: Arguments): Frame | null {
  if (machine.deep >= MAX_CALLS_DEEP || !spend(machine)) return null;
  const body = childrenOf(fn.node).find((each) => each.name === 'Body');
  if (body === undefined) return null;
  const scope: Scope = { names: new Map(), parent: fn.scope };
  const caller = machine.frame;
  const expressionDepth = machine.depth;
  const frame = newFrame(scope, fn.name, machine.undecided.length);
  bindParameters(machine, fn, args, scope);
  machine.frame = frame;
  machine.deep++;
  machine.depth = 0;
  runBody(machine, body);
  machine.depth = expressionDepth;
  machine.deep--;
  machine.frame = caller;
  return frame;
}

function bindParameters(machine: Machine, fn: PyFunction, args: Arguments, scope: Scope): void {
  const list = childrenOf(fn.node).find((each) => each.name === 'ParamList');
  if (list === undefined) return;
  const positional = fn.bound === null ? [...args.positional] : [fn.bound, ...args.positional];
  const rest = new Map(args.keywords);
  for (const group of commaGroups(childrenOf(list))) {
    const [first, second] = group;
    const nameNode = first!.name === 'VariableName' ? first! : second;
    if (nameNode?.name !== 'VariableName') continue;
    const name = machine.text.slice(nameNode.from, nameNode.to);
    const range = rangeFor(machine, nameNode);
    if (first!.name === '*') {
      scope.names.set(name, { kind: 'list', items: positional.splice(0), range });
    } else if (first!.name === '**') {
      scope.names.set(name, newObject(machine, { shape: 'dict', fields: rest, range, missing: `**${name}` }));
    } else {
      const given = positional.shift() ?? rest.get(name)?.value;
      rest.delete(name);
      scope.names.set(name, given ?? parameterDefault(machine, fn, name, group, range));
    }
  }
}

function parameterDefault(
  machine: Machine,
  fn: PyFunction,
  name: string,
  group: readonly { readonly name: string }[],
  range: PyObject['range'],
): PyValue {
  const at = group.findIndex((each) => each.name === 'AssignOp');
  const node = group[at + 1] as Parameters<typeof evaluate>[1] | undefined;
  if (at < 0 || node === undefined) {
    return newObject(machine, { range, callee: name, missing: `${name}, which the caller of ${fn.name}() gives` });
  }
  const { frame } = machine;
  machine.frame = newFrame(fn.scope, fn.name, machine.undecided.length);
  const value = evaluate(machine, node);
  machine.frame = frame;
  if (value.kind !== 'scalar' || value.value === null) return value;
  return noted(value, `default of ${fn.name}(${name}); a caller may pass another`);
}
