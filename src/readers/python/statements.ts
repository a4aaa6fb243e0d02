/**
 * Statements: assignments in order, so that the later one wins; branches that are decided are taken, of the others
 * only what all of them agree on is known; loops are read once, and what they set is unknown.
 */

import type { SyntaxNode } from '@lezer/common';
import { evaluate } from './expressions.ts';
import { computed, lookUp, type Machine, rangeFor, setField, setName, shownNode, spend, unknownAt } from './machine.ts';
import { compute } from './operators.ts';
import { childrenOf, commaGroups } from './syntax.ts';
import { type PyClass, type PyField, type PyFunction, type PyValue, type Scope, truth } from './value.ts';

/** The statements of a body or of the whole file. */
export function runBody(machine: Machine, body: SyntaxNode): void {
  for (let node = body.firstChild; node !== null; node = node.nextSibling) {
    if (machine.frame.state !== 'running' || !spend(machine)) return;
    statement(machine, node);
  }
}

function statement(machine: Machine, node: SyntaxNode): void {
  if (Object.hasOwn(STATEMENTS, node.name)) STATEMENTS[node.name]!(machine, node);
}

const STATEMENTS: Readonly<Record<string, (machine: Machine, node: SyntaxNode) => void>> = {
  AssignStatement: assignment,
  UpdateStatement: update,
  ExpressionStatement: expressionStatement,
  ReturnStatement: leave,
  RaiseStatement: raise,
  IfStatement: branches,
  ForStatement: loop,
  WhileStatement: loop,
  TryStatement: attempt,
  WithStatement: (machine, node) => {
    for (const body of bodiesOf(node)) runBody(machine, body);
  },
  StatementGroup: runBody,
  FunctionDefinition: definition,
  ClassDefinition: definition,
  DecoratedStatement: definition,
};

/** A text alone is a docstring. */
function expressionStatement(machine: Machine, { firstChild }: SyntaxNode): void {
  if (firstChild !== null && firstChild.name !== 'String') evaluate(machine, firstChild);
}

function raise(machine: Machine): void {
  if (machine.undecided.length <= machine.frame.birth) machine.frame.state = 'raised';
}

function loop(machine: Machine, node: SyntaxNode): void {
  const head = shownNode(machine, { from: node.from, to: headEnd(node) });
  undecided(machine, `the loop "${head}"`, bodiesOf(node));
}

function headEnd(node: SyntaxNode): number {
  return childrenOf(node).find((each) => each.name === 'Body')?.from ?? node.to;
}

function bodiesOf(node: SyntaxNode): readonly SyntaxNode[] {
  return childrenOf(node).filter((each) => each.name === 'Body');
}

function undecided(machine: Machine, condition: string, bodies: readonly SyntaxNode[]): void {
  machine.undecided.push(condition);
  for (const body of bodies) runBody(machine, body);
  machine.undecided.pop();
}

/**
 * Of a `try`, what calls other files is not sure: it may raise. What this file's own functions do is known, and where
 * they raise, the `except` is read.
 */
function attempt(machine: Machine, node: SyntaxNode): void {
  const parts: { readonly name: string; readonly body: SyntaxNode }[] = [];
  let name = 'try';
  for (const child of childrenOf(node)) {
    if (child.name === 'Body') parts.push({ name, body: child });
    else if (/^(?:try|except|else|finally)$/.test(child.name)) name = child.name;
  }
  const excepts = parts.filter((part) => part.name === 'except').map(({ body }) => body);
  const tried = parts.filter((part) => part.name === 'try' || part.name === 'else').map(({ body }) => body);
  if (excepts.length === 0 || tried.every((body) => callsOnlyOwn(machine, body))) {
    for (const body of tried) runBody(machine, body);
    if (machine.frame.state === 'raised' && excepts[0] !== undefined) {
      machine.frame.state = 'running';
      runBody(machine, excepts[0]);
    }
  } else undecided(machine, 'whether an exception is raised', [...tried, ...excepts]);
  for (const part of parts) if (part.name === 'finally') runBody(machine, part.body);
}

function callsOnlyOwn(machine: Machine, body: SyntaxNode): boolean {
  const cursor = body.cursor();
  while (cursor.next() && cursor.from < body.to) {
    if (!spend(machine)) return false;
    if (cursor.name !== 'CallExpression') continue;
    const callee = cursor.node.firstChild;
    const name = callee?.name === 'VariableName' ? machine.text.slice(callee.from, callee.to) : '';
    if (lookUp(machine.frame.scope, name)?.kind !== 'function') return false;
  }
  return true;
}

function branches(machine: Machine, node: SyntaxNode): void {
  const open: SyntaxNode[] = [];
  let condition: SyntaxNode | null = null;
  let shown = '';
  for (const child of childrenOf(node)) {
    if (/^(?:if|elif|else)$/.test(child.name)) condition = null;
    else if (child.name !== 'Body') condition = child;
    else {
      const is = condition === null ? true : truth(evaluate(machine, condition));
      if (is === false) continue;
      if (condition !== null && shown === '') shown = shownNode(machine, condition);
      if (is === true && open.length === 0) {
        runBody(machine, child);
        return;
      }
      open.push(child);
      if (is === true) break;
    }
  }
  if (open.length > 0) undecided(machine, shown, open);
}

function leave(machine: Machine, node: SyntaxNode): void {
  const { frame } = machine;
  const [group] = commaGroups(childrenOf(node).slice(1));
  const several = childrenOf(node).some((each) => each.name === ',');
  const value = group?.[0] === undefined || several ? null : evaluate(machine, group[0]);
  if (machine.undecided.length > frame.birth) {
    if (value !== null) frame.others.push(value);
    return;
  }
  frame.result = several ? unknownAt(machine, node, 'one of several results') : value;
  frame.returnAt = node.from;
  frame.state = 'left';
}

function assignment(machine: Machine, node: SyntaxNode): void {
  const sides: SyntaxNode[][] = [[]];
  for (const child of childrenOf(node)) {
    if (child.name === 'AssignOp') sides.push([]);
    else if (child.name !== 'TypeDef') sides.at(-1)!.push(child);
  }
  const right = sides.pop();
  if (right === undefined || sides.length === 0) return;
  const values = commaGroups(right);
  const plural = right.some((each) => each.name === ',');
  const items = plural ? values.map((group) => evaluate(machine, group[0]!)) : null;
  const value: PyValue =
    items !== null
      ? { kind: 'list', items, range: rangeFor(machine, { from: right[0]!.from, to: right.at(-1)!.to }) }
      : values[0] === undefined || values[0].length > 1
        ? unknownAt(machine, node)
        : evaluate(machine, values[0][0]!);
  for (const side of sides) {
    const targets = commaGroups(side);
    if (targets.length === 1 && !side.some((each) => each.name === ',')) {
      assign(machine, targets[0]![0]!, value, node.to);
      continue;
    }
    const parts = value.kind === 'list' && value.items.length >= targets.length ? value.items : null;
    targets.forEach((target, i) => {
      const item = target.length === 1 ? parts?.[i] : undefined;
      assign(machine, target.at(-1)!, item ?? unknownAt(machine, node), node.to);
    });
  }
}

function assign(machine: Machine, target: SyntaxNode, value: PyValue, end: number): void {
  if (target.name === 'VariableName') {
    setName(machine, machine.text.slice(target.from, target.to), value, rangeFor(machine, target));
    return;
  }
  if (target.name !== 'MemberExpression') return;
  const children = childrenOf(target);
  const [first] = children;
  const last = children.at(-1);
  if (first === undefined || last === undefined) return;
  const owner = evaluate(machine, first);
  if (owner.kind !== 'object') return;
  if (last.name === 'PropertyName') {
    const written = { style: 'attribute', end, target: machine.text.slice(first.from, first.to) } as const;
    setField(machine, owner, machine.text.slice(last.from, last.to), {
      value,
      keyRange: rangeFor(machine, last),
      written,
    });
    return;
  }
  const key = children[1]?.name === '[' && children.length === 4 ? evaluate(machine, children[2]!) : null;
  if (key?.kind !== 'scalar' || typeof key.value !== 'string') return;
  const written = { style: 'item', end, target: '' } as const;
  setField(machine, owner, key.value, { value, keyRange: rangeFor(machine, children[2]!), written });
}

function update(machine: Machine, node: SyntaxNode): void {
  const [target, operator, operand] = childrenOf(node);
  if (target === undefined || operator === undefined || operand === undefined) return;
  const [a, b] = [evaluate(machine, target), evaluate(machine, operand)];
  const symbol = machine.text.slice(operator.from, operator.to).replace('=', '');
  const value = compute(symbol, a, b);
  assign(machine, target, value === null ? unknownAt(machine, node) : computed(machine, node, value), node.to);
}

function definition(machine: Machine, node: SyntaxNode): void {
  const inner = node.name === 'DecoratedStatement' ? childrenOf(node).at(-1) : node;
  if (inner === undefined) return;
  const name = childrenOf(inner).find((each) => each.name === 'VariableName');
  if (name === undefined) return;
  const text = machine.text.slice(name.from, name.to);
  const value =
    inner.name === 'ClassDefinition'
      ? classOf(machine, inner, text)
      : functionOf(machine, inner, text, machine.frame.scope);
  machine.frame.scope.names.set(text, value);
}

function functionOf(machine: Machine, node: SyntaxNode, name: string, scope: Scope): PyFunction {
  const nameNode = childrenOf(node).find((each) => each.name === 'VariableName')!;
  return { kind: 'function', name, nameRange: rangeFor(machine, nameNode), node, scope, bound: null };
}

/** The fields that a class body gives, with those of its parents in this file. */
function classOf(machine: Machine, node: SyntaxNode, name: string): PyClass {
  const fields = new Map<string, PyField>();
  const methods = new Map<string, PyFunction>();
  const parents = childrenOf(node).find((each) => each.name === 'ArgList');
  for (const [parent] of parents === undefined ? [] : commaGroups(childrenOf(parents))) {
    const found = parent?.name === 'VariableName' ? evaluate(machine, parent) : null;
    if (found?.kind !== 'class') continue;
    for (const [key, field] of found.fields) fields.set(key, field);
    for (const [key, method] of found.methods) methods.set(key, method);
  }
  const body = childrenOf(node).find((each) => each.name === 'Body');
  for (const child of body === undefined ? [] : childrenOf(body)) {
    if (!spend(machine)) break;
    if (child.name === 'AssignStatement') classField(machine, child, fields);
    const method = child.name === 'DecoratedStatement' ? childrenOf(child).at(-1) : child;
    if (method?.name !== 'FunctionDefinition') continue;
    const own = childrenOf(method).find((each) => each.name === 'VariableName');
    if (own === undefined) continue;
    const key = machine.text.slice(own.from, own.to);
    methods.set(key, { ...functionOf(machine, method, key, machine.frame.scope) });
  }
  return { kind: 'class', name, fields, methods };
}

function classField(machine: Machine, node: SyntaxNode, fields: Map<string, PyField>): void {
  const children = childrenOf(node);
  const [target] = children;
  const at = children.findIndex((each) => each.name === 'AssignOp');
  const value = children[at + 1];
  if (target?.name !== 'VariableName' || at < 0 || value === undefined) return;
  const written = { style: 'parameter', end: value.to, target: '' } as const;
  fields.set(machine.text.slice(target.from, target.to), {
    value: evaluate(machine, value),
    keyRange: rangeFor(machine, target),
    written,
  });
}
