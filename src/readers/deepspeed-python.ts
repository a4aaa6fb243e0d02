/**
 * DeepSpeed scripts that build a `PipelineModule(layers=…, num_stages=…)`. The batch stands in a dictionary that
 * `deepspeed.initialize` is given, or in a JSON file that it names. Mirrors deepspeedai/DeepSpeed@edaa7221
 * deepspeed/runtime/pipe/{module,topology,engine}.py and deepspeed/runtime/config.py.
 */

import { type PipelineLayer, pipelineModuleSplit } from '../frameworks/deepspeed-split.ts';
import type { Change, Finding } from '../model/finding.ts';
import type { Plan, Said } from '../model/plan.ts';
import type { Reader, Reading, Texts } from '../model/reading.ts';
import { byDefault, derived, firstUnknown, rangeOf, type Sourced, unknown } from '../model/source.ts';
import { checkZero, deepSpeedBatch, deepSpeedConfig } from './deepspeed/config.ts';
import { readJsonc } from './jsonc/read.ts';
import { finding } from './limits.ts';
import { besides } from './mcore/config.ts';
import { openParts, saidSchedule } from './plan-base.ts';
import { type Edits, setPart } from './python/edits.ts';
import { type Program, readProgram } from './python/program.ts';
import { recipeAnchor } from './python/recipes.ts';
import { besideSite, type Site, sitesOf } from './python/sites.ts';
import { treeOf } from './python/tree.ts';
import { lastPart, nameOf, type PyObject, type PyValue, partAt, textOf } from './python/value.ts';
import { saidNumber } from './said.ts';
import { has, NOTHING, type TreeNode } from './tree.ts';
import { numberAt, WHOLE } from './values.ts';

const CALL = /^PipelineModule$/;
const OWN = /\bdeepspeed\b/;

function claims(path: string, text: string): boolean {
  if (!path.endsWith('.py') || !text.includes('PipelineModule(')) return false;
  return text.length < 1_200_000 && OWN.test(text.slice(0, 400_000)) && /\b(?:num_stages|topology)\s*=/.test(text);
}

interface Parts {
  readonly program: Program;
  readonly site: Site;
  readonly module: TreeNode;
  readonly config: TreeNode;
  /** The dictionary of the config, where the script holds it. */
  readonly dict: PyObject | null;
  readonly needs: readonly string[];
  readonly said: Said;
  readonly findings: Finding[];
}

const CONFIG_KEYS = ['config', 'config_params'] as const;
const BATCH_KEYS = ['train_batch_size', 'train_micro_batch_size_per_gpu', 'gradient_accumulation_steps'] as const;

function partsOf(program: Program, site: Site, texts: Texts, said: Said): Parts {
  const starts = besideSite(
    program,
    site,
    (each) => lastPart(each.callee) === 'initialize' && CONFIG_KEYS.some((key) => each.fields.has(key)),
  );
  const given =
    starts === null ? undefined : CONFIG_KEYS.map((key) => partAt(starts, key)).find((each) => each !== undefined);
  const dict = given?.kind === 'object' && BATCH_KEYS.some((key) => given.fields.has(key)) ? given : null;
  const path = textOf(given);
  const file = path === null ? null : besides(program.file, path);
  const held = file !== null && Object.hasOwn(texts, file) ? readJsonc(file, texts[file]!).root : null;
  return {
    program,
    site,
    module: treeOf(site.record.object),
    config: dict !== null ? treeOf(dict) : (held ?? NOTHING),
    dict,
    needs: file !== null && held === null ? [file] : [],
    said,
    findings: [],
  };
}

function read(path: string, texts: Texts, said: Said): Reading {
  const program = readProgram(path, texts[path] ?? '');
  if (program === null) return { plans: [], problems: [], needs: [] };
  const parts = sitesOf(program, CALL)
    .filter(({ record }) => ['num_stages', 'topology'].some((key) => record.object.fields.has(key)))
    .map((site) => partsOf(program, site, texts, said));
  const needs = [...new Set(parts.flatMap((each) => each.needs))];
  return { plans: parts.map(planOf), problems: [], needs, optional: needs };
}

/** `num_stages`, or the pipe axis of a topology. */
function sizesOf({ module, said, findings }: Parts): {
  readonly pp: Sourced<number>;
  readonly tp: Sourced<number>;
  readonly dp: Sourced<number> | null;
} {
  const missing = unknown('the pipeline size (num_stages)', 'pipeline.size');
  const absent = has(module, 'topology') ? numberAt(module, 'topology.num_pp', WHOLE, missing, findings) : missing;
  const one = byDefault(1, 'DeepSpeed: no tensor parallelism in a PipelineModule of its own');
  const dp = numberAt(module, 'topology.num_dp', WHOLE, missing, findings);
  return {
    pp: saidNumber(said, 'pipeline.size', numberAt(module, 'num_stages', WHOLE, absent, findings)),
    tp: saidNumber(said, 'parallel.tensor', numberAt(module, 'topology.num_mp', WHOLE, one, findings)),
    dp: dp === missing ? null : dp,
  };
}

function planOf(parts: Parts): Plan {
  const { program, site, config, said, findings } = parts;
  const anchor = recipeAnchor(site.recipe, program, ['num_stages', 'topology.num_pp']);
  const { pp, tp, dp: written } = sizesOf(parts);
  const stated = saidNumber(said, 'cluster.gpus', unknown('the GPU count, which the launcher gives', 'cluster.gpus'));
  const gpus = stated.value === null && written !== null ? product([pp, tp, written]) : stated;
  const dp = saidNumber(said, 'parallel.data', written ?? dataParallel({ pp, tp, gpus, anchor }, findings));
  const keys = deepSpeedConfig(config, findings);
  const over = (key: string, value: Sourced<number> | null) =>
    Object.hasOwn(said, key) ? saidNumber(said, key, unknown('')) : value;
  const batch = deepSpeedBatch(
    { ...keys, micro: over('batch.micro', keys.micro), train: over('batch.global', keys.train) },
    dp,
    findings,
    anchor,
  );
  checkZero(keys.zeroStage, pp, findings, anchor);
  const split = splitOf(parts, pp);
  return {
    id: site.id,
    name: site.recipe.fn?.name ?? program.file.replace(/^.*\//, '').replace(/\.py$/, ''),
    framework: 'deepspeed',
    anchor,
    pp,
    tp,
    cp: byDefault(1, 'DeepSpeed: no context parallelism'),
    ep: byDefault(1, 'DeepSpeed: no expert parallelism'),
    dp,
    gpus,
    vpp: byDefault(1, 'DeepSpeed: one stage per rank'),
    schedule: saidSchedule(said) ?? (pp.value === null ? pp : derived('1f1b', "DeepSpeed's training schedule", ['pp'])),
    groupSize: unknown('a group size: DeepSpeed does not interleave'),
    ...batch,
    microbatches: saidNumber(said, 'pipeline.microbatches', batch.microbatches),
    sequenceLength: saidNumber(
      said,
      'model.sequence',
      unknown('the sequence length, which the model has', 'model.sequence'),
    ),
    stages: split.stages,
    ...openParts('DeepSpeed'),
    model: modelOf(parts, split.layers),
    findings,
  };
}

function product(factors: readonly Sourced<number>[]): Sourced<number> {
  const missing = firstUnknown(factors);
  if (missing !== null) return missing;
  return derived(
    factors.reduce((all, each) => all * (each.value ?? 1), 1),
    factors.map((each) => each.value).join(' x '),
    ['pp', 'tp', 'dp'],
  );
}

type World = Pick<Plan, 'pp' | 'tp' | 'gpus' | 'anchor'>;

function dataParallel({ pp, tp, gpus, anchor }: World, findings: Finding[]): Sourced<number> {
  if (gpus.value === null || pp.value === null || tp.value === null) return firstUnknown([gpus, pp, tp])!;
  const ranks = pp.value * tp.value;
  if (gpus.value % ranks === 0)
    return derived(gpus.value / ranks, `${gpus.value} / (${pp.value} x ${tp.value})`, ['gpus', 'pp', 'tp']);
  const message = `num_stages (${pp.value}) must divide distributed world size (${gpus.value})`;
  findings.push(finding('world-size-not-divisible', message, rangeOf(pp) ?? anchor));
  return unknown('a GPU count that the pipeline divides', 'cluster.gpus');
}

const LAYER = /layer|block/i;
const EMBEDDING = /embed/i;
const HEAD = /head|logit|output/i;

/** The list of layers, where the script writes it out; only then is the split known. */
function splitOf(
  { site }: Parts,
  pp: Sourced<number>,
): { readonly layers: Sourced<number>; readonly stages: Plan['stages'] } {
  const open = unknown("the split, which DeepSpeed makes from the model's layers");
  const none = { layers: unknown('the layers, which the model in Python has', 'model.layers'), stages: open };
  const list = partAt(site.record.object, 'layers') ?? site.record.object.positional[0];
  if (list?.kind !== 'list' || list.items.length === 0) return none;
  const entries = list.items.map(layerOf);
  if (entries.includes(null)) return none;
  const items = entries as readonly PipelineLayer[];
  const layers = items.filter(({ part }) => part === 'layer').length;
  if (layers === 0) return none;
  const found = derived(layers, `layers in the list of ${items.length}`, []);
  const method = textOf(partAt(site.record.object, 'partition_method')) ?? 'parameters';
  if (pp.value === null || pp.value > 65_536) return { layers: found, stages: pp.value === null ? pp : open };
  const split = pipelineModuleSplit(items, pp.value, method);
  if (split === null)
    return { layers: found, stages: unknown(`the split, which partition_method ${method} makes by weight`) };
  return { layers: found, stages: derived(split, `partition_method ${method} over ${items.length} entries`, ['pp']) };
}

/** `LayerSpec(Block, …)`, `TiedLayerSpec("embed", Embedding, …)`, `Block()`; null for what is not known. */
function layerOf(value: PyValue): PipelineLayer | null {
  if (value.kind !== 'object' || value.shape !== 'call')
    return value.kind === 'function' ? { name: value.name, part: 'other' } : null;
  const own = lastPart(value.callee);
  const at = own === 'LayerSpec' ? 0 : own === 'TiedLayerSpec' ? 1 : -1;
  const name = at < 0 ? own : lastPart(nameOf(value.positional[at]) ?? '');
  if (name === '') return null;
  const part = EMBEDDING.test(name) ? 'embedding' : HEAD.test(name) ? 'head' : LAYER.test(name) ? 'layer' : 'other';
  return { name, part };
}

function modelOf({ config, said, site }: Parts, layers: Sourced<number>): Plan['model'] {
  const open = (what: string, say: string) =>
    saidNumber(said, say, unknown(`${what}, which the model in Python has`, say));
  const low = (['bf16', 'fp16'] as const).find((name) => has(config, `${name}.enabled`));
  const interval = partAt(site.record.object, 'activation_checkpoint_interval');
  const none = interval === undefined || (interval.kind === 'scalar' && interval.value === 0);
  return {
    layers: saidNumber(said, 'model.layers', layers),
    hidden: open('the hidden size', 'model.hidden'),
    heads: open('the attention heads', 'model.heads'),
    kvHeads: open('the key-value heads', 'model.kvHeads'),
    ffn: open('the feed-forward size', 'model.ffn'),
    gated: unknown('whether the feed-forward is gated'),
    vocabulary: open('the vocabulary', 'model.vocabulary'),
    recompute: none
      ? byDefault('none', 'DeepSpeed: no activation checkpointing at interval 0')
      : byDefault('full', 'DeepSpeed: whole layers by activation_checkpoint_interval'),
    dtype:
      low === undefined ? unknown('the number format', 'model.dtype') : byDefault(low, `DeepSpeed: ${low} is enabled`),
    experts: null,
  };
}

function edits(texts: Texts, plan: Plan, { key, value }: Change): Edits {
  const { file } = plan.anchor;
  const program = texts[file] === undefined ? null : readProgram(file, texts[file]);
  const site = program === null ? undefined : sitesOf(program, CALL).find(({ id }) => id === plan.id);
  const number = Number(value);
  if (program === null || site === undefined || !Number.isSafeInteger(number) || number < 1) return null;
  const set = (object: PyObject | null, path: string, to: number): Edits =>
    object === null
      ? null
      : setPart({ program, recipe: { ...site.recipe, root: object }, isShared: () => false }, path, String(to));
  const { object } = site.record;
  const { dict } = partsOf(program, site, texts, {});
  if (key === 'pipeline.size')
    return set(object, object.fields.has('num_stages') ? 'num_stages' : 'topology.num_pp', number);
  const has_ = (name: string) => dict?.fields.has(name) === true;
  // Two of three sizes give the third: where all stand there, they would have to change together.
  if (BATCH_KEYS.every(has_)) return null;
  const { microBatchSize: micro, dp } = plan;
  switch (key) {
    case 'pipeline.microbatches':
      if (has_('gradient_accumulation_steps'))
        return has_('train_batch_size') ? null : set(dict, 'gradient_accumulation_steps', number);
      if (
        !has_('train_batch_size') ||
        !has_('train_micro_batch_size_per_gpu') ||
        micro.value === null ||
        dp.value === null
      )
        return null;
      return set(dict, 'train_batch_size', number * micro.value * dp.value);
    case 'batch.micro':
      return has_('train_batch_size') ? null : set(dict, 'train_micro_batch_size_per_gpu', number);
    default:
      return null;
  }
}

export const deepSpeedPython: Reader = {
  id: 'deepspeed-python',
  title: 'DeepSpeed scripts with a PipelineModule',
  files: ['**/*.py'],
  parsers: ['python', 'jsonc'],
  claims,
  read,
  edits,
};
