/**
 * PaddleNLP's and ERNIE's training arguments, JSON or YAML: `pipeline_parallel_degree` beside Hugging Face's names for
 * the batch. Data-parallel replicas beyond the sharding follow from the launch. Mirrors PaddlePaddle/PaddleNLP
 * paddlenlp/trainer/training_args.py (as stored at develop, 2025).
 */

import { PADDLE_MODES } from '../frameworks/paddlenlp.ts';
import type { Change, Finding, TextEdit } from '../model/finding.ts';
import type { ModelShape, Plan, Said } from '../model/plan.ts';
import type { Reader, Reading, Texts } from '../model/reading.ts';
import {
  byDefault,
  derived,
  firstUnknown,
  fromText,
  rangeOf,
  type Sourced,
  type TextRange,
  unknown,
} from '../model/source.ts';
import { readJsonc } from './jsonc/read.ts';
import { finding } from './limits.ts';
import { type KnownModel, modelByName } from './model-registry.ts';
import { anchorAt, baseName, openParts, saidSchedule } from './plan-base.ts';
import { saidNumber } from './said.ts';
import { has, type MapNode, nodeAt, type Tree, type TreeNode } from './tree.ts';
import { setKey } from './tree-edit.ts';
import { booleanAt, numberAt, shortened, textAt, WHOLE, WHOLE_OR_REST, WHOLE_OR_ZERO } from './values.ts';
import { readYaml } from './yaml/read.ts';

const PIPELINE = /^[ \t]*(?:["{][ \t]*"?)?pipeline_parallel_degree["']?[ \t]*:/m;
const BESIDE =
  /\b(?:per_device_train_batch_size|gradient_accumulation_steps|sharding_parallel_degree|tensor_parallel_degree)["']?[ \t]*:/;
const MAX_STAGES = 65_536;

function claims(path: string, text: string): boolean {
  return (
    /\.(?:json|ya?ml)$/i.test(path) &&
    text.includes('pipeline_parallel_degree') &&
    PIPELINE.test(text) &&
    BESIDE.test(text)
  );
}

function parse(file: string, text: string): Tree {
  return /\.json$/i.test(file) ? readJsonc(file, text) : readYaml(file, text);
}

/** The map that holds the arguments: the top, or the section that has the degree. */
function argumentsOf(root: TreeNode): MapNode | null {
  if (root.kind !== 'map') return null;
  if (root.entries.has('pipeline_parallel_degree')) return root;
  for (const { value } of root.entries.values()) {
    if (value.kind === 'map' && value.entries.has('pipeline_parallel_degree')) return value;
  }
  return null;
}

/** The arguments with the other sections below them, since ERNIE parts them by what they are about. */
function flattened(root: TreeNode, own: MapNode): MapNode {
  if (root.kind !== 'map' || root === own) return own;
  const entries = new Map(own.entries);
  for (const section of root.entries.values()) {
    if (section.value.kind !== 'map') continue;
    for (const [key, entry] of section.value.entries) if (!entries.has(key)) entries.set(key, entry);
  }
  return { ...own, entries };
}

function read(path: string, texts: Texts, said: Said): Reading {
  const { root, problems } = parse(path, texts[path] ?? '');
  const own = argumentsOf(root);
  if (own === null) return { plans: [], problems, needs: [] };
  const findings: Finding[] = [];
  const anchor = anchorAt(path, own, ['pipeline_parallel_degree']);
  const plan = planOf(path, { root: flattened(root, own), said, findings, anchor });
  return { plans: [plan], problems, needs: [] };
}

interface Config {
  readonly root: MapNode;
  readonly said: Said;
  readonly findings: Finding[];
  readonly anchor: TextRange;
}

function planOf(file: string, config: Config): Plan {
  const { root, said, findings, anchor } = config;
  const sizes = sizesOf(config);
  const model = modelOf(config);
  const dual = textAt(root, 'pipeline_parallel_config', byDefault('', 'none'), findings);
  const twoEnded = /(?:^|[\s,])use_dualpipev(?:[\s,]|$)/.test(dual.value ?? '');
  const degree = numberAt(
    root,
    'virtual_pp_degree',
    WHOLE,
    byDefault(1, 'PaddleNLP: virtual_pp_degree is 1 when it is absent'),
    findings,
  );
  const vpp = saidNumber(
    said,
    'pipeline.virtualStages',
    sizes.pp.value === 1
      ? derived(1, 'one stage', ['pp'])
      : twoEnded
        ? derived(2, 'DualPipeV: two chunks on each rank', ['schedule'])
        : degree,
  );
  const accumulation = numberAt(
    root,
    'gradient_accumulation_steps',
    WHOLE,
    byDefault(1, 'PaddleNLP: gradient_accumulation_steps is 1 when it is absent'),
    findings,
  );
  const launch = 'the data-parallel replicas, which the GPU count of the launch gives';
  return {
    id: 'main',
    name: baseName(file),
    framework: 'paddlenlp',
    anchor,
    ...sizes,
    vpp,
    schedule: saidSchedule(said) ?? scheduleOf(config, sizes.pp, vpp, twoEnded ? dual : null),
    groupSize:
      sizes.pp.value === null
        ? sizes.pp
        : byDefault(sizes.pp.value, 'Paddle: groups of as many microbatches as stages'),
    microbatches: saidNumber(said, 'pipeline.microbatches', accumulation),
    microBatchSize: saidNumber(
      said,
      'batch.micro',
      numberAt(
        root,
        'per_device_train_batch_size',
        WHOLE,
        byDefault(8, 'PaddleNLP: per_device_train_batch_size is 8 when it is absent'),
        findings,
      ),
    ),
    globalBatchSize: saidNumber(said, 'batch.global', unknown(`the global batch: ${launch}`, 'batch.global')),
    sequenceLength: saidNumber(said, 'model.sequence', sequenceOf(config)),
    stages: stagesOf(config, { pp: sizes.pp, vpp, layers: model.layers }),
    model,
    ...openParts('Paddle'),
    run: {
      steps:
        numberAt(root, 'max_steps', WHOLE_OR_REST, unknown('the length of the run (max_steps)', 'run.steps'), [])
          .value === -1
          ? unknown('the length of the run', 'run.steps')
          : numberAt(root, 'max_steps', WHOLE, unknown('the length of the run (max_steps)', 'run.steps'), []),
      tokens: unknown('the tokens of the run', 'run.tokens'),
    },
    findings,
  };
}

function sequenceOf({ root, findings }: Config): Sourced<number> {
  const key = ['max_seq_length', 'max_seq_len', 'max_length'].find((name) => has(root, name)) ?? 'max_seq_length';
  return numberAt(root, key, WHOLE, unknown('the sequence length (max_seq_length)', 'model.sequence'), findings);
}

function sizesOf({ root, said, findings, anchor }: Config) {
  const size = (key: string, say: string) =>
    saidNumber(
      said,
      say,
      atLeastOne(
        numberAt(root, key, WHOLE_OR_REST, byDefault(1, `PaddleNLP: ${key} is 1 when it is absent`), findings),
      ),
    );
  const pp = size('pipeline_parallel_degree', 'pipeline.size');
  const tp = size('tensor_parallel_degree', 'parallel.tensor');
  const cp = size(
    has(root, 'context_parallel_degree') ? 'context_parallel_degree' : 'sep_parallel_degree',
    'parallel.context',
  );
  const experts = booleanAt(root, 'use_expert_parallel', byDefault(true, 'as the degree is given'), findings);
  const ep =
    experts.value === false
      ? derived(1, 'use_expert_parallel is off', [])
      : size('expert_parallel_degree', 'parallel.expert');
  const sharding = numberAt(
    root,
    'sharding_parallel_degree',
    WHOLE_OR_REST,
    byDefault(-1, 'PaddleNLP: all that are left'),
    findings,
  );
  const replicas = numberAt(
    root,
    'data_parallel_degree',
    WHOLE_OR_REST,
    byDefault(1, 'PaddleNLP: the rest of the launch, taken as 1'),
    findings,
  );
  const model = [tp, pp, cp];
  const shards: Sourced<number> =
    sharding.value === -1 || replicas.value === -1
      ? unknown('the data-parallel size, which takes the GPUs that are left', 'cluster.gpus')
      : sharding.value === null || replicas.value === null
        ? (firstUnknown([sharding, replicas]) as Sourced<number>)
        : replicas.value === 1
          ? sharding
          : derived(sharding.value * replicas.value, `sharding ${sharding.value} x replicas ${replicas.value}`, []);
  const each = firstUnknown(model) === null ? model.reduce((all, value) => all * value.value!, 1) : null;
  const implied: Sourced<number> =
    each === null || shards.value === null
      ? (firstUnknown([...model, shards]) as Sourced<number>)
      : derived(
          each * shards.value,
          `tp × pp × cp × sharding = ${[...model, shards].map((value) => value.value).join(' × ')}, if the launch adds no replicas`,
          ['tp', 'pp', 'cp', 'dp'],
        );
  const gpus = saidNumber(said, 'cluster.gpus', implied);
  let dp = saidNumber(said, 'parallel.data', shards);
  if (gpus.value !== null && each !== null && Object.hasOwn(said, 'cluster.gpus')) {
    const unit = each * (sharding.value !== null && sharding.value > 1 ? sharding.value : 1);
    if (gpus.value % unit === 0)
      dp = derived(gpus.value / each, `${gpus.value} / (${model.map((value) => value.value).join(' x ')})`, [
        'gpus',
        'tp',
        'pp',
        'cp',
      ]);
    else {
      const message = `the world size (${gpus.value}) must be divisible by sharding × tensor × pipeline parallel degrees = ${unit}`;
      findings.push(finding('world-size-not-divisible', message, rangeOf(pp) ?? anchor));
      dp = unknown('a GPU count that the degrees divide', 'cluster.gpus');
    }
  }
  return { pp, tp, cp, ep, dp, gpus };
}

/** -1 is the trainer's way to say nothing. */
function atLeastOne(value: Sourced<number>): Sourced<number> {
  if (value.value !== -1) return value;
  return value.source.kind === 'text' ? fromText(1, value.source.range, '-1 counts as 1') : { ...value, value: 1 };
}

function scheduleOf(
  { root, findings }: Config,
  pp: Sourced<number>,
  vpp: Sourced<number>,
  dual: Sourced<string> | null,
): Plan['schedule'] {
  if (pp.value === null || vpp.value === null) return (pp.value === null ? pp : vpp) as Plan['schedule'];
  if (pp.value === 1) return derived('none', 'one stage needs no schedule', ['pp']);
  const place = dual === null ? null : rangeOf(dual);
  if (place !== null) return fromText('dualpipev', place);
  const name = textAt(
    root,
    'pipeline_schedule_mode',
    byDefault('1F1B', 'PaddleNLP: 1F1B when pipeline_schedule_mode is absent'),
    findings,
  );
  if (name.value === null) return name;
  const id = Object.hasOwn(PADDLE_MODES, name.value) ? PADDLE_MODES[name.value]! : null;
  if (id === null)
    return unknown(
      `the order of ${shortened(name.value)}, which is not simulated`,
      'pipeline.schedule',
      rangeOf(name) ?? undefined,
    );
  if (id !== '1f1b' && id !== 'interleaved-1f1b') return { ...name, value: id };
  return vpp.value > 1
    ? derived('interleaved-1f1b', `${vpp.value} virtual stages per rank`, ['pp', 'vpp'])
    : derived('1f1b', 'one stage per rank', ['pp', 'vpp']);
}

function modelOf({ root, said, findings }: Config): ModelShape {
  const path = textAt(root, 'model_name_or_path', unknown('a model name'), []);
  const known = path.value === null ? null : modelByName(path.value);
  const place = rangeOf(path);
  const label = `${known?.label} in the model registry, from ${known?.source}`;
  const number = (key: string, what: string, say: string, field: keyof KnownModel) => {
    const registry = known === null || place === null ? null : known[field];
    const absent: Sourced<number> =
      typeof registry === 'number'
        ? fromText(registry, place!, label)
        : unknown(`${what}, which the model's own config has`, say, place ?? undefined);
    return saidNumber(said, say, numberAt(root, key, WHOLE, absent, findings));
  };
  const recompute = booleanAt(root, 'recompute', byDefault(false, 'PaddleNLP: off when it is absent'), findings);
  const full = textAt(root, 'recompute_granularity', byDefault('full', 'PaddleNLP: full'), findings).value === 'full';
  const low = (['bf16', 'fp16'] as const).find(
    (name) => nodeAt(root, name).kind === 'scalar' && booleanAt(root, name, byDefault(false, ''), []).value === true,
  );
  const entry = low === undefined ? undefined : root.entries.get(low);
  return {
    layers: number('num_hidden_layers', 'the layers', 'model.layers', 'layers'),
    hidden: number('hidden_size', 'the hidden size', 'model.hidden', 'hidden'),
    heads: number('num_attention_heads', 'the attention heads', 'model.heads', 'heads'),
    kvHeads: number('num_key_value_heads', 'the key-value heads', 'model.kvHeads', 'kvHeads'),
    ffn: number('intermediate_size', 'the feed-forward size', 'model.ffn', 'ffn'),
    gated: unknown('whether the feed-forward is gated'),
    vocabulary: number('vocab_size', 'the vocabulary', 'model.vocabulary', 'vocabulary'),
    recompute:
      recompute.value === null
        ? recompute
        : { value: recompute.value ? (full ? 'full' : 'selective') : 'none', source: recompute.source },
    dtype: entry === undefined ? unknown('the number format', 'model.dtype') : fromText(low!, entry.keyRange),
    experts:
      known?.experts == null || place === null
        ? null
        : {
            count: fromText(known.experts.count, place, label),
            topK: fromText(known.experts.topK, place, label),
            ffn: fromText(known.experts.ffn, place, label),
            shared: fromText(known.experts.ffn === 0 ? 0 : known.experts.shared / known.experts.ffn, place, label),
          },
  };
}

type SplitInput = Readonly<Record<'pp' | 'vpp' | 'layers', Sourced<number>>>;

/** Paddle segments by class; only an even share is certain from here. */
function stagesOf({ root, findings }: Config, { pp, vpp, layers }: SplitInput): Plan['stages'] {
  const missing = firstUnknown([pp, vpp, layers]);
  if (pp.value === null || vpp.value === null || layers.value === null)
    return (missing ?? unknown('the split')) as Plan['stages'];
  const tail = numberAt(root, 'add_tail_layers', WHOLE_OR_ZERO, byDefault(0, 'none'), findings).value ?? 0;
  const count = pp.value * vpp.value;
  const method = nodeAt(root, 'pp_seg_method');
  if (count > MAX_STAGES) return unknown('a split that can be listed');
  if (method.kind === 'list')
    return unknown('the split, which pp_seg_method cuts by the numbers of all modules', undefined, method.range);
  if (count > 1 && ((layers.value + tail) % count !== 0 || tail > 0))
    return unknown(`how Paddle's SegmentLayers puts ${layers.value} layers on ${count} stages`);
  const each = layers.value / count;
  const stages = Array.from({ length: count }, (_, s) => ({
    layers: each,
    embedding: s === 0,
    head: s === count - 1,
    mtp: 0,
  }));
  return derived(stages, `${layers.value} layers evenly over ${count} ${count === 1 ? 'stage' : 'stages'}`, [
    'layers',
    'pp',
    'vpp',
  ]);
}

const PATHS: Readonly<Record<string, string>> = {
  'pipeline.size': 'pipeline_parallel_degree',
  'pipeline.virtualStages': 'virtual_pp_degree',
  'pipeline.microbatches': 'gradient_accumulation_steps',
  'parallel.tensor': 'tensor_parallel_degree',
  'parallel.data': 'sharding_parallel_degree',
  'parallel.expert': 'expert_parallel_degree',
  'batch.micro': 'per_device_train_batch_size',
  'model.sequence': 'max_seq_length',
  'run.steps': 'max_steps',
};

function edits(texts: Texts, plan: Plan, { key, value }: Change): readonly TextEdit[] | null {
  const { file } = plan.anchor;
  const text = texts[file];
  if (text === undefined || typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) return null;
  if (!Object.hasOwn(PATHS, key)) return null;
  const inert = plan.pp.value === 1 || plan.schedule.value === 'dualpipev';
  if (key === 'pipeline.virtualStages' && inert) return null;
  const { root } = parse(file, text);
  const own = argumentsOf(root);
  if (own === null || root.kind !== 'map') return null;
  const name = PATHS[key]!;
  const holder =
    [own, ...[...root.entries.values()].flatMap(({ value: each }) => (each.kind === 'map' ? [each] : []))].find((map) =>
      map.entries.has(name),
    ) ?? own;
  return setKey(file, text, holder, name, String(value), ['pipeline_parallel_degree', 'tensor_parallel_degree']);
}

export const paddlenlp: Reader = {
  id: 'paddlenlp',
  title: 'PaddleNLP and ERNIE training arguments',
  files: ['**/*.json', '**/*.yaml', '**/*.yml'],
  parsers: ['jsonc', 'yaml'],
  claims,
  read,
  edits,
};
