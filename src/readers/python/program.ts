/**
 * A whole Python file, read: the module's statements first (a `__main__` block counts), then its functions one by
 * one as somebody calls them without arguments. What comes out are the objects that functions return or hold, and
 * every call that was met.
 */

import type { SyntaxNode } from '@lezer/common';
import { runFunction } from './functions.ts';
import { type CallRecord, type Frame, MAX_FILE_STEPS, type Machine, newFrame, type Signatures } from './machine.ts';
import { runBody } from './statements.ts';
import { childrenOf, parsePython } from './syntax.ts';
import type { PyClass, PyFunction, PyValue, Scope } from './value.ts';

export interface FunctionOutcome {
  readonly fn: PyFunction;
  readonly result: PyValue | null;
  /** What its undecided branches return. */
  readonly others: readonly PyValue[];
  readonly locals: ReadonlyMap<string, PyValue>;
  /** Where its `return` stands; null without one. */
  readonly returnAt: number | null;
}

export interface Program {
  readonly file: string;
  readonly text: string;
  readonly root: SyntaxNode;
  readonly globals: ReadonlyMap<string, PyValue>;
  /** Functions at the top, and methods of the classes there (`Class.method`), in file order. */
  readonly functions: readonly PyFunction[];
  readonly calls: readonly CallRecord[];
  /** Reads one function as if somebody called it without arguments. */
  readonly run: (fn: PyFunction) => FunctionOutcome | null;
}

/** null for a text that is not read. Needs the `python` parser. */
export function readProgram(file: string, text: string, signatures: Signatures = {}): Program | null {
  const root = parsePython(file, text);
  if (root === null) return null;
  const scope: Scope = { names: new Map([['__name__', mainName(file)]]), parent: null };
  const frame = newFrame(scope, '', 0);
  const machine: Machine = {
    file,
    text,
    steps: MAX_FILE_STEPS,
    deep: 0,
    depth: 0,
    undecided: [],
    frame,
    calls: [],
    signatures,
  };
  runBody(machine, root);
  return {
    file,
    text,
    root,
    globals: scope.names,
    functions: functionsOf(scope),
    calls: machine.calls,
    run: (fn) => outcome(fn, runAlone(machine, fn, frame)),
  };
}

function mainName(file: string): PyValue {
  const range = { file, offset: 0, length: 0 };
  return { kind: 'scalar', value: '__main__', text: '"__main__"', range, source: null };
}

function runAlone(machine: Machine, fn: PyFunction, module: Frame): Frame | null {
  machine.frame = module;
  machine.deep = 0;
  machine.depth = 0;
  machine.undecided.length = 0;
  return runFunction(machine, fn, { positional: [], keywords: new Map() });
}

function outcome(fn: PyFunction, frame: Frame | null): FunctionOutcome | null {
  if (frame === null) return null;
  return { fn, result: frame.result, others: frame.others, locals: frame.scope.names, returnAt: frame.returnAt };
}

function functionsOf(scope: Scope): readonly PyFunction[] {
  const classes = [...scope.names.values()].filter((each): each is PyClass => each.kind === 'class');
  const found = new Map<number, PyFunction>();
  for (const value of scope.names.values()) if (value.kind === 'function') found.set(value.node.from, value);
  for (const { name, methods } of classes) {
    for (const method of methods.values()) {
      if (!found.has(method.node.from)) found.set(method.node.from, { ...method, name: `${name}.${method.name}` });
    }
  }
  return [...found.values()].sort((a, b) => a.node.from - b.node.from);
}

/** Whether a place lies inside a function. */
export function within(fn: PyFunction, offset: number): boolean {
  return offset >= fn.node.from && offset < fn.node.to;
}

/** The names that a function calls, as they are written. */
export function calledNames(fn: PyFunction, text: string): ReadonlySet<string> {
  const names = new Set<string>();
  const cursor = fn.node.cursor();
  const { to } = fn.node;
  while (cursor.next() && cursor.from < to) {
    if (cursor.name !== 'CallExpression') continue;
    const callee = childrenOf(cursor.node)[0];
    if (callee?.name === 'VariableName') names.add(text.slice(callee.from, callee.to));
  }
  return names;
}
