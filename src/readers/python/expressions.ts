/**
 * Expressions: literals, names, attributes, arithmetic on whole numbers, comparisons, lists, dictionaries and calls.
 * f-strings, comprehensions, lambdas and everything else are unknown, with their own text as what is missing.
 */

import type { SyntaxNode } from '@lezer/common';
import { evaluateCall } from './calls.ts';
import {
  charge,
  computed,
  literal,
  lookUp,
  MAX_EXPRESSION_DEPTH,
  MAX_ITEMS,
  type Machine,
  newObject,
  part,
  rangeFor,
  setField,
  setFields,
  setName,
  shownNode,
  spend,
  unknownAt,
} from './machine.ts';
import { compare, compute } from './operators.ts';
import { childrenOf, commaGroups } from './syntax.ts';
import { keyText, type PyList, type PyObject, type PyValue, truth } from './value.ts';

export function evaluate(machine: Machine, node: SyntaxNode): PyValue {
  if (!spend(machine) || machine.depth >= MAX_EXPRESSION_DEPTH) return unknownAt(machine, node);
  machine.depth++;
  const value = expression(machine, node);
  machine.depth--;
  return value;
}

function expression(machine: Machine, node: SyntaxNode): PyValue {
  switch (node.name) {
    case 'Number':
      return number(machine, node);
    case 'String':
      return string(machine, node);
    case 'ContinuedString':
      return continuedString(machine, node);
    case 'Boolean':
      return literal(machine, node, machine.text.slice(node.from, node.to) === 'True');
    case 'None':
      return literal(machine, node, null);
    case 'VariableName':
      return name(machine, node);
    case 'MemberExpression':
      return member(machine, node);
    case 'ParenthesizedExpression':
      return inner(machine, node);
    case 'NamedExpression':
      return named(machine, node);
    case 'CallExpression':
      return evaluateCall(machine, node);
    case 'BinaryExpression':
      return binary(machine, node);
    case 'UnaryExpression':
      return unary(machine, node);
    case 'ConditionalExpression':
      return conditional(machine, node);
    case 'ArrayExpression':
    case 'TupleExpression':
    case 'SetExpression':
      return list(machine, node);
    case 'ArrayComprehensionExpression':
      return comprehension(machine, node);
    case 'DictionaryExpression':
      return dictionary(machine, node);
    default:
      return unknownAt(machine, node);
  }
}

function number(machine: Machine, node: SyntaxNode): PyValue {
  const text = machine.text.slice(node.from, node.to).replaceAll('_', '');
  // `8x` is being typed; the parser takes the 8 alone.
  if (/\w/.test(machine.text[node.to] ?? '')) return unknownAt(machine, node);
  const value = /^(?:0[xob][\da-f]+|\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)$/i.test(text)
    ? Number(text)
    : Number.NaN;
  return Number.isFinite(value) ? literal(machine, node, value) : unknownAt(machine, node);
}

/** A string without escapes; one with escapes is as it is written. */
function string(machine: Machine, node: SyntaxNode): PyValue {
  const text = machine.text.slice(node.from, Math.min(node.to, node.from + 20_000));
  charge(machine, text.length >> 6);
  const found = /^([a-z]*)("""|'''|"|')([\s\S]*)\2$/i.exec(text);
  if (found === null) return unknownAt(machine, node);
  const [, prefix, quote, content] = found;
  const offset = node.from + prefix!.length + quote!.length;
  return literal(machine, node, content!, { file: machine.file, offset, length: content!.length });
}

function continuedString(machine: Machine, node: SyntaxNode): PyValue {
  const parts = childrenOf(node).map((each) => evaluate(machine, each));
  const texts = parts.map((each) => (each.kind === 'scalar' && typeof each.value === 'string' ? each.value : null));
  return texts.includes(null) ? unknownAt(machine, node) : computed(machine, node, texts.join(''));
}

function name(machine: Machine, node: SyntaxNode): PyValue {
  const text = machine.text.slice(node.from, node.to);
  return (
    lookUp(machine.frame.scope, text) ??
    newObject(machine, { range: rangeFor(machine, node), callee: text, missing: text })
  );
}

function member(machine: Machine, node: SyntaxNode): PyValue {
  const children = childrenOf(node);
  const [first] = children;
  const last = children.at(-1);
  if (first === undefined || last === undefined || first === last) return unknownAt(machine, node);
  const owner = evaluate(machine, first);
  if (last.name === 'PropertyName') {
    const key = machine.text.slice(last.from, last.to);
    return owner.kind === 'object' ? part(machine, owner, key, rangeFor(machine, last)) : unknownAt(machine, node);
  }
  if (children[1]?.name !== '[' || children.length !== 4) return unknownAt(machine, node);
  return item(machine, node, owner, evaluate(machine, children[2]!));
}

function item(machine: Machine, node: SyntaxNode, owner: PyValue, key: PyValue): PyValue {
  if (owner.kind === 'list' && key.kind === 'scalar' && typeof key.value === 'number') {
    return owner.items.at(key.value) ?? unknownAt(machine, node);
  }
  const text = keyText(key);
  if (owner.kind !== 'object' || text === null) return unknownAt(machine, node);
  return part(machine, owner, text, rangeFor(machine, node));
}

function inner(machine: Machine, node: SyntaxNode): PyValue {
  const content = childrenOf(node).find((each) => each.name !== '(' && each.name !== ')');
  return content === undefined ? unknownAt(machine, node) : evaluate(machine, content);
}

function named(machine: Machine, node: SyntaxNode): PyValue {
  const [target, , value] = childrenOf(node);
  if (target?.name !== 'VariableName' || value === undefined) return unknownAt(machine, node);
  const found = evaluate(machine, value);
  setName(machine, machine.text.slice(target.from, target.to), found, rangeFor(machine, target));
  return found;
}

function binary(machine: Machine, node: SyntaxNode): PyValue {
  const children = childrenOf(node);
  const [left, right] = [children[0], children.at(-1)];
  if (left === undefined || right === undefined || children.length < 3) return unknownAt(machine, node);
  const operator = children
    .slice(1, -1)
    .map((each) => machine.text.slice(each.from, each.to))
    .join(' ');
  const a = evaluate(machine, left);
  if (operator === 'and' || operator === 'or') return logical(machine, node, a, operator, right);
  const b = evaluate(machine, right);
  const compared = compare(operator, a, b);
  if (compared !== undefined) return compared === null ? unknownAt(machine, node) : computed(machine, node, compared);
  if (operator === '*' && (a.kind === 'list' || b.kind === 'list')) return repeated(machine, node, a, b);
  if (operator === '+' && a.kind === 'list' && b.kind === 'list') return joined(machine, node, a, b);
  const value = compute(operator, a, b);
  if (value === null) return unknownAt(machine, node, missingOf(machine, node, a, b));
  const loose = [a, b].some((each) => each.kind === 'scalar' && each.loose === true);
  return loose ? { ...computed(machine, node, value), loose: true } : computed(machine, node, value);
}

function logical(machine: Machine, node: SyntaxNode, a: PyValue, operator: 'and' | 'or', right: SyntaxNode): PyValue {
  const first = truth(a);
  if (first !== null) return (operator === 'and') === first ? evaluate(machine, right) : a;
  const second = truth(evaluate(machine, right));
  return second === (operator === 'or') ? computed(machine, node, second) : unknownAt(machine, node);
}

/** `not a and b`: the grammar takes `not` for the whole, Python for the first. */
function negated(machine: Machine, node: SyntaxNode): PyValue {
  const children = node.name === 'BinaryExpression' ? childrenOf(node) : [];
  const [left, operator, right] = children;
  if (children.length === 3 && left !== undefined && (operator?.name === 'and' || operator?.name === 'or')) {
    if (!spend(machine) || machine.depth >= MAX_EXPRESSION_DEPTH) return unknownAt(machine, node);
    machine.depth++;
    const first = negated(machine, left);
    machine.depth--;
    return logical(machine, node, first, operator.name, right!);
  }
  const is = truth(evaluate(machine, node));
  return is === null ? unknownAt(machine, node) : computed(machine, node, !is);
}

/** `args.pp * 2` is missing `args.pp`. */
function missingOf(machine: Machine, node: SyntaxNode, ...values: readonly PyValue[]): string {
  const open = values.find((each): each is PyObject => each.kind === 'object');
  return open === undefined ? shownNode(machine, node) : open.missing;
}

function repeated(machine: Machine, node: SyntaxNode, a: PyValue, b: PyValue): PyValue {
  const [items, times] = a.kind === 'list' ? [a, b] : [b, a];
  if (items.kind !== 'list' || times.kind !== 'scalar' || typeof times.value !== 'number')
    return unknownAt(machine, node);
  if (!Number.isSafeInteger(times.value) || items.items.length * times.value > MAX_ITEMS)
    return unknownAt(machine, node);
  const all = Array.from({ length: Math.max(0, times.value) }, () => items.items).flat();
  charge(machine, all.length);
  return { kind: 'list', items: all, range: rangeFor(machine, node) };
}

function joined(machine: Machine, node: SyntaxNode, a: PyList, b: PyList): PyValue {
  if (a.items.length + b.items.length > MAX_ITEMS) return unknownAt(machine, node);
  charge(machine, a.items.length + b.items.length);
  return { kind: 'list', items: [...a.items, ...b.items], range: rangeFor(machine, node) };
}

function unary(machine: Machine, node: SyntaxNode): PyValue {
  const [operator, operand] = childrenOf(node);
  if (operator === undefined || operand === undefined) return unknownAt(machine, node);
  const sign = machine.text.slice(operator.from, operator.to);
  if (sign === 'not') return spend(machine) ? negated(machine, operand) : unknownAt(machine, node);
  const value = evaluate(machine, operand);
  if (value.kind !== 'scalar' || typeof value.value !== 'number') return unknownAt(machine, node);
  if (sign === '-') return literal(machine, node, value.value === 0 ? 0 : -value.value);
  return sign === '+' ? value : unknownAt(machine, node);
}

function conditional(machine: Machine, node: SyntaxNode): PyValue {
  const [yes, , condition, , no] = childrenOf(node);
  if (yes === undefined || condition === undefined || no === undefined) return unknownAt(machine, node);
  const is = truth(evaluate(machine, condition));
  if (is !== null) return evaluate(machine, is ? yes : no);
  const [a, b] = [evaluate(machine, yes), evaluate(machine, no)];
  if (a.kind === 'scalar' && b.kind === 'scalar' && a.value === b.value) return a;
  return unknownAt(machine, node, `which depends on ${shownNode(machine, condition)}`);
}

function list(machine: Machine, node: SyntaxNode): PyValue {
  const items: PyValue[] = [];
  for (const group of commaGroups(childrenOf(node))) {
    const [first, second] = group;
    if (items.length > MAX_ITEMS) return unknownAt(machine, node);
    if (first!.name !== '*') {
      items.push(evaluate(machine, first!));
      continue;
    }
    const spread = second === undefined ? null : evaluate(machine, second);
    if (spread?.kind !== 'list') return unknownAt(machine, node);
    charge(machine, spread.items.length);
    for (const each of spread.items) items.push(each);
  }
  return { kind: 'list', items, range: rangeFor(machine, node) };
}

/** `[f(x) for x in items]`, without conditions. */
function comprehension(machine: Machine, node: SyntaxNode): PyValue {
  const children = childrenOf(node).filter((each) => each.name !== '[' && each.name !== ']');
  const [item, keyword, target, , source] = children;
  const plain = children.length === 5 && keyword?.name === 'for' && target?.name === 'VariableName';
  if (!plain || item === undefined || source === undefined) return unknownAt(machine, node);
  const all = evaluate(machine, source);
  if (all.kind !== 'list' || all.items.length > 1000) return unknownAt(machine, node);
  const { frame } = machine;
  const name = machine.text.slice(target.from, target.to);
  const items = all.items.map((each) => {
    machine.frame = { ...frame, scope: { names: new Map([[name, each]]), parent: frame.scope } };
    return evaluate(machine, item);
  });
  machine.frame = frame;
  return { kind: 'list', items, range: rangeFor(machine, node) };
}

function dictionary(machine: Machine, node: SyntaxNode): PyValue {
  const dict = newObject(machine, { shape: 'dict', range: rangeFor(machine, node), missing: 'a dictionary' });
  for (const group of commaGroups(childrenOf(node))) {
    const [first, second, third] = group;
    if (first!.name === '**') {
      const spread = second === undefined ? null : evaluate(machine, second);
      if (spread?.kind === 'object') setFields(machine, dict, spread.fields);
      continue;
    }
    if (second?.name !== ':' || third === undefined) continue;
    const key = evaluate(machine, first!);
    const value = evaluate(machine, third);
    const text = keyText(key);
    if (text === null || dict.fields.size > MAX_ITEMS) continue;
    const written = { style: 'item', end: third.to, target: '' } as const;
    setField(machine, dict, text, { value, keyRange: rangeFor(machine, first!), written });
  }
  return dict;
}
