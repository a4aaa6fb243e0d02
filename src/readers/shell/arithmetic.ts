/**
 * Shell arithmetic on known whole numbers: `+ - * / % **`, comparisons, `! && ||`, `?:` and parentheses, with C's
 * precedence and truncation as in the Bash manual, "Shell Arithmetic". What it does not know (an assignment, a bit
 * operator, a division by zero) has no value.
 */

import { MAX_DEPTH } from '../limits.ts';

type Tokens = { readonly list: readonly string[]; at: number; depth: number };

const TOKEN = /\s*(\*\*|&&|\|\||[<>=!]=|[-+*/%()<>!?:]|0[xX][0-9a-fA-F]+|[0-9]+|[A-Za-z_][A-Za-z0-9_]*)/y;
const LEVELS: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['==', '!='],
  ['<', '>', '<=', '>='],
  ['+', '-'],
  ['*', '/', '%'],
];

/** The value of an expression; null where it is not known. `lookup` gives the number of a bare name. */
export function evaluateArithmetic(text: string, lookup: (name: string) => number | null): number | null {
  const list: string[] = [];
  let at = 0;
  const end = text.trimEnd().length;
  while (at < end) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    if (found === null) return null;
    list.push(found[1]!);
    at = TOKEN.lastIndex;
  }
  if (list.length === 0) return null;
  const tokens: Tokens = { list, at: 0, depth: 0 };
  const value = ternary(tokens, lookup);
  return value !== null && tokens.at === list.length && Number.isSafeInteger(value) ? value : null;
}

type Lookup = (name: string) => number | null;

function ternary(tokens: Tokens, lookup: Lookup): number | null {
  const condition = binary(tokens, 0, lookup);
  if (tokens.list[tokens.at] !== '?') return condition;
  tokens.at++;
  const yes = nested(tokens, lookup);
  if (tokens.list[tokens.at] !== ':') return null;
  tokens.at++;
  const no = nested(tokens, lookup);
  return condition === null ? null : condition !== 0 ? yes : no;
}

function nested(tokens: Tokens, lookup: Lookup): number | null {
  if (tokens.depth >= MAX_DEPTH) return null;
  tokens.depth++;
  const value = ternary(tokens, lookup);
  tokens.depth--;
  return value;
}

function binary(tokens: Tokens, level: number, lookup: Lookup): number | null {
  const operators = LEVELS[level];
  if (operators === undefined) return power(tokens, lookup);
  let left = binary(tokens, level + 1, lookup);
  for (;;) {
    const operator = tokens.list[tokens.at];
    if (operator === undefined || !operators.includes(operator)) return left;
    tokens.at++;
    left = apply(operator, left, binary(tokens, level + 1, lookup));
  }
}

/** Right-associative, and binds tighter than a product. */
function power(tokens: Tokens, lookup: Lookup): number | null {
  const base = unary(tokens, lookup);
  if (tokens.list[tokens.at] !== '**') return base;
  tokens.at++;
  if (tokens.depth >= MAX_DEPTH) return null;
  tokens.depth++;
  const exponent = power(tokens, lookup);
  tokens.depth--;
  return base === null || exponent === null || exponent < 0 ? null : base ** exponent;
}

function unary(tokens: Tokens, lookup: Lookup): number | null {
  let sign = 1;
  let negate = 0;
  for (;;) {
    const token = tokens.list[tokens.at];
    if (token !== '-' && token !== '+' && token !== '!') break;
    if (token === '-') sign = -sign;
    if (token === '!') negate++;
    tokens.at++;
  }
  const value = primary(tokens, lookup);
  if (value === null) return null;
  if (negate === 0) return sign * value;
  return Number((value === 0) === (negate % 2 === 1));
}

function primary(tokens: Tokens, lookup: Lookup): number | null {
  const token = tokens.list[tokens.at];
  if (token === undefined) return null;
  tokens.at++;
  if (token === '(') {
    const value = nested(tokens, lookup);
    if (tokens.list[tokens.at] !== ')') return null;
    tokens.at++;
    return value;
  }
  if (/^[0-9]/.test(token)) return parseNumber(token);
  return /^[A-Za-z_]/.test(token) ? lookup(token) : null;
}

/** Decimal, hexadecimal, or octal with a leading zero. */
function parseNumber(token: string): number | null {
  if (/^0[0-9]/.test(token)) return /^[0-7]+$/.test(token) ? Number.parseInt(token, 8) : null;
  return Number(token);
}

function apply(operator: string, left: number | null, right: number | null): number | null {
  if (left === null || right === null) return null;
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return right === 0 ? null : Math.trunc(left / right);
    case '%':
      return right === 0 ? null : left % right;
    case '==':
      return Number(left === right);
    case '!=':
      return Number(left !== right);
    case '<':
      return Number(left < right);
    case '>':
      return Number(left > right);
    case '<=':
      return Number(left <= right);
    case '>=':
      return Number(left >= right);
    case '&&':
      return Number(left !== 0 && right !== 0);
    case '||':
      return Number(left !== 0 || right !== 0);
    default:
      return null;
  }
}
