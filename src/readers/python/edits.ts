/**
 * Writing into Python: the literal that gives a value is replaced, also where a name leads to it; in `256 * SEQUENCE`
 * the plain factor; a part that nobody writes becomes a keyword argument or a line of its own beside its neighbour. A
 * value that another function gives to several recipes is set anew in the recipe, before its `return`.
 */

import type { TextEdit } from '../../model/finding.ts';
import { indentOf, lineBreakOf, lineEnd } from '../edit-lines.ts';
import type { Program } from './program.ts';
import { isOwn, type Recipe } from './recipes.ts';
import { isWritten } from './tree.ts';
import { fieldAt, isNone, type PyField, type PyObject, type PyValue, partAt } from './value.ts';

export type Edits = readonly TextEdit[] | null;

export interface PythonPlan {
  readonly program: Program;
  readonly recipe: Recipe;
  /** Whether a place gives values to other plans of the file, too. */
  readonly isShared: (offset: number) => boolean;
}

/** Sets the part at a dotted path to a literal; null where the file does not say it in a way that can be changed. */
export function setPart(plan: PythonPlan, path: string, literal: string): Edits {
  const field = fieldAt(plan.recipe.root, path);
  if (field === null || !isWritten(field)) return addPart(plan, path, literal);
  const range = valueRange(field.value);
  if (range === null) return null;
  const mine = isOwn(plan.recipe, plan.program, range) || !plan.isShared(range.offset);
  if (!mine) return override(plan, path, literal);
  return replaceValue(plan.program, field.value, literal);
}

/** Where a value is written: of a default or of a constant, there. */
function valueRange(value: PyValue) {
  if (value.kind !== 'scalar') return null;
  return value.source?.kind === 'text' && typeof value.value !== 'string' ? value.source.range : value.range;
}

const PLAIN = /^(?:\d[\d_]*|None|True|False)$/;
const QUOTED = /^(["'])[^"'\\\n]*\1$/;

export function replaceValue({ file, text }: Program, value: PyValue, literal: string): Edits {
  const range = valueRange(value);
  if (range === null || range.file !== file || value.kind !== 'scalar') return null;
  const { offset, length } = range;
  const token = text.slice(offset, offset + length);
  if (PLAIN.test(token) || QUOTED.test(token)) return [{ file, offset, length, text: inQuotesOf(token, literal) }];
  const factor = /^(\d[\d_]*)\s*\*/.exec(token)?.[1];
  if (factor === undefined || typeof value.value !== 'number' || /[+\-/%]/.test(token)) return null;
  const rest = value.value / Number(factor.replaceAll('_', ''));
  const next = Number(literal) / rest;
  if (!Number.isSafeInteger(next) || next < 1) return null;
  return [{ file, offset, length: factor.length, text: String(next) }];
}

function inQuotesOf(token: string, literal: string): string {
  return token.startsWith("'") && QUOTED.test(literal) ? `'${literal.slice(1, -1)}'` : literal;
}

/** Beside the part's neighbours; into an empty call; else as a line of the recipe. */
function addPart(plan: PythonPlan, path: string, literal: string): Edits {
  const dot = path.lastIndexOf('.');
  const owner = dot < 0 ? plan.recipe.root : partAt(plan.recipe.root, path.slice(0, dot));
  const key = path.slice(dot + 1);
  if (owner?.kind !== 'object') return override(plan, path, literal);
  const neighbour = neighbourOf(plan, owner);
  if (neighbour !== null) return beside(plan.program, neighbour, key, literal);
  const call = plan.program.calls.find((each) => each.object === owner);
  if (call === undefined || !isOwn(plan.recipe, plan.program, owner.range) || owner.fields.size > 0) {
    return override(plan, path, literal);
  }
  const { file, text } = plan.program;
  const close = text[call.end - 1] === ')' ? call.end - 1 : -1;
  if (close < 0) return null;
  const first = /\(\s*$/.test(text.slice(Math.max(0, close - 200), close));
  return [{ file, offset: close, length: 0, text: `${first ? '' : ', '}${key}=${literal}` }];
}

const PARALLEL = /(?:parallel|pp_|tp_|degree|num_stages|batch|microbatch|chunks)/;

/** The part after which a new one stands: a size if there is one. */
function neighbourOf({ program, recipe, isShared }: PythonPlan, owner: PyObject): PyField | null {
  const own = [...owner.fields].filter(
    ([, field]) =>
      isWritten(field) &&
      (field.written.style === 'keyword' || (field.written.style === 'attribute' && field.written.target !== '')) &&
      (isOwn(recipe, program, field.keyRange) || !isShared(field.keyRange.offset)),
  );
  const sizes = own.filter(([key]) => PARALLEL.test(key));
  const pipeline = sizes.filter(([key]) => /pipeline|pp_size|degree|num_stages/.test(key));
  return (pipeline.at(-1) ?? sizes.at(-1) ?? own.at(-1))?.[1] ?? null;
}

function beside({ file, text }: Program, { keyRange, written }: PyField, key: string, literal: string): Edits {
  const lineStart = text.lastIndexOf('\n', keyRange.offset - 1) + 1;
  const indent = indentOf(text, keyRange.offset);
  if (written.style === 'attribute') {
    const offset = lineEnd(text, written.end);
    return [{ file, offset, length: 0, text: `${lineBreakOf(text)}${indent}${written.target}.${key} = ${literal}` }];
  }
  const alone = lineStart + indent.length === keyRange.offset;
  const gap = alone ? `,${lineBreakOf(text)}${indent}` : ', ';
  return [{ file, offset: written.end, length: 0, text: `${gap}${key}=${literal}` }];
}

/** A line of its own in front of the recipe's `return`. */
function override({ program, recipe }: PythonPlan, path: string, literal: string): Edits {
  const { returnAt, variable, root } = recipe;
  if (returnAt === null || variable === null || reachable(root, path) === false) return null;
  const { file, text } = program;
  const indent = indentOf(text, returnAt);
  const start = text.lastIndexOf('\n', returnAt - 1) + 1;
  if (start + indent.length !== returnAt) return null;
  return [{ file, offset: start, length: 0, text: `${indent}${variable}.${path} = ${literal}${lineBreakOf(text)}` }];
}

/** Whether the object that the part belongs to is one. */
function reachable(root: PyObject, path: string): boolean {
  const dot = path.lastIndexOf('.');
  const owner = dot < 0 ? root : partAt(root, path.slice(0, dot));
  return owner !== undefined && !isNone(owner);
}
