/**
 * Conditions that the file itself decides: `[ … ]`, `[[ … ]]`, `test`, `(( … ))`, `true` and `false`, joined with
 * `&&`, `||` and `!`. Everything else (does a file exist, did a command succeed) is undecided: null.
 */

import { MAX_DEPTH } from '../limits.ts';
import { evaluateParts, expandValue, type Scope } from './expand.ts';
import type { Statement, Word } from './syntax.ts';
import { literalText } from './syntax.ts';
import { isEmpty, type Pieces, textOf } from './values.ts';

type Decision = boolean | null;

/** Whether a list of commands succeeds, as far as the file decides it. */
export function decide(statements: readonly Statement[], scope: Scope, depth = 0): Decision {
  let result: Decision = null;
  statements.forEach((statement, i) => {
    const one = decideStatement(statement, scope, depth);
    if (i === 0 || statement.connector === ';') result = one;
    else if (statement.connector === '&&') result = and(result, one);
    else if (statement.connector === '||') result = or(result, one);
    else result = null;
  });
  return result;
}

export function isTest(statement: Statement): boolean {
  if (statement.kind === 'arithmetic') return true;
  if (statement.kind !== 'simple' || statement.words[0] === undefined) return false;
  return ['[', '[[', 'test'].includes(literalText(statement.words[0]) ?? '');
}

export function decideStatement(statement: Statement, scope: Scope, depth = 0): Decision {
  const result = depth >= MAX_DEPTH ? null : decidePlain(statement, scope, depth);
  return statement.negated ? not(result) : result;
}

function decidePlain(statement: Statement, scope: Scope, depth: number): Decision {
  if (statement.kind === 'group') return decide(statement.body, scope, depth + 1);
  if (statement.kind === 'arithmetic') {
    const { value } = evaluateParts(statement.parts, scope);
    return value === null ? null : value !== 0;
  }
  if (statement.kind !== 'simple' || statement.words.length === 0) return null;
  const name = literalText(statement.words[0]!);
  if (name === 'true' || name === ':') return true;
  if (name === 'false') return false;
  if (name !== '[' && name !== '[[' && name !== 'test') return null;
  const last = literalText(statement.words.at(-1)!);
  const inner = statement.words.slice(1, last === ']' || last === ']]' ? -1 : undefined);
  return decideTest(inner, scope, 0);
}

function and(a: Decision, b: Decision): Decision {
  if (a === false || b === false) return false;
  return a === null || b === null ? null : true;
}

function or(a: Decision, b: Decision): Decision {
  if (a === true || b === true) return true;
  return a === null || b === null ? null : false;
}

function not(a: Decision): Decision {
  return a === null ? null : !a;
}

function decideTest(words: readonly Word[], scope: Scope, depth: number): Decision {
  if (depth >= MAX_DEPTH || words.length > 200) return null;
  for (const [names, join] of [
    [['||', '-o'], or],
    [['&&', '-a'], and],
  ] as const) {
    const at = words.findIndex((word) => names.some((name) => name === literalText(word)));
    if (at > 0) {
      const left = decideTest(words.slice(0, at), scope, depth + 1);
      return join(left, decideTest(words.slice(at + 1), scope, depth + 1));
    }
  }
  const first = words[0] === undefined ? null : literalText(words[0]);
  if (first === '!' && words.length > 1) return not(decideTest(words.slice(1), scope, depth + 1));
  if (words.length === 1) return not(decideEmpty(words[0]!, scope));
  if (words.length === 2) return decideUnary(first, words[1]!, scope);
  return words.length === 3 ? decideBinary(words[0]!, literalText(words[1]!), words[2]!, scope) : null;
}

function decideUnary(operator: string | null, operand: Word, scope: Scope): Decision {
  if (operator === '-z') return decideEmpty(operand, scope);
  return operator === '-n' ? not(decideEmpty(operand, scope)) : null;
}

function decideEmpty(operand: Word, scope: Scope): Decision {
  const pieces = expandValue(operand.parts, scope);
  return pieces.some((piece) => piece.maybe !== null) ? null : isEmpty(pieces);
}

const COMPARISONS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '-eq': (a, b) => a === b,
  '-ne': (a, b) => a !== b,
  '-lt': (a, b) => a < b,
  '-le': (a, b) => a <= b,
  '-gt': (a, b) => a > b,
  '-ge': (a, b) => a >= b,
};

function decideBinary(left: Word, operator: string | null, right: Word, scope: Scope): Decision {
  const a = settled(expandValue(left.parts, scope));
  const b = settled(expandValue(right.parts, scope));
  if (operator === null || a === null || b === null) return null;
  if (operator === '=' || operator === '==') return matchesPattern(a, b);
  if (operator === '!=') return !matchesPattern(a, b);
  const compare = Object.hasOwn(COMPARISONS, operator) ? COMPARISONS[operator] : undefined;
  if (compare === undefined || !/^\s*-?\d+\s*$/.test(a) || !/^\s*-?\d+\s*$/.test(b)) return null;
  return compare(Number(a), Number(b));
}

/** The text, unless part of it holds only under a condition. */
function settled(pieces: Pieces): string | null {
  return pieces.some((piece) => piece.maybe !== null) ? null : textOf(pieces);
}

/** Whether a text matches a pattern with `*` and `?`. Far too long ones only match themselves. */
export function matchesPattern(text: string, pattern: string): boolean {
  if (text.length * pattern.length > 1_000_000) return text === pattern;
  let t = 0;
  let p = 0;
  let star = -1;
  let mark = 0;
  while (t < text.length) {
    if (p < pattern.length && pattern[p] === '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[t])) {
      p++;
      t++;
    } else if (star >= 0) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}

/** Adds the variables that a condition tests for being set, `[ -z "$X" ]` and the like. */
export function testedNames(statements: readonly Statement[], into: Set<string>): void {
  for (const statement of statements) {
    if (statement.kind !== 'simple' || !isTest(statement)) continue;
    statement.words.forEach((word, i) => {
      const before = i === 0 ? null : literalText(statement.words[i - 1]!);
      if (before === '-v') into.add(literalText(word) ?? '');
      if (before !== '-z' && before !== '-n' && statement.words.length > 3) return;
      for (const part of word.parts) if (part.kind === 'variable') into.add(part.name);
    });
  }
}
