/**
 * torchtitan's Python configs: `config_registry.py` functions that return a `Trainer.Config`, each a plan, and scripts
 * in the same style. Keys by era: `local_batch_size` (2026-02), tokens and `num_pp_microbatches` (since 2026-08).
 * Mirrors pytorch/torchtitan@b5bcd76c6 torchtitan/config/configs.py, torchtitan/trainer.py and
 * torchtitan/models/<model>/config_registry.py.
 */

import type { Change } from '../model/finding.ts';
import type { Plan, Said } from '../model/plan.ts';
import type { Reader, Reading, Texts } from '../model/reading.ts';
import { type TextRange, unknown } from '../model/source.ts';
import { finding } from './limits.ts';
import type { Edits, PythonPlan } from './python/edits.ts';
import { type Program, readProgram } from './python/program.ts';
import { type Recipe, recipeAnchor, recipesOf } from './python/recipes.ts';
import { sharedPlaces } from './python/shared.ts';
import { isWritten, treeOf } from './python/tree.ts';
import { fieldAt, lastPart, type PyObject, type PyValue, partAt, textOf } from './python/value.ts';
import type { TitanConfig } from './torchtitan/config.ts';
import { titanPythonEdits } from './torchtitan/python-edits.ts';
import { titanPlan } from './torchtitan.ts';
import { entryAt, type MapEntry, type MapNode, nodeAt, type ScalarNode, type TreeNode } from './tree.ts';

const OWN = /\btorchtitan\b|\bTrainer\.Config\(|\bconfig_registry\b/;
const KEYS = /\bParallelismConfig\b|\bpipeline_parallel_degree\b|\bmodel_registry\(/;
const DEGREE = 'parallelism.pipeline_parallel_degree';

function claims(path: string, text: string): boolean {
  if (!path.endsWith('.py') || text.length > 1_200_000) return false;
  if (!text.includes('parallelism') && !text.includes('Trainer.Config')) return false;
  const head = text.slice(0, 400_000);
  return KEYS.test(head) && OWN.test(head) && /\bTrainer\w*\.Config\b|\.parallelism\.pipeline_parallel/.test(head);
}

function isPlan(object: PyObject): boolean {
  const degree = fieldAt(object, DEGREE);
  if (degree !== null && isWritten(degree)) return true;
  return isTrainer(object) && ['training', 'parallelism'].some((key) => object.fields.has(key));
}

function isTrainer({ callee }: PyObject): boolean {
  return /(?:^|\.)\w*Trainer\w*\.Config$/.test(callee);
}

function read(path: string, texts: Texts, said: Said): Reading {
  const program = readProgram(path, texts[path] ?? '');
  if (program === null) return { plans: [], problems: [], needs: [] };
  const plans = recipesOf(program, isPlan).map((recipe) => planOf(program, recipe, said));
  return { plans, problems: [], needs: [] };
}

/** The same sections as in the TOML that came before, so that the same rules read them. */
export function titanPythonConfig(program: Program, recipe: Recipe, said: Said): TitanConfig {
  const { root } = recipe;
  const tree = sections(program, root);
  return {
    file: program.file,
    // Comments at the top of a file of many recipes speak of none of them.
    text: '',
    root: tree,
    era: eraOf(program.text, tree),
    said,
    anchor: recipeAnchor(recipe, program, [DEGREE, 'parallelism', 'training']),
    findings: [],
  };
}

const TOKENS = ['num_tokens_per_microbatch_per_dp_rank', 'num_tokens_per_train_step', 'max_context_length'] as const;
const LOCAL = ['local_batch_size', 'global_batch_size', 'seq_len'] as const;

/** By the recipe's own keys; where it has none of them, by the rest of the file. */
function eraOf(text: string, root: TreeNode): TitanConfig['era'] {
  const has = (names: readonly string[]) => names.some((name) => entryAt(root, `training.${name}`) !== null);
  if (has(TOKENS) || entryAt(root, 'parallelism.num_pp_microbatches') !== null) return 'tokens';
  if (has(LOCAL) || entryAt(root, 'parallelism.pipeline_parallel_microbatch_size') !== null) return 'local';
  return LOCAL.some((name) => text.includes(`${name}=`) || text.includes(`.${name} `)) ? 'local' : 'tokens';
}

/** What a base of another file may set, and the recipe does not. */
const OPEN_KEYS: Readonly<Record<string, readonly string[]>> = {
  parallelism: [
    'pipeline_parallel_degree',
    'tensor_parallel_degree',
    'context_parallel_degree',
    'expert_parallel_degree',
    'data_parallel_replicate_degree',
    'data_parallel_shard_degree',
    'pipeline_parallel_schedule',
    'num_pp_microbatches',
    'pipeline_parallel_microbatch_size',
  ],
  training: [...TOKENS, ...LOCAL, 'steps', 'disable_cuda_graphs'],
};

function sections(program: Program, root: PyObject): MapNode {
  const entries = new Map<string, MapEntry>();
  const put = (key: string, value: TreeNode, keyRange: TextRange) => entries.set(key, { key, keyRange, value });
  for (const key of ['parallelism', 'training'] as const) {
    const field = root.fields.get(key);
    const value = field?.value;
    const tree = value === undefined ? null : treeOf(value);
    const map = tree?.kind === 'map' ? tree : emptyMap(root.range);
    put(key, withOpen(map, key, openBase(root, value)), field?.keyRange ?? root.range);
  }
  const spec = partAt(root, 'model_spec');
  const model = new Map<string, MapEntry>();
  const flavor = spec?.kind === 'object' ? (spec.positional[0] ?? partAt(spec, 'flavor')) : undefined;
  const missing = 'the model, which model_spec does not name here';
  const place = spec !== undefined && 'range' in spec ? spec.range : root.range;
  const named = textOf(flavor) === null ? openScalar(missing, place) : (treeOf(flavor!) as ScalarNode);
  model.set('name', { key: 'name', keyRange: place, value: scalar(familyOf(program), place) });
  model.set('flavor', { key: 'flavor', keyRange: place, value: named });
  put('model', { ...emptyMap(place), entries: model }, place);
  const recompute = recomputeOf(partAt(root, 'activation_checkpoint'), root.range);
  if (recompute !== null) {
    const mode = new Map([['mode', { key: 'mode', keyRange: recompute.range, value: recompute }]]);
    put('activation_checkpoint', { ...emptyMap(recompute.range), entries: mode }, recompute.range);
  }
  return { kind: 'map', entries, flow: false, range: root.range };
}

function emptyMap(range: TextRange): MapNode {
  return { kind: 'map', entries: new Map(), flow: false, range };
}

function scalar(value: string, range: TextRange): ScalarNode {
  return { kind: 'scalar', value, text: value, quoted: true, range };
}

function openScalar(missing: string, range: TextRange): ScalarNode {
  return { ...scalar('', range), source: unknown(missing, undefined, range).source };
}

/** Why what is not written may still be set; null where the defaults hold. */
function openBase(root: PyObject, value: PyValue | undefined): string | null {
  if (value?.kind === 'object' && value.shape === 'call') {
    const name = lastPart(value.callee);
    return /^(?:ParallelismConfig|TrainingConfig|Config|Parallelism|Training)$/.test(name) ? null : `${name}()`;
  }
  if (isTrainer(root)) return null;
  return root.callee === '' ? 'the config that this one builds on' : `${root.callee}()`;
}

function withOpen(map: MapNode, section: string, base: string | null): MapNode {
  if (base === null) return map;
  const entries = new Map(map.entries);
  for (const key of OPEN_KEYS[section] ?? []) {
    if (entries.has(key)) continue;
    const value = openScalar(`${key}, which ${base} may set`, { ...map.range, length: 0 });
    entries.set(key, { key, keyRange: map.range, value });
  }
  return { ...map, entries };
}

/** `torchtitan/models/llama3/config_registry.py`, or the model package that the file imports. */
function familyOf({ file, text }: Program): string {
  const folder = file.split('/').at(-2) ?? '';
  const imported = /\btorchtitan\.models\.(\w+)/.exec(text.slice(0, 20_000))?.[1];
  return /config_registry\.py$/.test(file) && folder !== '' ? folder : (imported ?? folder);
}

/** `FullAC.Config()`; absent, torchtitan's is selective. */
function recomputeOf(value: PyValue | undefined, range: TextRange): ScalarNode | null {
  if (value === undefined) return null;
  if (value.kind === 'scalar') return value.value === null ? scalar('none', value.range) : null;
  if (value.kind !== 'object') return null;
  if (/FullAC\b/.test(value.callee)) return scalar('full', value.range);
  if (/SelectiveAC\b/.test(value.callee)) return scalar('selective', value.range);
  if (/MemoryBudgetAC\b/.test(value.callee)) return scalar('memory_budget', value.range);
  return openScalar('the activation checkpointing', value.range ?? range);
}

function planOf(program: Program, recipe: Recipe, said: Said): Plan {
  const config = titanPythonConfig(program, recipe, said);
  const plan = titanPlan(config, { id: recipe.id, name: recipe.fn?.name ?? lastPart(recipe.id) });
  checkCudaGraphs(config, plan);
  return { ...plan, findings: [...new Set([...plan.findings, ...config.findings])] };
}

/** torchtitan/trainer.py `_validate_cuda_graphs`. */
function checkCudaGraphs(config: TitanConfig, { pp }: Plan): void {
  if (config.era !== 'tokens' || pp.value === null || pp.value === 1) return;
  const disabled = nodeAt(config.root, 'training.disable_cuda_graphs');
  if (disabled.kind === 'scalar' && (disabled.value === true || disabled.source?.kind === 'unknown')) return;
  const message = 'CUDA graphs do not support pipeline parallelism yet. Set --training.disable_cuda_graphs.';
  const related = disabled.kind === 'scalar' ? [{ message: 'disable_cuda_graphs', range: disabled.range }] : [];
  config.findings.push(finding('options-conflict', message, config.anchor, related));
}

function edits(texts: Texts, plan: Plan, change: Change): Edits {
  const { file } = plan.anchor;
  const text = texts[file];
  const program = text === undefined ? null : readProgram(file, text);
  if (program === null) return null;
  const recipes = recipesOf(program, isPlan);
  const recipe = recipes.find((each) => each.id === plan.id);
  if (recipe === undefined) return null;
  const python: PythonPlan = { program, recipe, isShared: sharedPlaces(recipes) };
  return titanPythonEdits(python, titanPythonConfig(program, recipe, {}), plan, change);
}

export const torchtitanPython: Reader = {
  id: 'torchtitan-python',
  title: 'torchtitan Python configs',
  files: ['**/*.py'],
  parsers: ['python'],
  claims,
  read,
  edits,
};
