/**
 * The plans of a file of recipes: one for each function that returns, or at least builds, an object that holds one,
 * and one for the module's own. A helper that another function only completes is no recipe of its own.
 */

import type { TextRange } from '../../model/source.ts';
import { calledNames, type FunctionOutcome, type Program, within } from './program.ts';
import { fieldAt, type PyFunction, type PyObject, type PyValue } from './value.ts';

export interface Recipe {
  /** The function's name, or `main`. */
  readonly id: string;
  readonly root: PyObject;
  /** null for the module. */
  readonly fn: PyFunction | null;
  /** The name that the object has where the function ends; null where it has none. */
  readonly variable: string | null;
  readonly returnAt: number | null;
  /** Every name in sight where the function ends, for what stands beside the object. */
  readonly names: ReadonlyMap<string, PyValue>;
}

/** More plans in one file than anybody looks at. */
const MAX_RECIPES = 400;

export function recipesOf(program: Program, isPlan: (object: PyObject) => boolean): readonly Recipe[] {
  const recipes: Recipe[] = [];
  const helpers = helperNames(program);
  for (const fn of program.functions) {
    if (recipes.length >= MAX_RECIPES) break;
    if (helpers.has(fn.name)) continue;
    const outcome = program.run(fn);
    if (outcome === null) continue;
    const objects = plansOf(outcome, isPlan);
    objects.forEach((root, i) => {
      const variable = nameOfObject(outcome.locals, root);
      const id = i === 0 ? fn.name : `${fn.name}.${variable ?? i + 1}`;
      recipes.push({ id, root, fn, variable, returnAt: outcome.returnAt, names: outcome.locals });
    });
  }
  return [...moduleRecipes(program, isPlan), ...recipes];
}

/** `_common()` that others call. */
function helperNames(program: Program): ReadonlySet<string> {
  const called = new Set<string>();
  if (!program.functions.some((fn) => fn.name.startsWith('_'))) return called;
  for (const fn of program.functions) {
    for (const name of calledNames(fn, program.text)) if (name.startsWith('_') && name !== fn.name) called.add(name);
  }
  return called;
}

function plansOf(outcome: FunctionOutcome, isPlan: (object: PyObject) => boolean): readonly PyObject[] {
  const returned = [outcome.result, ...outcome.others].filter((each) => each !== null);
  const plans = distinct(returned, isPlan);
  return plans.length > 0 ? plans : distinct([...outcome.locals.values()], isPlan);
}

function distinct(values: readonly PyValue[], isPlan: (object: PyObject) => boolean): readonly PyObject[] {
  const objects = values.filter(
    (each): each is PyObject => each.kind === 'object' && each.shape !== 'name' && isPlan(each),
  );
  return [...new Set(objects)];
}

function nameOfObject(names: ReadonlyMap<string, PyValue>, object: PyObject): string | null {
  for (const [name, value] of names) if (value === object) return name;
  return null;
}

function moduleRecipes(program: Program, isPlan: (object: PyObject) => boolean): readonly Recipe[] {
  const { globals } = program;
  const objects = distinct([...globals.values()], isPlan);
  return objects.map((root, i) => {
    const variable = nameOfObject(globals, root);
    const id = i === 0 ? 'main' : `main.${variable}`;
    return { id, root, fn: null, variable, returnAt: null, names: globals };
  });
}

/** Whether a place is the recipe's own and not that of a function that it builds on. */
export function isOwn({ fn }: Recipe, program: Program, { file, offset }: TextRange): boolean {
  if (file !== program.file) return false;
  if (fn !== null) return within(fn, offset);
  return !program.functions.some((each) => within(each, offset));
}

/** The recipe's line: the value of one of some parts where the recipe itself writes it, else the function's name. */
export function recipeAnchor(recipe: Recipe, program: Program, paths: readonly string[]): TextRange {
  for (const path of paths) {
    const field = fieldAt(recipe.root, path);
    const value = field?.value.kind === 'scalar' ? field.value.range : null;
    const found = [value, field?.keyRange ?? null].find((each) => each !== null && isOwn(recipe, program, each));
    if (found != null) return found;
  }
  if (recipe.fn !== null) return recipe.fn.nameRange;
  return assignedAt(recipe, program) ?? recipe.root.range;
}

/** Where the module gives the object its name. */
function assignedAt(recipe: Recipe, program: Program): TextRange | null {
  const { variable } = recipe;
  if (variable === null) return null;
  for (const found of program.text.matchAll(new RegExp(`^[ \\t]*(${variable})[ \\t]*(?::[^=\\n]{0,80})?=`, 'gm'))) {
    const offset = found.index + found[0].indexOf(variable);
    const range = { file: program.file, offset, length: variable.length };
    if (isOwn(recipe, program, range)) return range;
  }
  return null;
}
