/**
 * The few functions and methods of Python and its standard library that configs compute with: `int`, `len`, `max`,
 * `dict`, `list.append`, `str.lower`, `copy.deepcopy`, `dataclasses.replace`, `setattr`, argparse and the environment
 * (whose defaults are read and marked as such).
 */

import type { SyntaxNode } from '@lezer/common';
import type { Arguments } from './calls.ts';
import { copied } from './calls.ts';
import {
  charge,
  computed,
  MAX_ITEMS,
  type Machine,
  newObject,
  rangeFor,
  setField,
  setFields,
  shownNode,
} from './machine.ts';
import { keyText, lastPart, type PyField, type PyObject, type PyScalar, type PyValue, textOf, truth } from './value.ts';

export interface BuiltinCall {
  /** The dotted name that is called. */
  readonly name: string;
  readonly owner: PyValue | null;
  readonly method: string | null;
  readonly args: Arguments;
}

/** null for a call that is none of them. What is computed from the command line's defaults is as loose as they are. */
export function builtin(machine: Machine, node: SyntaxNode, call: BuiltinCall): PyValue | null {
  const result = known(machine, node, call);
  const inputs = [call.owner, ...call.args.positional];
  const loose = inputs.some((each) => each?.kind === 'scalar' && each.loose === true);
  return loose && result?.kind === 'scalar' ? { ...result, loose: true } : result;
}

function known(machine: Machine, node: SyntaxNode, call: BuiltinCall): PyValue | null {
  const { owner, method } = call;
  if (owner?.kind === 'list' && method !== null) return listMethod(machine, node, owner.items, method, call.args);
  if (owner?.kind === 'scalar' && typeof owner.value === 'string' && method !== null) {
    return stringMethod(machine, node, owner.value, method, call.args);
  }
  if (/^os\.(?:environ\.get|getenv)$|^getenv$/.test(call.name)) return fromEnvironment(machine, node, call.args);
  if (owner?.kind === 'object' && method !== null) {
    const found = objectMethod(machine, node, owner, method, call.args);
    if (found !== null) return found;
  }
  return freeFunction(machine, node, call);
}

function listMethod(
  machine: Machine,
  node: SyntaxNode,
  items: PyValue[],
  method: string,
  args: Arguments,
): PyValue | null {
  const [first] = args.positional;
  // In an undecided branch or a loop nobody knows how many there will be.
  const sure = machine.undecided.length === 0 && items.length < MAX_ITEMS;
  if (method === 'append' && first !== undefined)
    items.push(sure ? first : newObject(machine, { range: rangeFor(machine, node), missing: 'the items of a list' }));
  if (method === 'extend' && first?.kind === 'list' && items.length + first.items.length < MAX_ITEMS) {
    charge(machine, first.items.length);
    for (const each of first.items) items.push(each);
  }
  return null;
}

function stringMethod(
  machine: Machine,
  node: SyntaxNode,
  text: string,
  method: string,
  args: Arguments,
): PyValue | null {
  const argument = textOf(args.positional[0]);
  switch (method) {
    case 'lower':
      return computed(machine, node, text.toLowerCase());
    case 'upper':
      return computed(machine, node, text.toUpperCase());
    case 'strip':
      return args.positional.length === 0 ? computed(machine, node, text.trim()) : null;
    case 'startswith':
      return argument === null ? null : computed(machine, node, text.startsWith(argument));
    case 'endswith':
      return argument === null ? null : computed(machine, node, text.endsWith(argument));
    case 'join':
      return joinedTexts(machine, node, text, args.positional[0]);
    default:
      return null;
  }
}

function joinedTexts(machine: Machine, node: SyntaxNode, text: string, list: PyValue | undefined): PyValue | null {
  if (list?.kind !== 'list') return null;
  const parts = list.items.map(textOf);
  charge(machine, parts.length);
  const whole = parts.includes(null) ? null : parts.join(text);
  return whole === null || whole.length > 4096 ? null : computed(machine, node, whole);
}

/** `os.environ.get("TP", "8")`: the default, marked; without one, what only the environment knows. */
function fromEnvironment(machine: Machine, node: SyntaxNode, { positional, keywords }: Arguments): PyValue {
  const name = textOf(positional[0]) ?? shownNode(machine, node);
  const fallback = positional[1] ?? keywords.get('default')?.value;
  if (fallback?.kind === 'scalar') return noted(fallback, `default; the environment's ${name} stands in front`);
  return newObject(machine, { range: rangeFor(machine, node), missing: `${name}, which only the environment knows` });
}

export function noted(value: PyScalar, note: string): PyScalar {
  const range = value.source?.kind === 'text' ? value.source.range : value.range;
  if (value.source !== null && value.source.kind !== 'text') return value;
  const before = value.source?.kind === 'text' ? value.source.note : undefined;
  return { ...value, source: { kind: 'text', range, note: before === undefined ? note : `${before}; ${note}` } };
}

function objectMethod(
  machine: Machine,
  node: SyntaxNode,
  owner: PyObject,
  method: string,
  args: Arguments,
): PyValue | null {
  switch (method) {
    case 'add_argument':
      addArgument(machine, owner, args);
      return null;
    case 'parse_args':
      return lastPart(owner.callee) === 'ArgumentParser' ? parsedArguments(machine, node, owner) : null;
    case 'parse_known_args':
      if (lastPart(owner.callee) !== 'ArgumentParser') return null;
      return { kind: 'list', items: [parsedArguments(machine, node, owner)], range: rangeFor(machine, node) };
    case 'add_argument_group':
      return owner;
    case 'get':
    case 'pop':
      return dictGet(owner, args);
    case 'update':
      setFields(machine, owner, args.keywords);
      if (args.positional[0]?.kind === 'object') setFields(machine, owner, args.positional[0].fields);
      return null;
    default:
      return null;
  }
}

function dictGet(owner: PyObject, { positional }: Arguments): PyValue | null {
  const key = positional[0] === undefined ? null : keyText(positional[0]);
  if (key === null || owner.shape !== 'dict') return null;
  return owner.fields.get(key)?.value ?? positional[1] ?? null;
}

/** Where the arguments of a parser are kept among its parts: no attribute can have this name. */
const OPTION = '--';

function addArgument(machine: Machine, parser: PyObject, { positional, keywords }: Arguments): void {
  const names = positional.map(textOf).filter((each) => each !== null);
  const long = names.find((each) => each.startsWith('--')) ?? names[0];
  if (long === undefined) return;
  const name = textOf(keywords.get('dest')?.value) ?? long.replace(/^-+/, '').replaceAll('-', '_');
  const fallback = keywords.get('default');
  const action = textOf(keywords.get('action')?.value);
  const range = positional[0]!.kind === 'scalar' ? positional[0]!.range : parser.range;
  const value = optionValue(machine, long, fallback?.value, action, range);
  const written = { style: 'keyword', end: fallback?.written.end ?? range.offset + range.length, target: '' } as const;
  parser.fields.set(OPTION + name, { value, keyRange: range, written });
}

function optionValue(
  machine: Machine,
  name: string,
  fallback: PyValue | undefined,
  action: string | null,
  range: PyField['keyRange'],
): PyValue {
  const note = `default of ${name}; the command line stands in front`;
  if (fallback?.kind === 'scalar' && fallback.value !== null) return { ...noted(fallback, note), loose: true };
  if (fallback?.kind === 'scalar') return newObject(machine, { range, missing: `${name} of the command line` });
  if (fallback !== undefined) return fallback;
  if (action === 'store_true' || action === 'store_false') {
    const value = action === 'store_false';
    const source = { kind: 'default', why: `${name} is ${action} and absent` } as const;
    return { kind: 'scalar', value, text: value ? 'True' : 'False', range, source, loose: true };
  }
  return newObject(machine, { range, missing: `${name} of the command line` });
}

function parsedArguments(machine: Machine, node: SyntaxNode, parser: PyObject): PyObject {
  const fields = new Map<string, PyField>();
  for (const [key, field] of parser.fields) if (key.startsWith(OPTION)) fields.set(key.slice(OPTION.length), field);
  return newObject(machine, {
    shape: 'call',
    callee: 'args',
    fields,
    range: rangeFor(machine, node),
    missing: 'the command line',
  });
}

function freeFunction(machine: Machine, node: SyntaxNode, { name, method, args }: BuiltinCall): PyValue | null {
  const [first, second, third] = args.positional;
  switch (name) {
    case 'int':
    case 'float':
      return toNumber(machine, node, name, first);
    case 'str':
      return first?.kind === 'scalar' && first.value !== null ? computed(machine, node, String(first.value)) : null;
    case 'bool':
      return first === undefined || truth(first) === null ? null : computed(machine, node, truth(first));
    case 'len':
      return first?.kind === 'list' ? computed(machine, node, first.items.length) : null;
    case 'max':
    case 'min':
      return extreme(machine, node, name, args.positional);
    case 'dict':
      return newObject(machine, {
        shape: 'dict',
        fields: new Map(args.keywords),
        range: rangeFor(machine, node),
        missing: 'a dictionary',
      });
    case 'list':
    case 'tuple':
      if (first?.kind !== 'list') return null;
      charge(machine, first.items.length);
      return { ...first, items: [...first.items] };
    case 'range':
      return range(machine, node, args.positional);
    case 'isinstance':
      return isInstance(machine, node, first, second);
    case 'setattr':
      if (first?.kind === 'object' && textOf(second) !== null && third !== undefined)
        setAttribute(machine, node, first, second as PyScalar, third);
      return null;
    case 'getattr':
      return first?.kind === 'object' ? (first.fields.get(textOf(second) ?? '')?.value ?? null) : null;
    default:
      break;
  }
  // `parser = deepspeed.add_config_arguments(parser)`.
  if (/^add_\w*arg(?:ument)?s$/.test(lastPart(name)) && first?.kind === 'object' && first.shape === 'call')
    return first;
  if (method === null && !/^(?:deepcopy|copy|replace)$/.test(name)) return null;
  if (/^(?:copy\.)?deepcopy$|^copy\.copy$/.test(name))
    return first?.kind === 'object' ? copied(machine, first) : (first ?? null);
  if (/^(?:dataclasses\.)?replace$/.test(name) && first?.kind === 'object') {
    const copy = copied(machine, first);
    setFields(machine, copy, args.keywords);
    return copy;
  }
  return null;
}

function setAttribute(machine: Machine, node: SyntaxNode, object: PyObject, name: PyScalar, value: PyValue): void {
  const written = { style: 'item', end: node.to, target: '' } as const;
  setField(machine, object, String(name.value), { value, keyRange: name.range, written });
}

function toNumber(machine: Machine, node: SyntaxNode, name: string, value: PyValue | undefined): PyValue | null {
  if (value?.kind === 'object') return value;
  if (value?.kind !== 'scalar' || value.value === null || value.value === '') return null;
  const number = Number(value.value);
  if (!Number.isFinite(number)) return null;
  const whole = name === 'int' ? Math.trunc(number) : number;
  // `int(os.environ.get("TP", 8))`: the literal is still what to edit.
  return whole === value.value
    ? value
    : {
        ...computed(machine, node, whole),
        ...(value.source?.kind === 'text' && value.source.note !== undefined ? { source: value.source } : {}),
      };
}

function extreme(machine: Machine, node: SyntaxNode, name: string, values: readonly PyValue[]): PyValue | null {
  const numbers = values.map((each) => (each.kind === 'scalar' && typeof each.value === 'number' ? each.value : null));
  if (numbers.length === 0 || numbers.length > 100 || numbers.includes(null)) return null;
  return computed(machine, node, (name === 'max' ? Math.max : Math.min)(...(numbers as number[])));
}

function range(machine: Machine, node: SyntaxNode, values: readonly PyValue[]): PyValue | null {
  const numbers = values.map((each) =>
    each.kind === 'scalar' && typeof each.value === 'number' ? each.value : Number.NaN,
  );
  const [from, to, step] =
    numbers.length === 1 ? [0, numbers[0]!, 1] : [numbers[0] ?? Number.NaN, numbers[1] ?? Number.NaN, numbers[2] ?? 1];
  const count = Math.ceil((to - from) / step);
  if (!Number.isSafeInteger(count) || count > 4096) return null;
  charge(machine, count);
  const items = Array.from({ length: Math.max(0, count) }, (_, i) => computed(machine, node, from + i * step));
  return { kind: 'list', items, range: rangeFor(machine, node) };
}

const TYPES: Readonly<Record<string, string>> = { str: 'string', int: 'number', float: 'number', bool: 'boolean' };

function isInstance(
  machine: Machine,
  node: SyntaxNode,
  value: PyValue | undefined,
  type: PyValue | undefined,
): PyValue | null {
  const name = type?.kind === 'object' ? TYPES[type.callee] : undefined;
  if (name === undefined || value?.kind !== 'scalar') return null;
  return computed(machine, node, typeof value.value === name);
}
