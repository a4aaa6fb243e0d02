/** Arithmetic and comparisons of plain values, as Python does them on whole numbers. */

import type { ScalarValue } from '../tree.ts';
import { keyText, type PyValue, same } from './value.ts';

/** The result of an arithmetic operator; null where it is not known or no safe number. */
export function compute(operator: string, a: PyValue, b: PyValue): number | string | null {
  if (a.kind !== 'scalar' || b.kind !== 'scalar') return null;
  if (operator === '+' && typeof a.value === 'string' && typeof b.value === 'string') {
    return a.value.length + b.value.length > 4096 ? null : a.value + b.value;
  }
  if (typeof a.value !== 'number' || typeof b.value !== 'number') return null;
  const value = arithmetic(operator, a.value, b.value);
  return value !== null && Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : null;
}

function arithmetic(operator: string, a: number, b: number): number | null {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    case '//':
      return Math.floor(a / b);
    case '%':
      return a - b * Math.floor(a / b);
    case '**':
      return a ** b;
    case '<<':
      return b >= 0 && b < 53 ? a * 2 ** b : null;
    default:
      return null;
  }
}

/** The result of a comparison; null where it is not known, undefined where the operator is none. */
export function compare(operator: string, a: PyValue, b: PyValue): boolean | null | undefined {
  const result = compared(operator, a, b);
  return result !== undefined && (isLoose(a) || isLoose(b)) ? null : result;
}

function isLoose(value: PyValue): boolean {
  return value.kind === 'scalar' && value.loose === true;
}

function compared(operator: string, a: PyValue, b: PyValue): boolean | null | undefined {
  switch (operator) {
    case '==':
    case 'is':
      return equal(a, b);
    case '!=':
    case 'is not':
      return not(equal(a, b));
    case 'in':
      return contained(a, b);
    case 'not in':
      return not(contained(a, b));
    case '<':
    case '<=':
    case '>':
    case '>=':
      return ordered(operator, a, b);
    default:
      return undefined;
  }
}

function not(value: boolean | null): boolean | null {
  return value === null ? null : !value;
}

/** A call may give anything; only plain values and what this file defines can be told apart. */
function equal(a: PyValue, b: PyValue): boolean | null {
  if (same(a, b)) return true;
  if (a.kind === 'scalar' && b.kind === 'scalar') return false;
  if (a.kind === 'object' || b.kind === 'object') return null;
  return a.kind === b.kind ? null : false;
}

function contained(a: PyValue, b: PyValue): boolean | null {
  if (b.kind === 'scalar' && typeof b.value === 'string' && a.kind === 'scalar')
    return b.value.includes(String(a.value));
  if (b.kind === 'object' && b.shape === 'dict') return b.fields.has(keyText(a) ?? '') ? true : null;
  if (b.kind !== 'list') return null;
  const results = b.items.slice(0, 100).map((item) => equal(a, item));
  return results.includes(true) ? true : results.includes(null) || b.items.length > 100 ? null : false;
}

function ordered(operator: '<' | '<=' | '>' | '>=', a: PyValue, b: PyValue): boolean | null {
  if (a.kind !== 'scalar' || b.kind !== 'scalar') return null;
  const [x, y] = [numeric(a.value), numeric(b.value)];
  if (x === null || y === null) return null;
  if (operator === '<') return x < y;
  if (operator === '<=') return x <= y;
  return operator === '>' ? x > y : x >= y;
}

function numeric(value: ScalarValue): number | null {
  return typeof value === 'number' ? value : typeof value === 'boolean' ? Number(value) : null;
}
