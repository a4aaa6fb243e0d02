/**
 * MindFormers configs (MindSpore): `parallel_config` with the sizes and the microbatches, `model.model_config` with
 * layers and their offset on each stage. Mirrors mindspore-lab/mindformers@fd4deebc
 * mindformers/trainer/base_trainer.py, mindformers/models/utils.py and mindformers/core/context/parallel.py.
 */

import { offsetSplit } from '../frameworks/mindformers.ts';
import type { Change, Finding, TextEdit } from '../model/finding.ts';
import type { ModelShape, Plan, Said } from '../model/plan.ts';
import type { Reader, Reading, Texts } from '../model/reading.ts';
import type { ScheduleId } from '../model/schedule.ts';
import { byDefault, derived, firstUnknown, rangeOf, type Sourced, type TextRange, unknown } from '../model/source.ts';
import { finding } from './limits.ts';
import { anchorAt, baseName, openParts, saidSchedule } from './plan-base.ts';
import { saidNumber } from './said.ts';
import { entryAt, has, nodeAt, type TreeNode } from './tree.ts';
import { booleanAt, numberAt, shortened, textAt, WHOLE, WHOLE_OR_ZERO } from './values.ts';
import { setYaml } from './yaml/edit.ts';
import { readYaml } from './yaml/read.ts';

const SECTION = /^parallel_config[ \t]*:/m;
const STAGE = /^[ \t]+pipeline_stage[ \t]*:|[{,][ \t]*pipeline_stage[ \t]*:/m;
const NOT_TRAINING = /^run_mode[ \t]*:[ \t]*["']?(?:predict|eval|export)/m;
const MAX_STAGES = 65_536;

function claims(path: string, text: string): boolean {
  return /\.ya?ml$/i.test(path) && SECTION.test(text) && STAGE.test(text) && !NOT_TRAINING.test(text);
}

function read(path: string, texts: Texts, said: Said): Reading {
  const { root, problems } = readYaml(path, texts[path] ?? '');
  if (root.kind !== 'map') return { plans: [], problems, needs: [] };
  return { plans: [planOf(path, root, said)], problems, needs: [] };
}

interface Config {
  readonly root: TreeNode;
  readonly said: Said;
  readonly findings: Finding[];
  readonly anchor: TextRange;
}

const MODEL = 'model.model_config';

function planOf(file: string, root: TreeNode, said: Said): Plan {
  const findings: Finding[] = [];
  const anchor = anchorAt(file, root, ['parallel_config.pipeline_stage', 'parallel_config']);
  const config: Config = { root, said, findings, anchor };
  const sizes = sizesOf(config);
  const model = modelOf(config);
  const vpp = saidNumber(said, 'pipeline.virtualStages', virtualStages(config, sizes.pp));
  const microbatches = saidNumber(said, 'pipeline.microbatches', microbatchesOf(config, sizes.pp));
  return {
    id: 'main',
    name: textAt(root, 'trainer.model_name', unknown('a name'), []).value ?? baseName(file),
    framework: 'mindformers',
    anchor,
    ...sizes,
    vpp,
    schedule: saidSchedule(said) ?? scheduleOf(config, sizes.pp, vpp),
    groupSize:
      sizes.pp.value === null
        ? sizes.pp
        : byDefault(sizes.pp.value, 'MindSpore: groups of as many microbatches as stages'),
    ...batchOf(config, sizes.dp, microbatches),
    microbatches,
    sequenceLength: saidNumber(
      said,
      'model.sequence',
      numberAt(
        root,
        `${MODEL}.seq_length`,
        WHOLE,
        unknown('the sequence length (seq_length)', 'model.sequence'),
        findings,
      ),
    ),
    stages: stagesOf(config, { pp: sizes.pp, vpp, layers: model.layers }),
    model,
    ...openParts('MindSpore'),
    findings,
  };
}

function sizesOf({ root, said, findings, anchor }: Config) {
  const off =
    booleanAt(root, 'use_parallel', byDefault(true, 'as the parallel config is meant'), findings).value === false;
  const size = (key: string, say: string): Sourced<number> => {
    const value = numberAt(
      root,
      `parallel_config.${key}`,
      WHOLE,
      byDefault(1, `MindFormers: ${key} is 1 when it is absent`),
      findings,
    );
    return saidNumber(said, say, off ? derived(1, 'use_parallel is off: one device', []) : value);
  };
  const pp = size('pipeline_stage', 'pipeline.size');
  const tp = size('model_parallel', 'parallel.tensor');
  const cp = size('context_parallel', 'parallel.context');
  const ep = size('expert_parallel', 'parallel.expert');
  const dp = size('data_parallel', 'parallel.data');
  const parts = [dp, tp, cp, pp];
  const missing = firstUnknown(parts);
  const count = parts.reduce((all, each) => all * (each.value ?? 1), 1);
  const implied: Sourced<number> =
    missing ??
    derived(count, `dp × tp × cp × pp = ${parts.map((each) => each.value).join(' × ')}`, ['dp', 'tp', 'cp', 'pp']);
  const gpus = saidNumber(said, 'cluster.gpus', implied);
  if (gpus.value !== null && missing === null && gpus.value !== count) {
    const message = `data_parallel × model_parallel × context_parallel × pipeline_stage = ${count}, but there are ${gpus.value} devices`;
    findings.push(finding('world-size-not-divisible', message, rangeOf(pp) ?? anchor));
  }
  return { pp, tp, cp, ep, dp, gpus };
}

/** Interleaving is a switch of the pipeline's own; without it the number is inert. */
function virtualStages({ root, findings }: Config, pp: Sourced<number>): Sourced<number> {
  const path = `${MODEL}.pp_interleave_num`;
  const on = booleanAt(
    root,
    'parallel.pipeline_config.pipeline_interleave',
    byDefault(false, 'MindFormers: off when it is absent'),
    findings,
  );
  if (pp.value === 1) return derived(1, 'one stage', ['pp']);
  if (on.value === null) return unknown('whether the pipeline interleaves', 'pipeline.virtualStages');
  if (on.value)
    return numberAt(root, path, WHOLE, byDefault(1, 'MindFormers: pp_interleave_num is 1 when it is absent'), findings);
  const node = nodeAt(root, path);
  if (node.kind === 'scalar' && typeof node.value === 'number' && node.value > 1) {
    const message = 'pp_interleave_num does nothing without parallel.pipeline_config.pipeline_interleave: True';
    findings.push({ ...finding('options-conflict', message, node.range), severity: 'information' });
  }
  return byDefault(1, 'MindFormers: one stage per rank without pipeline_interleave');
}

/** Without a pipeline the number of microbatches is reset to 1. */
function microbatchesOf({ root, findings }: Config, pp: Sourced<number>): Sourced<number> {
  const path = 'parallel_config.micro_batch_num';
  const written = numberAt(
    root,
    path,
    WHOLE,
    byDefault(1, 'MindFormers: micro_batch_num is 1 when it is absent'),
    findings,
  );
  if (pp.value !== 1) return written;
  const range = rangeOf(written);
  if (written.value !== null && written.value > 1 && range !== null) {
    const message = 'When pipeline parallel is not enabled, micro_batch_num does not take effect. Reset it to 1.';
    findings.push({ ...finding('options-conflict', message, range), severity: 'information' });
  }
  return derived(1, 'micro_batch_num has no effect without a pipeline', ['pp']);
}

const SCHEDULERS: Readonly<Record<string, ScheduleId>> = { gpipe: 'gpipe', '1f1b': '1f1b', zero_bubble_v: 'zbv' };

function scheduleOf({ root, findings }: Config, pp: Sourced<number>, vpp: Sourced<number>): Plan['schedule'] {
  if (pp.value === null || vpp.value === null) return (pp.value === null ? pp : vpp) as Plan['schedule'];
  if (pp.value === 1) return derived('none', 'one stage needs no schedule', ['pp']);
  const absent = byDefault('1f1b', 'MindFormers: 1f1b when pipeline_scheduler is absent');
  const name = textAt(root, 'parallel.pipeline_config.pipeline_scheduler', absent, findings);
  if (name.value === null) return name;
  const id = Object.hasOwn(SCHEDULERS, name.value) ? SCHEDULERS[name.value]! : null;
  if (id === null)
    return unknown(
      `the order of ${shortened(name.value)}, which is not simulated`,
      'pipeline.schedule',
      rangeOf(name) ?? undefined,
    );
  return { ...name, value: id === '1f1b' && vpp.value > 1 ? 'interleaved-1f1b' : id };
}

/** The runner's batch size is what each device takes at a time; a second one in the data set is told apart. */
function batchOf({ root, said, findings }: Config, dp: Sourced<number>, microbatches: Sourced<number>) {
  const runner = numberAt(
    root,
    'runner_config.batch_size',
    WHOLE,
    unknown('the batch size (runner_config.batch_size)', 'batch.micro'),
    findings,
  );
  const data = nodeAt(root, 'train_dataset.batch_size');
  const two =
    data.kind === 'scalar' && typeof data.value === 'number' && runner.value !== null && data.value !== runner.value;
  const micro = two
    ? unknown(
        `which batch size is meant: runner_config.batch_size is ${runner.value}, train_dataset.batch_size ${data.text} (MindFormers takes the runner's)`,
        'batch.micro',
        rangeOf(runner) ?? undefined,
      )
    : runner;
  const interleave = numberAt(root, 'micro_batch_interleave_num', WHOLE, byDefault(1, 'MindFormers: 1'), findings);
  const factors = [runner, dp, microbatches, interleave].map((each) => each.value ?? '?');
  const told = `no key gives it; batch_size × data_parallel × micro_batch_num × micro_batch_interleave_num is ${factors.join(' × ')}`;
  return {
    microBatchSize: saidNumber(said, 'batch.micro', micro),
    globalBatchSize: saidNumber(said, 'batch.global', unknown(`the global batch: ${told}`, 'batch.global')),
  };
}

/** The first of two names that is written. */
function nameOf(root: TreeNode, names: readonly string[]): string {
  return `${MODEL}.${names.find((name) => has(root, `${MODEL}.${name}`)) ?? names[0]!}`;
}

function modelOf({ root, said, findings }: Config): ModelShape {
  const number = (names: readonly string[], what: string, say: string, absent?: Sourced<number>) =>
    saidNumber(
      said,
      say,
      numberAt(root, nameOf(root, names), WHOLE, absent ?? unknown(`${what} (${names[0]})`, say), findings),
    );
  const heads = number(['num_heads', 'num_attention_heads'], 'the attention heads', 'model.heads');
  const experts = numberAt(root, 'moe_config.expert_num', WHOLE, byDefault(1, 'MindFormers: no experts'), findings);
  const flag = (key: string) =>
    booleanAt(root, `recompute_config.${key}`, byDefault(false, `MindFormers: ${key} is off`), []);
  const [full, selective] = [flag('recompute'), flag('select_recompute')];
  return {
    layers: number(['num_layers', 'num_hidden_layers'], 'the layers', 'model.layers'),
    hidden: number(['hidden_size'], 'the hidden size', 'model.hidden'),
    heads,
    kvHeads: number(
      ['n_kv_heads', 'num_key_value_heads'],
      'the key-value heads',
      'model.kvHeads',
      heads.value === null ? heads : byDefault(heads.value, 'MindFormers: as many as heads'),
    ),
    ffn: number(['intermediate_size'], 'the feed-forward size', 'model.ffn'),
    gated: unknown('whether the feed-forward is gated'),
    vocabulary: number(['vocab_size'], 'the vocabulary', 'model.vocabulary'),
    recompute:
      full.value === true
        ? { ...full, value: 'full' }
        : ({ ...selective, value: selective.value === true ? 'selective' : 'none' } as ModelShape['recompute']),
    dtype: textAt(root, `${MODEL}.compute_dtype`, unknown('the number format', 'model.dtype'), []),
    experts:
      experts.value === null || experts.value <= 1
        ? null
        : {
            count: experts,
            topK: numberAt(root, 'moe_config.num_experts_chosen', WHOLE, byDefault(1, 'MindFormers: 1'), findings),
            ffn: numberAt(root, 'moe_config.moe_intermediate_size', WHOLE, unknown('the width of an expert'), findings),
            shared: numberAt(
              root,
              'moe_config.shared_expert_num',
              WHOLE_OR_ZERO,
              byDefault(0, 'MindFormers: none'),
              findings,
            ),
          },
  };
}

type SplitInput = Readonly<Record<'pp' | 'vpp' | 'layers', Sourced<number>>>;

function stagesOf({ root, findings, anchor }: Config, { pp, vpp, layers }: SplitInput): Plan['stages'] {
  const missing = firstUnknown([pp, vpp, layers]);
  if (pp.value === null || vpp.value === null || layers.value === null)
    return (missing ?? unknown('the split')) as Plan['stages'];
  if (pp.value * vpp.value > MAX_STAGES) return unknown('a split that can be listed');
  const entry = entryAt(root, `${MODEL}.offset`);
  const offset = pp.value === 1 || entry === null ? 0 : offsetOf(entry.value);
  const place = entry?.value.kind === 'missing' || entry === null ? anchor : entry.value.range;
  if (offset === null) {
    findings.push(
      finding(
        'invalid-value',
        'offset takes a whole number, a list with one for each stage, or a list of such lists',
        place ?? anchor,
      ),
    );
    return unknown('an offset for each stage', undefined, place ?? anchor);
  }
  const split = offsetSplit(layers.value, pp.value, vpp.value, offset);
  const how = `${layers.value} layers over ${pp.value * vpp.value} stages, with the offset`;
  if (split.ok) return derived(split.stages, pp.value === 1 ? 'one stage holds all' : how, ['layers', 'pp', 'vpp']);
  const related = [pp, layers].flatMap((value, i) => {
    const range = rangeOf(value);
    return range === null ? [] : [{ message: `${i === 0 ? 'pipeline_stage' : 'layers'} ${value.value}`, range }];
  });
  findings.push(
    finding(
      split.reason.startsWith('The sum') ? 'layers-not-divisible' : 'split-invalid',
      split.reason,
      place ?? anchor,
      related,
    ),
  );
  return unknown('an offset that fits the layers', undefined, place ?? anchor);
}

function offsetOf(node: TreeNode): number | readonly number[] | readonly (readonly number[])[] | null {
  if (node.kind === 'scalar') return node.value === null ? 0 : whole(node);
  if (node.kind !== 'list' || node.items.length > MAX_STAGES) return null;
  const rows = node.items.map((item) => (item.kind === 'list' ? item.items.map(whole) : null));
  if (rows.every((row) => row !== null))
    return rows.flat().includes(null) ? null : (rows as readonly (readonly number[])[]);
  const flat = node.items.map(whole);
  return flat.includes(null) ? null : (flat as readonly number[]);
}

function whole(node: TreeNode): number | null {
  return node.kind === 'scalar' && typeof node.value === 'number' && Number.isSafeInteger(node.value)
    ? node.value
    : null;
}

const PATHS: Readonly<Record<string, string>> = {
  'pipeline.size': 'parallel_config.pipeline_stage',
  'pipeline.microbatches': 'parallel_config.micro_batch_num',
  'parallel.tensor': 'parallel_config.model_parallel',
  'parallel.data': 'parallel_config.data_parallel',
  'parallel.context': 'parallel_config.context_parallel',
  'parallel.expert': 'parallel_config.expert_parallel',
  'batch.micro': 'runner_config.batch_size',
  'model.sequence': `${MODEL}.seq_length`,
};

function edits(texts: Texts, plan: Plan, { key, value }: Change): readonly TextEdit[] | null {
  const { file } = plan.anchor;
  const text = texts[file];
  if (text === undefined || typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) return null;
  const { root } = readYaml(file, text);
  if (key === 'pipeline.microbatches' && plan.pp.value === 1) return null;
  if (key === 'batch.micro' && plan.microBatchSize.value === null) return null;
  if (key === 'model.layers')
    return setYaml(file, text, root, nameOf(root, ['num_layers', 'num_hidden_layers']), String(value));
  if (key === 'pipeline.virtualStages') {
    const on = nodeAt(root, 'parallel.pipeline_config.pipeline_interleave');
    return on.kind === 'scalar' && on.value === true
      ? setYaml(file, text, root, `${MODEL}.pp_interleave_num`, String(value))
      : null;
  }
  return Object.hasOwn(PATHS, key) ? setYaml(file, text, root, PATHS[key]!, String(value)) : null;
}

export const mindformers: Reader = {
  id: 'mindformers',
  title: 'MindFormers configs',
  files: ['**/*.yaml', '**/*.yml'],
  parsers: ['yaml'],
  claims,
  read,
  edits,
};
