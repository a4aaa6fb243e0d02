/**
 * DeepSpeed's JSON config. It has the batch sizes and the ZeRO stage; the pipeline size stands in the script or the
 * Python that builds the PipelineModule, so there is a plan only where one of them, or somebody, says it. Mirrors
 * deepspeedai/DeepSpeed@edaa7221 deepspeed/runtime/config.py and deepspeed/runtime/pipe/{engine,module}.py.
 */

import type { Change, Finding, TextEdit } from '../model/finding.ts';
import type { Plan, Said } from '../model/plan.ts';
import type { Reader, Reading, Texts } from '../model/reading.ts';
import { byDefault, derived, rangeOf, type Sourced, type TextRange, unknown } from '../model/source.ts';
import { jsonCursor } from './completion/json-cursor.ts';
import { pathTable, treeCompletions } from './completion/tree.ts';
import { checkZero, deepSpeedBatch, deepSpeedConfig } from './deepspeed/config.ts';
import { DEEPSPEED_KEYS } from './deepspeed/keys.ts';
import { type DeepSpeedLaunch, findLaunch } from './deepspeed/launch.ts';
import { readJsonc } from './jsonc/read.ts';
import { finding } from './limits.ts';
import { replaceToken } from './megatron-lm/edits.ts';
import { anchorAt, baseName, openParts, saidSchedule } from './plan-base.ts';
import { saidNumber } from './said.ts';
import { has, type MapNode } from './tree.ts';
import { setKey } from './tree-edit.ts';

const BATCH = /"train_(?:batch_size|micro_batch_size_per_gpu)"\s*:/;
const OTHERS =
  /"(?:zero_optimization|gradient_accumulation_steps|steps_per_print|wall_clock_breakdown|fp16|bf16|optimizer|pipeline|gradient_clipping)"\s*:/;
const ANCHORS = ['gradient_accumulation_steps', 'train_batch_size', 'train_micro_batch_size_per_gpu'];

function claims(path: string, text: string): boolean {
  return (
    /\.json$/i.test(path) &&
    text.includes('"train_') &&
    BATCH.test(text) &&
    OTHERS.test(text) &&
    !/"model_name_or_path"\s*:/.test(text)
  );
}

function read(path: string, texts: Texts, said: Said): Reading {
  const { root, problems } = readJsonc(path, texts[path] ?? '');
  if (root.kind !== 'map') return { plans: [], problems, needs: [] };
  const { launch, needs } = findLaunch(path, texts);
  const anchor = anchorAt(path, root, ANCHORS);
  const pp = saidNumber(said, 'pipeline.size', launch?.pp ?? unknown('the pipeline size', 'pipeline.size'));
  if (launch === null && pp.value === null)
    return { plans: [], problems: [...problems, ...silent(root, anchor)], needs, optional: needs };
  return { plans: [planOf(path, root, launch, pp, said)], problems, needs, optional: needs };
}

/** What would tell the pipeline. A config that excludes pipelines has none to tell. */
function silent(root: MapNode, anchor: TextRange): readonly Finding[] {
  const config = deepSpeedConfig(root, []);
  const pipelines = has(root, 'pipeline');
  if (!pipelines && (config.zeroStage === null || config.zeroStage.value === null || config.zeroStage.value > 1))
    return [];
  const message =
    "No plan: DeepSpeed's config does not hold the pipeline size, and no script beside it gives it (--set pipeline.size=4 does)";
  return [finding('companion-missing', message, anchor)];
}

function planOf(file: string, root: MapNode, launch: DeepSpeedLaunch | null, size: Sourced<number>, said: Said): Plan {
  const findings: Finding[] = [];
  const anchor = anchorAt(file, root, ANCHORS);
  const pp =
    size.value === 0 && size.source.kind === 'text'
      ? { value: 1, source: { ...size.source, note: '0: no PipelineModule' } }
      : size;
  const config = deepSpeedConfig(root, findings);
  const tp = saidNumber(
    said,
    'parallel.tensor',
    byDefault(1, 'DeepSpeed: no tensor parallelism in a PipelineModule of its own'),
  );
  const gpus = saidNumber(
    said,
    'cluster.gpus',
    launch?.world?.gpus ?? unknown('the GPU count, which the launcher takes from the hosts', 'cluster.gpus'),
  );
  const dp = dataParallel(file, { pp, tp, gpus, said, anchor }, findings);
  const batch = deepSpeedBatch(withSaid(config, said), dp, findings, anchor);
  if (size.value !== 0) checkZero(config.zeroStage, pp, findings, anchor);
  return {
    id: 'main',
    name: baseName(file),
    framework: 'deepspeed',
    anchor,
    pp,
    tp,
    cp: byDefault(1, 'DeepSpeed: no context parallelism'),
    ep: byDefault(1, 'DeepSpeed: no expert parallelism'),
    dp,
    gpus,
    vpp: byDefault(1, 'DeepSpeed: one stage per rank'),
    schedule: saidSchedule(said) ?? scheduleOf(pp),
    groupSize: unknown('a group size: DeepSpeed does not interleave'),
    ...batch,
    microbatches: saidNumber(said, 'pipeline.microbatches', batch.microbatches),
    sequenceLength: saidNumber(
      said,
      'model.sequence',
      unknown('the sequence length, which the model has', 'model.sequence'),
    ),
    stages: unknown("the split, which DeepSpeed makes from the model's layers"),
    ...openParts('DeepSpeed'),
    model: modelOf(root, said),
    findings,
  };
}

function withSaid(config: ReturnType<typeof deepSpeedConfig>, said: Said): ReturnType<typeof deepSpeedConfig> {
  const over = (key: string, read: Sourced<number> | null) =>
    Object.hasOwn(said, key) ? saidNumber(said, key, unknown('')) : read;
  return { ...config, micro: over('batch.micro', config.micro), train: over('batch.global', config.train) };
}

interface WorldInput extends Pick<Plan, 'pp' | 'tp' | 'gpus' | 'anchor'> {
  readonly said: Said;
}

function dataParallel(file: string, { pp, tp, gpus, said, anchor }: WorldInput, findings: Finding[]): Sourced<number> {
  const missing = gpus.value === null ? gpus : pp.value === null ? pp : tp.value === null ? tp : null;
  if (missing !== null || gpus.value === null || pp.value === null || tp.value === null) {
    return saidNumber(said, 'parallel.data', missing as Sourced<number>);
  }
  if (gpus.value % (pp.value * tp.value) === 0) {
    return derived(gpus.value / pp.value / tp.value, `${gpus.value} / (${pp.value} x ${tp.value})`, [
      'gpus',
      'pp',
      'tp',
    ]);
  }
  const own = rangeOf(pp);
  const message = `num_stages (${pp.value}) must divide distributed world size (${gpus.value})`;
  findings.push(
    finding(
      'world-size-not-divisible',
      message,
      own?.file === file ? own : anchor,
      own === null ? [] : [{ message: `pipeline size ${pp.value}`, range: own }],
    ),
  );
  return unknown('a GPU count that the pipeline divides', 'cluster.gpus');
}

function scheduleOf(pp: Sourced<number>): Plan['schedule'] {
  if (pp.value === null) return pp as Plan['schedule'];
  return derived('1f1b', "DeepSpeed's training schedule", ['pp']);
}

function modelOf(root: MapNode, said: Said): Plan['model'] {
  const open = (what: string, say: string) =>
    saidNumber(said, say, unknown(`${what}, which the model in Python has`, say));
  const low = (['bf16', 'fp16'] as const).find((name) => has(root, `${name}.enabled`));
  return {
    layers: open('the layers', 'model.layers'),
    hidden: open('the hidden size', 'model.hidden'),
    heads: open('the attention heads', 'model.heads'),
    kvHeads: open('the key-value heads', 'model.kvHeads'),
    ffn: open('the feed-forward size', 'model.ffn'),
    gated: unknown('whether the feed-forward is gated'),
    vocabulary: open('the vocabulary', 'model.vocabulary'),
    recompute: unknown('the activation checkpointing, which the PipelineModule is given', 'model.recompute'),
    dtype:
      low === undefined ? unknown('the number format', 'model.dtype') : byDefault(low, `DeepSpeed: ${low} is enabled`),
    experts: null,
  };
}

/** The accumulation steps and the whole batch move together; the pipeline size stands in the script. */
function edits(texts: Texts, plan: Plan, { key, value }: Change): readonly TextEdit[] | null {
  const { file } = plan.anchor;
  const text = texts[file];
  const root = text === undefined ? null : readJsonc(file, text).root;
  if (text === undefined || root?.kind !== 'map') return null;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) return null;
  if (key === 'pipeline.size') return replaceToken(texts, findLaunch(file, texts).launch?.argument, value);
  const set = (name: string, to: number) =>
    setKey(file, text, root, name, String(to), ['train_micro_batch_size_per_gpu', 'train_batch_size']);
  const [micro, steps, dp] = [plan.microBatchSize.value, plan.microbatches.value, plan.dp.value];
  const train = (m: number | null, size: number | null): readonly TextEdit[] | null =>
    !has(root, 'train_batch_size')
      ? []
      : m === null || size === null || dp === null
        ? null
        : set('train_batch_size', m * size * dp);
  const both = (a: readonly TextEdit[] | null, b: readonly TextEdit[] | null) =>
    a === null || b === null ? null : [...a, ...b];
  switch (key) {
    case 'pipeline.microbatches':
      if (has(root, 'gradient_accumulation_steps') || !has(root, 'train_batch_size'))
        return both(set('gradient_accumulation_steps', value), train(value, micro));
      return train(value, micro);
    case 'batch.micro':
      return both(
        set('train_micro_batch_size_per_gpu', value),
        has(root, 'gradient_accumulation_steps') ? train(steps, value) : [],
      );
    case 'batch.global':
      return has(root, 'gradient_accumulation_steps') ? null : set('train_batch_size', value);
    default:
      return null;
  }
}

export const deepSpeed: Reader = {
  id: 'deepspeed',
  title: 'DeepSpeed configs with a pipeline in their script',
  files: ['**/*.json'],
  parsers: ['jsonc'],
  claims,
  read,
  edits,
  completions: (path, text, offset) =>
    treeCompletions(
      { text, cursor: jsonCursor(text, offset), json: true, read: (whole) => readJsonc(path, whole).root },
      pathTable(DEEPSPEED_KEYS),
    ),
};
