/**
 * NeMo 2 recipes: functions that give a `run.Partial` with a trainer on `nl.MegatronStrategy`, and scripts that build
 * on one. Keys and defaults as in NVIDIA/NeMo@8cfedd7203 nemo/collections/llm/recipes/** and
 * nemo/lightning/pytorch/strategies/megatron_strategy.py. A recipe's node count is the default of a parameter, which
 * callers replace: where it contradicts the trainer's own, that one is taken and the contradiction is told.
 */

import type { MegatronKey } from '../frameworks/megatron-core/keys.ts';
import type { Plan } from '../model/plan.ts';
import { derived, fromText, rangeOf, type Sourced, unknown } from '../model/source.ts';
import { finding } from './limits.ts';
import {
  both,
  CONFIG_NAMES,
  type NamedModel,
  type Spelling,
  under,
  withDefaults,
  withNamedModel,
} from './mcore/settings.ts';
import { countAt, noWorld, type World } from './mcore/world.ts';
import { nemoModelName, nemoVersionName } from './nemo2/models.ts';
import { type Edits, type PythonPlan, setPart } from './python/edits.ts';
import { type RecipeView, recipeReader } from './python/mcore-reader.ts';
import type { Recipe } from './python/recipes.ts';
import { isWritten } from './python/tree.ts';
import { fieldAt, lastPart, numberOf, type PyObject, partAt, textOf } from './python/value.ts';
import { entryAt } from './tree.ts';

const KEY = 'pipeline_model_parallel_size';
const RECIPE_PIPELINE = `trainer.strategy.${KEY}`;

/** Parameters of the library's own trainers: `nemotron_trainer(pipeline_parallelism=…)`. */
const TRAINER: Spelling = {
  pp: ['trainer.pipeline_parallelism'],
  tp: ['trainer.tensor_parallelism'],
  cp: ['trainer.context_parallelism'],
  ep: ['trainer.expert_parallelism'],
  virtualStages: ['trainer.virtual_pipeline_parallelism'],
  accountEmbedding: ['trainer.account_for_embedding_in_pipeline_split'],
  accountLoss: ['trainer.account_for_loss_in_pipeline_split'],
};

const SPELLING: Spelling = both(
  under('trainer.strategy', CONFIG_NAMES),
  under('strategy', CONFIG_NAMES),
  TRAINER,
  under('model.config', CONFIG_NAMES),
  {
    microBatch: ['data.micro_batch_size'],
    globalBatch: ['data.global_batch_size'],
    sequence: ['data.seq_length', 'model.config.seq_length'],
    trainIters: ['trainer.max_steps', 'max_steps'],
  },
);

const OWN = /\bMegatronStrategy\b|\b(?:pretrain|finetune)_recipe\b|\bcollections\.llm\.recipes\b/;
const PIPELINE = /\bpipeline_(?:model_parallel_size|parallelism)\b/;

function claims(path: string, text: string): boolean {
  if (!path.endsWith('.py') || text.length > 1_200_000 || !PIPELINE.test(text)) return false;
  return OWN.test(text.slice(0, 400_000));
}

function isPlan(object: PyObject): boolean {
  return isRecipe(object) || (/\bTrainer$/.test(object.callee) && isAt(object, `strategy.${KEY}`));
}

function isRecipe(object: PyObject): boolean {
  return isAt(object, RECIPE_PIPELINE) || isAt(object, 'trainer.pipeline_parallelism');
}

/** A Trainer is a plan of its own in a script that builds nothing around it. */
function choose(recipes: readonly Recipe[]): readonly Recipe[] {
  const whole = recipes.filter(({ root }) => isRecipe(root));
  return whole.length > 0 ? whole : recipes;
}

function isAt(object: PyObject, path: string): boolean {
  const field = fieldAt(object, path);
  return field !== null && isWritten(field);
}

/** What is not passed, in the library's trainers. Only those of Nemotron, Qwen2 and StarCoder2 split tensors. */
const TENSOR_2 = /^(?:nemotron|qwen2|starcoder2)_trainer$/;
const LIBRARY_TRAINER = /^(?:trainer|[a-z]+\d*_trainer|default_finetune_trainer)$/;

function complete({ recipe, settings }: RecipeView): void {
  const { root } = recipe;
  const trainer = partAt(root, 'trainer');
  const called = trainer?.kind === 'object' && trainer.shape === 'call' ? lastPart(trainer.callee) : '';
  if (lastPart(root.callee) === 'default_finetune_recipe') finetuneDefaults(settings);
  if (LIBRARY_TRAINER.test(called)) {
    const why = `NeMo: ${called}() has it so`;
    withDefaults(settings, { tp: TENSOR_2.test(called) ? '2' : '1', cp: '1', ep: '1' }, why);
    if (called === 'qwen3_trainer') withDefaults(settings, { etp: '1' }, why);
  }
  withDefaults(settings, { bf16: 'true' }, "NeMo: bf16-mixed is its recipes' precision");
  const model = modelOf(recipe.root);
  if (model?.name.startsWith('Nemotron') || model?.name.startsWith('GPT-3')) {
    withDefaults(settings, { swiglu: 'false' }, `NeMo: ${model.name} has no gated feed-forward`);
  }
  withNamedModel(settings, model);
  for (const [key, what, say] of [
    ['microBatch', 'the micro batch size (data.micro_batch_size)', 'batch.micro'],
    ['globalBatch', 'the global batch size (data.global_batch_size)', 'batch.global'],
  ] as const) {
    if (!settings.has(key)) settings.set(key, { value: unknown(what, say), spelled: what, place: null });
  }
}

/** nemo/collections/llm/recipes/finetune_default.py, without packed sequences. */
function finetuneDefaults(settings: RecipeView['settings']): void {
  const why = 'NeMo: default_finetune_recipe() sets it';
  withDefaults(settings, { tp: '1', pp: '1', cp: '1', ep: '1', globalBatch: '128', microBatch: '1' }, why);
}

function modelOf(root: PyObject): NamedModel | null {
  const model = partAt(root, 'model');
  if (model?.kind !== 'object') return recipeModel(root);
  const config = partAt(model, 'config') ?? model.positional[0];
  const className = config?.kind === 'object' ? lastPart(config.callee) : '';
  if (config?.kind === 'object' && /Config/.test(className)) {
    return { name: nemoModelName(className) ?? className, range: config.range };
  }
  const version = partAt(model, 'version') ?? model.positional[0];
  const byVersion = nemoVersionName(textOf(version) ?? '');
  if (byVersion !== null && version?.kind === 'scalar') {
    return { name: byVersion, range: version.source?.kind === 'text' ? version.source.range : version.range };
  }
  return recipeModel(root) ?? recipeModel(model);
}

/** `llm.llama3_8b.pretrain_recipe(…)`. */
function recipeModel(root: PyObject): NamedModel | null {
  const found = /(?:^|\.)([a-z]\w*)\.(?:pretrain_recipe|finetune_recipe|model)$/.exec(root.callee)?.[1];
  const name = found === undefined ? null : nemoVersionName(found);
  return name === null ? null : { name, range: root.range };
}

/** What recipes pass by place to the functions of nemo/collections/llm/recipes/finetune_default.py. */
const SIGNATURES = {
  default_finetune_recipe: ['model', 'resume_path', 'dir', 'name', 'num_nodes', 'num_gpus_per_node', 'packed_sequence'],
} as const;

const NODES = ['trainer.num_nodes', 'num_nodes'] as const;
const DEVICES = ['trainer.devices', 'trainer.num_gpus_per_node', 'devices', 'num_gpus_per_node'] as const;

function pathOf({ interpolation }: Pick<RecipeView, 'interpolation'>, paths: readonly string[]): string | null {
  return paths.find((path) => entryAt(interpolation.root, path) !== null) ?? null;
}

function product(nodes: Sourced<number>, devices: Sourced<number>): Sourced<number> {
  if (nodes.value === null || devices.value === null) return nodes.value === null ? nodes : devices;
  return derived(nodes.value * devices.value, `${nodes.value} nodes x ${devices.value} GPUs`, ['nodes', 'gpusPerNode']);
}

function counts(view: RecipeView): { readonly nodes: Sourced<number>; readonly devices: Sourced<number> } {
  const at = (paths: readonly string[]): Sourced<number> => {
    const path = pathOf(view, paths);
    return path === null ? unknown('the GPU count', 'cluster.gpus') : countAt(view.interpolation, path, null, '');
  };
  return { nodes: at(NODES), devices: at(DEVICES) };
}

function sizeOf({ settings }: RecipeView, key: MegatronKey): number {
  return Number(settings.get(key)?.value.value ?? 1);
}

function modelRanks(view: RecipeView): number {
  return sizeOf(view, 'pp') * sizeOf(view, 'tp') * sizeOf(view, 'cp');
}

/** Experts are spread over all ranks of a stage, in groups of their own. */
function expertRanks(view: RecipeView): number {
  const etp = view.settings.has('etp') ? sizeOf(view, 'etp') : sizeOf(view, 'tp');
  return sizeOf(view, 'ep') === 1 ? 1 : etp * sizeOf(view, 'ep') * sizeOf(view, 'pp');
}

function fits(view: RecipeView, gpus: number): boolean {
  return gpus % modelRanks(view) === 0 && gpus % expertRanks(view) === 0;
}

function world(view: RecipeView): World {
  const { nodes, devices } = counts(view);
  const gpus = product(nodes, devices);
  const parts = [nodes, devices].flatMap((each) => {
    const range = rangeOf(each);
    return range === null || each.value === null ? [] : [{ message: String(each.value), range }];
  });
  const own = { gpus, gpusPerNode: devices, parts };
  if (gpus.value === null)
    return { ...noWorld('the GPU count, which the caller of the recipe gives'), gpusPerNode: devices };
  if (fits(view, gpus.value) || !isDefault(nodes)) return own;
  const documented = trainersNodes(view);
  if (documented === null || devices.value === null || !fits(view, documented.value * devices.value)) return own;
  const how = `${documented.value} nodes x ${devices.value} GPUs: the trainer's own default, since ${nodes.value} nodes are too few`;
  const { source } = fromText(0, documented.range, how);
  return { gpus: { value: documented.value * devices.value, source }, gpusPerNode: devices, parts: [] };
}

function isDefault({ source }: Sourced<number>): boolean {
  return source.kind === 'text' && source.note?.startsWith('default of ') === true;
}

/** The node count that the file's own trainer function has as its default. */
function trainersNodes({ program, recipe }: RecipeView) {
  const fn = program.functions.find((each) => /(?:^|_)trainer$/.test(each.name) && each !== recipe.fn);
  const nodes = fn === undefined ? undefined : program.run(fn)?.locals.get('num_nodes');
  const value = numberOf(nodes);
  if (value === null || nodes?.kind !== 'scalar') return null;
  return { value, range: nodes.source?.kind === 'text' ? nodes.source.range : nodes.range };
}

/** A node count that callers replace is not the recipe's error; that it does not fit as it stands is worth a word. */
function finish(plan: Plan, view: RecipeView): Plan {
  const { nodes, devices } = counts(view);
  const place = rangeOf(nodes);
  if (!isDefault(nodes) || place === null || nodes.value === null || devices.value === null) return plan;
  const size = nodes.value * devices.value;
  if (fits(view, size)) return plan;
  const [code, message] =
    size % modelRanks(view) !== 0
      ? ([
          'world-size-not-divisible',
          `world size (${size}) is not divisible by total_model_size (total_model_size=${modelRanks(view)})`,
        ] as const)
      : ([
          'expert-size-not-divisible',
          `world_size (${size}) is not divisible by expert_tensor_model_pipeline_parallel size (${expertRanks(view)})`,
        ] as const);
  const called = `${message}: called without num_nodes, this recipe runs on ${nodes.value} x ${devices.value} GPUs`;
  const rest = plan.findings.filter((each) => each.code !== code);
  const told = { ...finding(code, called, place), severity: 'warning' } as const;
  return { ...plan, findings: [...rest, told] };
}

function elsewhere({ recipe }: RecipeView): string | null {
  const { root } = recipe;
  const strategy = partAt(root, 'trainer.strategy') ?? partAt(root, 'strategy');
  if (strategy?.kind === 'object' && strategy.shape === 'call') return null;
  const trainer = partAt(root, 'trainer');
  if (trainer?.kind === 'object' && trainer.shape === 'call' && LIBRARY_TRAINER.test(lastPart(trainer.callee)))
    return null;
  if (lastPart(root.callee) === 'default_finetune_recipe') return null;
  return root.callee === '' ? 'a recipe that this file builds on' : `${root.callee}()`;
}

function setGpus(plan: PythonPlan, gpus: number): Edits {
  const { root } = plan.recipe;
  const at = (paths: readonly string[]) => paths.find((path) => isAt(root, path));
  const [nodesAt, devicesAt] = [at(NODES), at(DEVICES)];
  const devices = devicesAt === undefined ? null : numberOf(partAt(root, devicesAt));
  if (nodesAt === undefined || devices === null || gpus % devices !== 0) return null;
  return setPart(plan, nodesAt, String(gpus / devices));
}

export const nemo2 = recipeReader({
  id: 'nemo2',
  title: 'NeMo 2 recipes',
  name: 'NeMo',
  claims,
  isPlan,
  spelling: SPELLING,
  anchors: [RECIPE_PIPELINE, 'trainer.pipeline_parallelism', `strategy.${KEY}`],
  complete,
  world,
  elsewhere,
  finish,
  setGpus,
  signatures: SIGNATURES,
  choose,
});
