/**
 * Megatron-Bridge recipes: every function that returns a ConfigContainer is a plan. Keys, bases and defaults as in
 * NVIDIA-NeMo/Megatron-Bridge@067f987df src/megatron/bridge/recipes/** and src/megatron/bridge/training/config.py. The
 * GPU count stands in no key: many names say it (`…_256gpu_h100_…`), which is a hint and no more.
 */

import { fromText, type Sourced, unknown } from '../model/source.ts';
import {
  both,
  CONFIG_NAMES,
  type NamedModel,
  type Settings,
  type Spelling,
  under,
  withDefaults,
  withNamedModel,
} from './mcore/settings.ts';
import { noWorld, type World } from './mcore/world.ts';
import { nemoModelName } from './nemo2/models.ts';
import { type RecipeView, recipeReader } from './python/mcore-reader.ts';
import type { Program } from './python/program.ts';
import { isWritten } from './python/tree.ts';
import { fieldAt, lastPart, type PyObject, type PyValue, partAt } from './python/value.ts';

const SPELLING: Spelling = both(under('model', CONFIG_NAMES), {
  microBatch: ['train.micro_batch_size'],
  globalBatch: ['train.global_batch_size'],
  rampup: ['train.rampup_batch_size'],
  sequence: ['dataset.seq_length', 'dataset.sequence_length'],
  trainIters: ['train.train_iters'],
  trainSamples: ['train.train_samples'],
});

const SNIFFED = 400_000;
const KEY = 'pipeline_model_parallel_size';
const KEY_SET = /pipeline_model_parallel_size["']?\s*[=:]/;
const OWN = /\bConfigContainer\b|\bmegatron\.bridge\.recipes\b/;

function claims(path: string, text: string): boolean {
  if (!path.endsWith('.py') || text.length > SNIFFED * 3 || !KEY_SET.test(text)) return false;
  return OWN.test(text.slice(0, SNIFFED));
}

function isPlan(object: PyObject): boolean {
  const field = fieldAt(object, `model.${KEY}`);
  return field !== null && isWritten(field);
}

/** What the bases of the recipes set, in src/megatron/bridge/recipes/common.py. */
const BASES: Readonly<Record<string, readonly [micro: string, global: string]>> = {
  _pretrain_common: ['2', '32'],
  _sft_common: ['1', '128'],
  _peft_common: ['1', '128'],
};

function complete({ program, recipe, settings }: RecipeView): void {
  const base = lastPart(recipe.root.callee);
  const batch = Object.hasOwn(BASES, base) ? BASES[base]! : null;
  if (batch !== null)
    withDefaults(settings, { microBatch: batch[0], globalBatch: batch[1] }, `Megatron-Bridge: ${base}() sets it`);
  for (const [key, what, say] of [
    ['microBatch', 'the micro batch size (train.micro_batch_size)', 'batch.micro'],
    ['globalBatch', 'the global batch size (train.global_batch_size)', 'batch.global'],
  ] as const) {
    if (!settings.has(key)) settings.set(key, { value: unknown(what, say), spelled: what, place: null });
  }
  // src/megatron/bridge/models/transformer_config.py: where experts are parallel, their tensors are whole.
  if (Number(settings.get('ep')?.value.value ?? 1) > 1) {
    withDefaults(settings, { etp: '1' }, 'Megatron-Bridge: 1 where expert_model_parallel_size is above 1');
  }
  withLayoutHelper(program, recipe.root, settings);
  withPrecision(settings, recipe.root);
  withNamedModel(settings, modelOf(partAt(recipe.root, 'model')));
}

/** A function of another file that is given the model and sets its layout, as the DeepSeek recipes do. */
function withLayoutHelper(program: Program, root: PyObject, settings: Settings): void {
  const model = partAt(root, 'model');
  const helper = program.calls.find(
    ({ object }) => /layout/.test(object.callee) && object.positional.some((each) => each === root || each === model),
  );
  if (helper === undefined || settings.has('layout')) return;
  const { callee, range } = helper.object;
  const value = unknown(`the layout, which ${lastPart(callee)}() of another file sets`, undefined, range);
  settings.set('layout', { value, spelled: lastPart(callee), place: range });
}

/** `mixed_precision` names a recipe of number formats; every base has bf16. */
function withPrecision(settings: Settings, root: PyObject): void {
  const given = partAt(root, 'mixed_precision');
  const name =
    given?.kind === 'scalar' ? String(given.value) : given?.kind === 'object' ? lastPart(given.callee) : 'bf16_mixed';
  if (/^bf16/.test(name)) withDefaults(settings, { bf16: 'true' }, `Megatron-Bridge: ${name}`);
  else if (/^fp16/.test(name)) withDefaults(settings, { fp16: 'true' }, `Megatron-Bridge: ${name}`);
}

/** The id in `AutoBridge.from_hf_pretrained("…")`, or a provider whose class names the model. */
function modelOf(model: PyValue | undefined): NamedModel | null {
  for (let at = model?.kind === 'object' ? model : null; at !== null; at = at.self) {
    const [first] = at.positional;
    if (/from_(?:hf_)?pretrained$/.test(at.callee) && first?.kind === 'scalar' && typeof first.value === 'string') {
      return { name: first.value, range: first.source?.kind === 'text' ? first.source.range : first.range };
    }
    const name = nemoModelName(lastPart(at.callee).replace('ModelProvider', 'Config'));
    if (name !== null) return { name, range: at.range };
  }
  return null;
}

const GPUS = /(?:^|_)(\d{1,6})gpus?(?=_|$)/;
const KIND = /(?:^|_)((?:[ab]|gb?|h|mi|v)\d{2,4}x?)(?=_|$)/;

/** The count that the function's name says, where it fits the parallel sizes: a hint. */
function world({ recipe, settings }: RecipeView): World {
  const none = noWorld('the GPU count, which the launcher of the recipe gives');
  const { fn } = recipe;
  const found = fn === null ? null : GPUS.exec(fn.name);
  if (fn === null || found === null) return none;
  const count = Number(found[1]);
  const offset = fn.nameRange.offset + found.index + found[0].indexOf(found[1]!);
  const range = { ...fn.nameRange, offset, length: found[1]!.length };
  const model = (['pp', 'tp', 'cp'] as const).reduce(
    (all, key) => all * Number(settings.get(key)?.value.value ?? 1),
    1,
  );
  if (!(count > 0 && Number.isSafeInteger(model) && count % model === 0)) {
    const missing = `the GPU count: the name says ${count}, which tp x pp x cp = ${model} does not divide`;
    return { ...none, gpus: unknown(missing, 'cluster.gpus', range) };
  }
  return { gpus: fromText(count, range, "from the function's name"), gpusPerNode: none.gpusPerNode, parts: [] };
}

function gpuKind({ recipe }: RecipeView): Sourced<string> | null {
  const { fn } = recipe;
  const found = fn === null ? null : KIND.exec(fn.name);
  if (fn === null || found === null) return null;
  const offset = fn.nameRange.offset + found.index + found[0].indexOf(found[1]!);
  return fromText(
    found[1]!.toUpperCase(),
    { ...fn.nameRange, offset, length: found[1]!.length },
    "from the function's name",
  );
}

export const megatronBridgePython = recipeReader({
  id: 'megatron-bridge-python',
  title: 'Megatron-Bridge recipes',
  name: 'Megatron-Bridge',
  claims,
  isPlan,
  spelling: SPELLING,
  anchors: [`model.${KEY}`],
  complete,
  world,
  elsewhere: () => null,
  finish: (plan, view) => {
    const kind = gpuKind(view);
    return kind === null || plan.cluster.gpu.value !== null
      ? plan
      : { ...plan, cluster: { ...plan.cluster, gpu: kind } };
  },
  setGpus: () => null,
});
