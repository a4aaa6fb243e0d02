/**
 * Megatron-DeepSpeed's scripts, BigScience's among them: Megatron's flags with `--deepspeed`, a DeepSpeed config that
 * the script writes, and DeepSpeed's own split of the layers. Mirrors deepspeedai/Megatron-DeepSpeed@4efb479d
 * megatron/arguments.py and megatron/model/gpt_model.py, and bigscience-workshop/Megatron-DeepSpeed for
 * `--pp-partition-method`.
 */

import { pipelineModuleSplit } from '../frameworks/deepspeed-split.ts';
import { megatronPipeLayers } from '../frameworks/megatron-deepspeed.ts';
import type { Finding } from '../model/finding.ts';
import type { Plan, Said } from '../model/plan.ts';
import type { Reader } from '../model/reading.ts';
import type { ScheduleId } from '../model/schedule.ts';
import { byDefault, derived, fromText, rangeOf, type Sourced, unknown } from '../model/source.ts';
import { checkZero, type DeepSpeedConfig } from './deepspeed/config.ts';
import { scriptConfig } from './deepspeed/script-config.ts';
import { finding } from './limits.ts';
import type { Companions } from './mcore/config.ts';
import type { Launch } from './megatron-lm/launches.ts';
import {
  isShell,
  readScript,
  type ScriptDialect,
  type Settings,
  SHELL_GLOBS,
  scriptEdits,
} from './megatron-lm/script.ts';
import type { Flag } from './shell/flags.ts';

const DEEPSPEED = /--deepspeed\b/;
const SIZES = /--(?:pipeline|tensor)[-_]model[-_]parallel[-_]size\b|--num[-_]layers\b/;

function claims(path: string, text: string): boolean {
  return isShell(path, text) && DEEPSPEED.test(text) && SIZES.test(text);
}

const DIALECT: ScriptDialect = {
  framework: 'megatron-deepspeed',
  requires: false,
  takes: ({ flags }) => flags.byName.has('deepspeed') || flags.open.some((each) => each.kind === 'variable'),
  settings,
  isInert: (_, key) => key === 'pipeline.virtualStages',
  finish,
};

/** Spellings of this fork, and options that are still valid in it. */
function settings(launch: Launch, read: Settings, companions: Companions): void {
  const { byName } = launch.flags;
  const checkpoint = read.get('oldCheckpointActivations');
  read.delete('oldCheckpointActivations');
  if (checkpoint?.value.value != null && checkpoint.place !== null) {
    read.set('recomputeGranularity', { ...checkpoint, value: fromText('full', checkpoint.place) });
  }
  const kv = byName.get('num-key-value-heads');
  const groups = kv?.values[0];
  if (kv !== undefined && groups?.text != null) {
    const base = { spelled: kv.spelled, place: kv.range };
    read.set('queryGroups', { ...base, value: fromText(groups.text, groups.range, groups.note ?? undefined) });
    read.set('groupQuery', { ...base, value: fromText('true', kv.range) });
  }
  const sequence = byName.get('ds-sequence-parallel-size');
  const size = sequence?.values[0];
  if (sequence !== undefined && size?.text != null && !read.has('cp')) {
    read.set('cp', {
      spelled: sequence.spelled,
      place: sequence.range,
      value: fromText(size.text, size.range, size.note ?? undefined),
    });
  }
  const experts = read.get('experts');
  if (experts?.value.value != null && /\s/.test(experts.value.value.trim())) {
    const range = rangeOf(experts.value) ?? undefined;
    read.set('experts', {
      ...experts,
      value: unknown('one number of experts: they differ from layer to layer', undefined, range),
    });
  }
  const config = scriptConfig(launch, companions);
  fillBatch(read, config);
}

/** DeepSpeed's batch sizes where the flags give none. */
function fillBatch(read: Settings, config: DeepSpeedConfig | null): void {
  const fill = (key: 'microBatch' | 'globalBatch', value: Sourced<number> | null | undefined, spelled: string) => {
    if (value == null || read.has(key)) return;
    const text: Sourced<string> = value.value === null ? value : { value: String(value.value), source: value.source };
    read.set(key, { value: text, spelled, place: rangeOf(value) });
  };
  fill('microBatch', config?.micro, 'train_micro_batch_size_per_gpu');
  fill('globalBatch', config?.train, 'train_batch_size');
}

function zeroFindings(stage: Sourced<number> | null, plan: Plan): readonly Finding[] {
  const findings: Finding[] = [];
  checkZero(stage, plan.pp, findings, plan.anchor);
  if (plan.pp.value !== 1) return findings;
  const why = 'one stage is a pipeline as well unless --no-pipeline-parallel is given';
  return findings.map((each) => ({ ...each, message: `${each.message}; ${why}` }));
}

function finish(plan: Plan, launch: Launch, said: Said, companions: Companions): Plan {
  const { byName } = launch.flags;
  const findings: Finding[] = plan.findings.map((each) => worded(each, plan));
  const off = byName.get('no-pipeline-parallel');
  if (off !== undefined && off.maybe === null) return withoutPipeline({ ...plan, findings }, off);
  const config = scriptConfig(launch, companions);
  const engine = byName.get('deepspeed');
  const stage = config?.zeroStage ?? zeroFlag(byName.get('zero-stage'));
  // Even with one stage the engine is the pipeline's, unless it is switched off.
  const piped = engine !== undefined && off === undefined && byName.has('pipeline-model-parallel-size');
  if (piped) findings.push(...zeroFindings(stage, plan));
  const schedule = Object.hasOwn(said, 'pipeline.schedule')
    ? plan.schedule
    : scheduleOf(plan, byName.get('enable-zbh1-pipeline'));
  const sequence = byName.get('sequence-parallel');
  if (schedule.value === 'zb-h1' && sequence !== undefined) {
    findings.push(
      finding(
        'options-conflict',
        'Sequence Parallel not tested, proceed at own will by removing this line',
        sequence.range,
      ),
    );
  }
  const split = splitOf(plan, launch);
  return {
    ...plan,
    schedule,
    vpp: oneStage(plan),
    stages: split,
    findings: split.value === null ? findings : withoutDivision(findings),
  };
}

function oneStage({ vpp }: Plan): Sourced<number> {
  return vpp.source.kind === 'default'
    ? byDefault(1, "one stage per rank: DeepSpeed's engine has no virtual stages")
    : vpp;
}

/** DeepSpeed's balance takes any number of layers. */
function withoutDivision(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(({ code }) => code !== 'layers-not-divisible');
}

function worded(each: Finding, { tp, pp, cp, gpus }: Plan): Finding {
  if (each.code !== 'world-size-not-divisible') return each;
  const message = `world size (${gpus.value}) is not divisible by tensor parallel size (${tp.value}) times pipeline parallel size (${pp.value}) times seqence parallel size (${cp.value})`;
  return { ...each, message };
}

/** Plain data parallelism: the microbatches are accumulated without a pipeline. */
function withoutPipeline(plan: Plan, off: Flag): Plan {
  if (plan.pp.value === null || plan.pp.value === 1) return plan;
  const message = 'pipeline_model_parallel_size must be 1 if pipeline parallel is disabled';
  const range = rangeOf(plan.pp) ?? plan.anchor;
  return {
    ...plan,
    findings: [
      ...plan.findings,
      finding('options-conflict', message, range, [{ message: off.spelled, range: off.range }]),
    ],
  };
}

function zeroFlag(flag: Flag | undefined): Sourced<number> | null {
  const value = flag?.values[0];
  if (flag === undefined || value?.text == null || value.maybe !== null || !/^\d$/.test(value.text)) return null;
  return fromText(Number(value.text), value.range, value.note ?? undefined);
}

function scheduleOf(plan: Plan, zeroBubble: Flag | undefined): Sourced<ScheduleId> {
  if (plan.pp.value === null || plan.pp.value === 1) return plan.schedule;
  if (zeroBubble !== undefined && zeroBubble.maybe !== null)
    return unknown(`the schedule: ${zeroBubble.maybe}`, 'pipeline.schedule', zeroBubble.range);
  return zeroBubble === undefined
    ? derived('1f1b', "DeepSpeed's training schedule", ['pp'])
    : fromText('zb-h1', zeroBubble.range);
}

function splitOf(plan: Plan, { flags }: Launch): Plan['stages'] {
  const [pp, layers] = [plan.pp.value, plan.model.layers.value];
  if (pp === null) return plan.pp as Plan['stages'];
  if (layers === null) return plan.model.layers as Plan['stages'];
  if (pp > 4096 || layers > 10_000) return unknown('a split that can be listed');
  const value = flags.byName.get('pp-partition-method')?.values[0];
  if (value !== undefined && value.text === null)
    return unknown(`how layers are put on stages: ${value.missing}`, undefined, value.range);
  const method = (value?.text ?? 'type:transformer').replace(/^["']|["']$/g, '');
  const untied = flags.byName.has('untie-embeddings-and-output-weights');
  const cast = flags.byName.has('fp16') || flags.byName.has('bf16');
  const stages = pipelineModuleSplit(megatronPipeLayers({ layers, untied, cast }), pp, method);
  const how = `DeepSpeed's balance of ${method} over ${pp} stages`;
  return stages === null
    ? unknown(`the split by ${method}`, undefined, value?.range)
    : derived(stages, how, ['layers', 'pp']);
}

export const megatronDeepSpeed: Reader = {
  id: 'megatron-deepspeed',
  title: 'Megatron-DeepSpeed launch scripts',
  files: SHELL_GLOBS,
  parsers: ['jsonc'],
  claims,
  read: (path, texts, said) => readScript(path, texts, said, DIALECT),
  edits: (texts, plan, change) => scriptEdits(texts, plan, change, DIALECT),
};
