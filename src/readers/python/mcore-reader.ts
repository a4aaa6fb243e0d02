/**
 * A reader for Python recipes that feed Megatron-core: every function that builds a recipe is a plan, its parts are
 * Megatron's keys through the one resolver. The framework says which objects are recipes and where the keys stand.
 */

import type { MegatronKey } from '../../frameworks/megatron-core/keys.ts';
import type { Change } from '../../model/finding.ts';
import type { Plan, Said } from '../../model/plan.ts';
import type { Reader, Reading, Texts } from '../../model/reading.ts';
import { attributeCompletions } from '../completion/attributes.ts';
import { megatronRows } from '../completion/megatron.ts';
import { pathTable } from '../completion/tree.ts';
import { openCompanions } from '../mcore/config.ts';
import type { Interpolation } from '../mcore/interpolate.ts';
import { mcorePlan } from '../mcore/plan.ts';
import { groupedByCount, type Settings, type Spelling, settingsOf } from '../mcore/settings.ts';
import type { World } from '../mcore/world.ts';
import { changeEdits } from '../megatron-lm/edits.ts';
import { entryAt } from '../tree.ts';
import { type Edits, type PythonPlan, setPart } from './edits.ts';
import type { Signatures } from './machine.ts';
import { type Program, readProgram } from './program.ts';
import { type Recipe, recipeAnchor, recipesOf } from './recipes.ts';
import { sharedPlaces } from './shared.ts';
import { treeOf } from './tree.ts';
import type { PyObject } from './value.ts';

/** One recipe with its parts as a tree. */
export interface RecipeView {
  readonly program: Program;
  readonly recipe: Recipe;
  readonly interpolation: Interpolation;
  readonly settings: Settings;
}

export interface RecipeFramework {
  readonly id: string;
  readonly title: string;
  /** As defaults name it: "Megatron-Bridge". */
  readonly name: string;
  readonly claims: (path: string, text: string) => boolean;
  readonly isPlan: (object: PyObject) => boolean;
  readonly spelling: Spelling;
  /** Parts that hold the pipeline size, the one to show first. */
  readonly anchors: readonly string[];
  /** Adds what the framework's own library gives. */
  readonly complete: (view: RecipeView) => void;
  readonly world: (view: RecipeView) => World;
  /** Where a key that is not written may still be given; null when the framework's default holds. */
  readonly elsewhere: (view: RecipeView) => string | null;
  readonly finish?: (plan: Plan, view: RecipeView) => Plan;
  readonly setGpus: (plan: PythonPlan, gpus: number) => Edits;
  readonly signatures?: Signatures;
  /** Leaves out what is only a part of another plan. */
  readonly choose?: (recipes: readonly Recipe[]) => readonly Recipe[];
}

export function recipeReader(framework: RecipeFramework): Reader {
  const names = pathTable(megatronRows([framework.spelling]));
  return {
    id: framework.id,
    title: framework.title,
    files: ['**/*.py'],
    parsers: ['python'],
    claims: framework.claims,
    read: (path, texts, said) => read(framework, path, texts, said),
    edits: (texts, plan, change) => edits(framework, texts, plan, change),
    completions: (_path, text, offset) => attributeCompletions(text, offset, names),
  };
}

function read(framework: RecipeFramework, path: string, texts: Texts, said: Said): Reading {
  const program = readProgram(path, texts[path] ?? '', framework.signatures);
  if (program === null) return { plans: [], problems: [], needs: [] };
  const plans = chosen(framework, program).map((recipe) => planOf(framework, program, recipe, texts, said));
  return { plans, problems: [], needs: [] };
}

function chosen(framework: RecipeFramework, program: Program): readonly Recipe[] {
  const recipes = recipesOf(program, framework.isPlan);
  return framework.choose?.(recipes) ?? recipes;
}

function viewOf(framework: RecipeFramework, program: Program, recipe: Recipe): RecipeView {
  const interpolation: Interpolation = { root: treeOf(recipe.root), dialect: 'omegaconf' };
  const settings = settingsOf(interpolation, framework.spelling);
  const view = { program, recipe, interpolation, settings };
  framework.complete(view);
  groupedByCount(settings);
  return view;
}

function planOf(framework: RecipeFramework, program: Program, recipe: Recipe, texts: Texts, said: Said): Plan {
  const view = viewOf(framework, program, recipe);
  const plan = mcorePlan({
    companions: openCompanions(program.file, texts),
    id: recipe.id,
    name: recipe.fn?.name ?? program.file.replace(/^.*\//, '').replace(/\.py$/, ''),
    anchor: recipeAnchor(recipe, program, framework.anchors),
    settings: view.settings,
    said,
    world: framework.world(view),
    title: framework.name,
    spelling: framework.spelling,
    elsewhere: framework.elsewhere(view),
  });
  return framework.finish === undefined ? plan : framework.finish(plan, view);
}

const PLAIN: Readonly<Record<string, MegatronKey>> = {
  'parallel.tensor': 'tp',
  'parallel.context': 'cp',
  'parallel.expert': 'ep',
  'pipeline.groupSize': 'groupSize',
  'model.sequence': 'sequence',
  'run.steps': 'trainIters',
};

function edits(framework: RecipeFramework, texts: Texts, plan: Plan, change: Change): Edits {
  const { file } = plan.anchor;
  const text = texts[file];
  const program = text === undefined ? null : readProgram(file, text, framework.signatures);
  if (program === null) return null;
  const recipes = chosen(framework, program);
  const recipe = recipes.find((each) => each.id === plan.id);
  if (recipe === undefined) return null;
  const value = Number(change.value);
  if (!Number.isSafeInteger(value) || value < 1) return null;
  const python: PythonPlan = { program, recipe, isShared: sharedPlaces(recipes) };
  const { settings, interpolation } = viewOf(framework, program, recipe);
  const set = (key: MegatronKey, next: number): Edits => {
    const paths = framework.spelling[key] ?? [];
    const path = paths.find((each) => entryAt(interpolation.root, each) !== null) ?? paths[0];
    const source = settings.get(key)?.value.source;
    // A model's own figure is not the recipe's to replace.
    if (path === undefined || (source?.kind === 'text' && source.note?.includes('model registry') === true))
      return null;
    return setPart(python, path, key === 'virtualStages' && next === 1 ? 'None' : String(next));
  };
  if (Object.hasOwn(PLAIN, change.key)) return set(PLAIN[change.key]!, value);
  return changeEdits(plan, change, {
    has: (key) => {
      const kind = settings.get(key)?.value.source.kind;
      return kind !== undefined && kind !== 'default';
    },
    replace: set,
    insert: (_before, key, next) => set(key, next),
    setGpus: (gpus) => framework.setGpus(python, gpus),
  });
}
