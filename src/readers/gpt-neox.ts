/**
 * GPT-NeoX configs: YAML, often in braces with quoted keys and `#` comments. Several files are merged on the command
 * line, so what one of them does not give may stand in another. Mirrors EleutherAI/gpt-neox@ea7aefd8
 * megatron/neox_arguments/{arguments,neox_args,deepspeed_args}.py and megatron/model/transformer.py (ParallelMLP).
 */

import { pipelineModuleSplit } from '../frameworks/deepspeed-split.ts';
import { neoxPipeLayers } from '../frameworks/gpt-neox.ts';
import type { Change, Finding, TextEdit } from '../model/finding.ts';
import type { ModelShape, Plan, Said } from '../model/plan.ts';
import type { Reader, Reading, Texts } from '../model/reading.ts';
import { byDefault, derived, rangeOf, type Sourced, type TextRange, unknown } from '../model/source.ts';
import { checkZero, deepSpeedBatch, deepSpeedConfig } from './deepspeed/config.ts';
import { underscored } from './gpt-neox/keys.ts';
import { finding } from './limits.ts';
import { allOf, anchorAt, baseName, openParts, saidSchedule } from './plan-base.ts';
import { saidNumber } from './said.ts';
import { has, type MapNode, nodeAt } from './tree.ts';
import { setKey } from './tree-edit.ts';
import { booleanAt, numberAt, textAt, WHOLE, WHOLE_OR_ZERO } from './values.ts';
import { readYaml } from './yaml/read.ts';

const MARK = /^[ \t]*["']?pipe[-_]parallel[-_]size["']?[ \t]*:/m;
const ELSEWHERE = 'or another config of the same launch gives it';

function claims(path: string, text: string): boolean {
  return /\.(?:ya?ml|json)$/i.test(path) && /pipe[-_]parallel[-_]size/.test(text) && MARK.test(text);
}

function read(path: string, texts: Texts, said: Said): Reading {
  const { root, problems } = readYaml(path, texts[path] ?? '');
  if (root.kind !== 'map') return { plans: [], problems, needs: [] };
  return { plans: [planOf(path, underscored(root), said)], problems, needs: [] };
}

interface Config {
  readonly root: MapNode;
  readonly said: Said;
  readonly findings: Finding[];
}

function planOf(file: string, root: MapNode, said: Said): Plan {
  const findings: Finding[] = [];
  const config: Config = { root, said, findings };
  const anchor = anchorAt(file, root, ['pipe_parallel_size', 'model_parallel_size']);
  const engine = numberAt(
    root,
    'pipe_parallel_size',
    WHOLE_OR_ZERO,
    byDefault(0, 'GPT-NeoX: 0 when pipe_parallel_size is absent'),
    findings,
  );
  const sizes = sizesOf(config, engine, anchor);
  const model = modelOf(config);
  const written = deepSpeedConfig(root, findings);
  const batch = deepSpeedBatch(
    {
      ...written,
      micro: saidOr(said, 'batch.micro', written.micro),
      train: saidOr(said, 'batch.global', written.train),
    },
    sizes.dp,
    findings,
    anchor,
  );
  // With a pipeline of one stage the engine is the pipeline's all the same; with 0 there is none.
  if (engine.value !== null && engine.value >= 1) checkZero(written.zeroStage, engine, findings, anchor);
  return {
    id: 'main',
    name: baseName(file),
    framework: 'gpt-neox',
    anchor,
    ...sizes,
    vpp: byDefault(1, 'GPT-NeoX: one stage per rank'),
    schedule: saidSchedule(said) ?? scheduleOf(sizes.pp),
    groupSize: unknown('a group size: DeepSpeed does not interleave'),
    ...batch,
    microbatches: saidNumber(said, 'pipeline.microbatches', batch.microbatches),
    sequenceLength: saidNumber(
      said,
      'model.sequence',
      numberAt(
        root,
        'seq_length',
        WHOLE,
        unknown(`the sequence length (seq_length, ${ELSEWHERE})`, 'model.sequence'),
        findings,
      ),
    ),
    stages: stagesOf(config, sizes.pp, model.layers),
    model,
    ...openParts('DeepSpeed'),
    run: {
      steps: numberAt(
        root,
        'train_iters',
        WHOLE,
        unknown('the length of the run (train_iters)', 'run.steps'),
        findings,
      ),
      tokens: unknown('the tokens of the run', 'run.tokens'),
    },
    findings,
  };
}

function saidOr(said: Said, key: string, read: Sourced<number> | null): Sourced<number> | null {
  return Object.hasOwn(said, key) ? saidNumber(said, key, read ?? unknown('')) : read;
}

/** 0 counts as one stage, without the pipeline's engine. */
function atLeastOne(value: Sourced<number>, note: string): Sourced<number> {
  if (value.value === null || value.value >= 1) return value;
  return value.source.kind === 'text' ? { value: 1, source: { ...value.source, note } } : { ...value, value: 1 };
}

function sizesOf({ root, said, findings }: Config, engine: Sourced<number>, anchor: TextRange) {
  const size = (key: string, say: string, rule = WHOLE) =>
    saidNumber(said, say, numberAt(root, key, rule, byDefault(1, `GPT-NeoX: ${key} is 1 when it is absent`), findings));
  const pp = saidNumber(
    said,
    'pipeline.size',
    atLeastOne(engine, 'pipe_parallel_size 0: one stage and no pipeline engine'),
  );
  const tp = atLeastOne(
    size('model_parallel_size', 'parallel.tensor', WHOLE_OR_ZERO),
    'model_parallel_size 0 counts as 1',
  );
  const gpus = saidNumber(said, 'cluster.gpus', gpuCount(root, findings));
  const model = allOf([pp, tp]);
  let dp = saidNumber(said, 'parallel.data', unknown('a GPU count that the sizes divide', 'cluster.gpus'));
  if (gpus.value !== null && 'length' in model) {
    const each = model[0]! * model[1]!;
    if (gpus.value % each === 0)
      dp = derived(gpus.value / each, `${gpus.value} / (${model[0]} x ${model[1]})`, ['gpus', 'pp', 'tp']);
    else refuseWorld(gpus.value, { pp, tp }, findings, anchor);
  } else if (gpus.value === null && 'kind' in gpus.source && dp.value === null) dp = gpus;
  return {
    pp,
    tp,
    cp: byDefault(1, 'GPT-NeoX: no context parallelism'),
    ep: size('moe_expert_parallel_size', 'parallel.expert'),
    dp,
    gpus,
  };
}

function refuseWorld(gpus: number, { pp, tp }: Pick<Plan, 'pp' | 'tp'>, findings: Finding[], anchor: TextRange): void {
  const message = `(global_num_gpus / pp_size) / mp_size [(${gpus} / ${pp.value}) / ${tp.value}] must be a whole number`;
  const range = rangeOf(tp);
  const related = range === null ? [] : [{ message: `model_parallel_size ${tp.value}`, range }];
  findings.push(finding('world-size-not-divisible', message, rangeOf(pp) ?? anchor, related));
}

function gpuCount(root: MapNode, findings: Finding[]): Sourced<number> {
  const missing = unknown('the GPU count, which the hosts of the launch give', 'cluster.gpus');
  if (has(root, 'global_num_gpus')) return numberAt(root, 'global_num_gpus', WHOLE, missing, findings);
  const [nodes, each] = [nodeAt(root, 'num_nodes'), nodeAt(root, 'num_gpus')];
  if (nodes.kind !== 'scalar' || each.kind !== 'scalar') return missing;
  const [a, b] = [Number(nodes.value), Number(each.value)];
  return Number.isSafeInteger(a * b) && a >= 1 && b >= 1
    ? derived(a * b, `num_nodes ${a} x num_gpus ${b}`, ['num_nodes', 'num_gpus'])
    : missing;
}

function scheduleOf(pp: Sourced<number>): Plan['schedule'] {
  if (pp.value === null) return pp as Plan['schedule'];
  return pp.value === 1
    ? derived('none', 'one stage needs no schedule', ['pp'])
    : derived('1f1b', "DeepSpeed's training schedule", ['pp']);
}

function modelOf({ root, said, findings }: Config): ModelShape {
  const number = (key: string, what: string, say: string, absent?: Sourced<number>) =>
    saidNumber(
      said,
      say,
      numberAt(root, key, WHOLE, absent ?? unknown(`${what} (${key}, ${ELSEWHERE})`, say), findings),
    );
  const hidden = number('hidden_size', 'the hidden size', 'model.hidden');
  const heads = number('num_attention_heads', 'the attention heads', 'model.heads');
  const activation = textAt(root, 'activation', byDefault('gelu', 'GPT-NeoX: gelu'), findings);
  const gated = /^(?:geglu|reglu|swiglu|bilinear|glu)$/.test(activation.value ?? '');
  const recompute = booleanAt(
    root,
    'checkpoint_activations',
    byDefault(false, 'GPT-NeoX: off when checkpoint_activations is absent'),
    findings,
  );
  return {
    layers: number('num_layers', 'the number of layers', 'model.layers'),
    hidden,
    heads,
    kvHeads: number(
      'num_kv_heads',
      'the key-value heads',
      'model.kvHeads',
      heads.value === null ? heads : byDefault(heads.value, 'GPT-NeoX: as many as heads'),
    ),
    ffn: saidNumber(said, 'model.ffn', ffnOf({ root, said, findings }, hidden, gated)),
    gated: activation.value === null ? activation : { value: gated, source: activation.source },
    vocabulary: saidNumber(
      said,
      'model.vocabulary',
      unknown('the vocabulary, which the tokenizer gives', 'model.vocabulary'),
    ),
    recompute:
      recompute.value === null ? recompute : { value: recompute.value ? 'full' : 'none', source: recompute.source },
    dtype: textAt(root, 'precision', unknown('the precision', 'model.dtype'), findings),
    experts: null,
  };
}

/** Gated widths are scaled by a third of two, so that all activations have as many weights. */
function ffnOf({ root, findings }: Config, hidden: Sourced<number>, gated: boolean): Sourced<number> {
  const absent: Sourced<number> =
    hidden.value === null
      ? hidden
      : byDefault(4 * hidden.value, 'GPT-NeoX: 4 x hidden size when intermediate_size is absent');
  const width = numberAt(root, 'intermediate_size', WHOLE, absent, findings);
  if (!gated || width.value === null) return width;
  const multiple = numberAt(root, 'mlp_multiple_of', WHOLE, byDefault(1, 'GPT-NeoX: 1'), findings).value ?? 1;
  const half = Math.floor(Math.trunc((width.value * 2) / 3) / 2);
  return derived(Math.ceil(half / multiple) * multiple, `half of 2/3 of ${width.value}, a multiple of ${multiple}`, [
    'hidden',
  ]);
}

function stagesOf({ root, findings }: Config, pp: Sourced<number>, layers: Sourced<number>): Plan['stages'] {
  if (pp.value === null) return pp as Plan['stages'];
  if (layers.value === null) return layers as Plan['stages'];
  if (pp.value > 4096 || layers.value > 10_000) return unknown('a split that can be listed');
  const method = textAt(
    root,
    'pipe_partition_method',
    byDefault('type:transformer|mlp', 'GPT-NeoX: type:transformer|mlp'),
    findings,
  );
  if (method.value === null) return method as Plan['stages'];
  const tied = booleanAt(root, 'no_weight_tying', byDefault(false, 'GPT-NeoX: tied'), findings).value !== true;
  const blocks = nodeAt(root, 'attention_config');
  const plain = blocks.kind === 'missing' || !/rwkv|mamba|mlp/.test(JSON.stringify(scalars(blocks)));
  const stages = plain ? pipelineModuleSplit(neoxPipeLayers(layers.value, tied), pp.value, method.value) : null;
  if (stages === null) return unknown(`the split by ${method.value}`, undefined, rangeOf(method) ?? undefined);
  const helpers = method.value.startsWith('type:') ? ', which the helpers around the layers match too' : '';
  const how = `DeepSpeed's split by ${method.value}${helpers}`;
  return derived(stages, pp.value === 1 ? 'one stage holds all' : how, ['layers', 'pp']);
}

function scalars(node: ReturnType<typeof nodeAt>): readonly string[] {
  if (node.kind === 'scalar') return [String(node.value)];
  return node.kind === 'list' ? node.items.flatMap(scalars) : [];
}

const PATHS: Readonly<Record<string, readonly [key: string, after: readonly string[]]>> = {
  'pipeline.size': ['pipe_parallel_size', ['model_parallel_size']],
  'parallel.tensor': ['model_parallel_size', ['pipe_parallel_size']],
  'batch.micro': ['train_micro_batch_size_per_gpu', ['train_batch_size', 'gradient_accumulation_steps']],
  'batch.global': ['train_batch_size', ['train_micro_batch_size_per_gpu']],
  'model.layers': ['num_layers', ['hidden_size']],
  'model.sequence': ['seq_length', ['num_layers']],
  'run.steps': ['train_iters', ['seq_length']],
};

/** Microbatches are the accumulation steps; where the global batch and not they are written, that one changes. */
function edits(texts: Texts, plan: Plan, { key, value }: Change): readonly TextEdit[] | null {
  const { file } = plan.anchor;
  const text = texts[file];
  const { root } = text === undefined ? { root: null } : readYaml(file, text);
  if (text === undefined || root?.kind !== 'map') return null;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) return null;
  const config = underscored(root);
  const set = (name: string, to: number, after: readonly string[]) =>
    setKey(file, text, config, name, String(to), after);
  if (key === 'pipeline.microbatches') {
    const steps = 'gradient_accumulation_steps';
    const micro = 'train_micro_batch_size_per_gpu';
    if (!has(config, 'train_batch_size')) return set(steps, value, [micro]);
    const [dp, size] = [plan.dp.value, plan.microBatchSize.value];
    if (has(config, steps) || dp === null || size === null || !has(config, micro)) return null;
    return set('train_batch_size', value * size * dp, []);
  }
  if (key === 'batch.global' && has(config, 'gradient_accumulation_steps')) return null;
  const path = Object.hasOwn(PATHS, key) ? PATHS[key]! : null;
  return path === null ? null : set(path[0], value, path[1]);
}

export const gptNeox: Reader = {
  id: 'gpt-neox',
  title: 'GPT-NeoX configs',
  files: ['**/*.yml', '**/*.yaml', '**/*.json'],
  parsers: ['yaml'],
  claims,
  read,
  edits,
};
