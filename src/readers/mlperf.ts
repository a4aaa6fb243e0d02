/**
 * NVIDIA's MLPerf configs: shell files that export the sizes of a run, `config_DGXH100_64x8x128x4x8_mbs2.sh`, for a
 * NeMo config that reads them from the environment. `MINIBS` is what each data-parallel rank takes in a step. Mirrors
 * mlcommons/training_results_v4.1@b87b9e39 NVIDIA/benchmarks/gpt3/implementations (conf/custom.yaml, config_*.sh).
 */

import type { MegatronKey, Setting } from '../frameworks/megatron-core/keys.ts';
import type { Change } from '../model/finding.ts';
import type { Plan, Said } from '../model/plan.ts';
import type { Reader, Reading, Texts } from '../model/reading.ts';
import { byDefault, derived, fromText, rangeOf, type Sourced, type TextRange, unknown } from '../model/source.ts';
import { finding, refuseText } from './limits.ts';
import { changeEdits, type Edits, replaceToken, setGpus } from './megatron-lm/edits.ts';
import { megatronPlan, stem } from './megatron-lm/plan.ts';
import { isShell, SHELL_GLOBS } from './megatron-lm/script.ts';
import { withSaid } from './megatron-lm/settings.ts';
import { type Count, product, variableCount, type World } from './megatron-lm/world.ts';
import { evaluateShell } from './shell/evaluate.ts';
import { type Argument, argumentOf } from './shell/flags.ts';
import type { ShellReading } from './shell/machine.ts';
import { shellFindings } from './shell/problems.ts';

const PIPELINE = /^[ \t]*export[ \t]+PIPELINE_MODEL_PARALLEL=/m;
const BESIDE = /^[ \t]*export[ \t]+(?:TENSOR_MODEL_PARALLEL|MINIBS)=/m;

function claims(path: string, text: string): boolean {
  return isShell(path, text) && text.includes('PIPELINE_MODEL_PARALLEL=') && PIPELINE.test(text) && BESIDE.test(text);
}

const NAMES: Readonly<Partial<Record<MegatronKey, string>>> = {
  pp: 'PIPELINE_MODEL_PARALLEL',
  tp: 'TENSOR_MODEL_PARALLEL',
  cp: 'CONTEXT_PARALLEL',
  virtualStages: 'INTERLEAVED_PIPELINE',
  microBatch: 'MICRO_BATCH_SIZE',
  layers: 'NUM_LAYERS',
};

interface Config {
  readonly path: string;
  readonly shell: ShellReading;
}

function place(path: string): TextRange {
  return { file: path, offset: 0, length: 0 };
}

/** What a variable holds at the end of the file; null where it is not set. */
function variable({ path, shell }: Config, name: string): Argument | null {
  const value = shell.variables.get(name);
  return value?.kind === 'scalar' ? argumentOf(value.pieces, place(path)) : null;
}

function configOf(path: string, texts: Texts): Config {
  return { path, shell: evaluateShell(path, texts, () => false) };
}

function read(path: string, texts: Texts, said: Said): Reading {
  const refused = refuseText(path, texts[path] ?? '');
  if (refused !== null) return { plans: [], problems: [refused], needs: [] };
  const readable = Object.fromEntries(Object.entries(texts).filter(([file, each]) => refuseText(file, each) === null));
  const config = configOf(path, readable);
  const problems = shellFindings(path, config.shell);
  return { plans: [planOf(config, said)], problems, needs: config.shell.needs };
}

function sourced({ text, missing, maybe, range, note }: Argument): Sourced<string> {
  if (text === null || maybe !== null) return unknown(maybe ?? missing ?? 'its value', undefined, range);
  return fromText(text, range, note ?? undefined);
}

function settingsOf(config: Config): Map<MegatronKey, Setting> {
  const settings = new Map<MegatronKey, Setting>();
  for (const [key, name] of Object.entries(NAMES) as [MegatronKey, string][]) {
    const found = variable(config, name);
    // An interleaving of 0 is none.
    if (found === null || (key === 'virtualStages' && found.text === '0')) continue;
    settings.set(key, { value: sourced(found), spelled: name, place: found.range });
  }
  if (variable(config, 'INTERLEAVED_PIPELINE') === null) {
    const open = unknown(
      'the virtual stages: INTERLEAVED_PIPELINE, which the config behind has a default for',
      'pipeline.virtualStages',
    );
    settings.set('virtualStages', { value: open, spelled: 'INTERLEAVED_PIPELINE', place: null });
  }
  const value = microbatches(config);
  settings.set('microbatches', { value, spelled: 'MINIBS', place: rangeOf(value) });
  settings.set('bf16', { value: byDefault('true', 'NeMo: bf16'), spelled: 'bf16', place: null });
  return settings;
}

/** `MINIBS` over the micro batch. */
function microbatches(config: Config): Sourced<string> {
  const [mini, micro] = [variable(config, 'MINIBS'), variable(config, 'MICRO_BATCH_SIZE')];
  const open = (name: string, found: Argument | null) =>
    unknown(
      `the number of microbatches: ${found?.maybe ?? found?.missing ?? `${name}, which the file does not set`}`,
      'pipeline.microbatches',
      found?.range,
    );
  const [a, b] = [count(mini), count(micro)];
  if (a === null) return open('MINIBS', mini);
  if (b === null) return open('MICRO_BATCH_SIZE', micro);
  return a % b === 0
    ? derived(String(a / b), `MINIBS ${a} / MICRO_BATCH_SIZE ${b}`, ['microBatchSize'])
    : unknown(`a MINIBS that MICRO_BATCH_SIZE ${b} divides (${a} does not)`, 'pipeline.microbatches', mini?.range);
}

function count(argument: Argument | null): number | null {
  const text = argument?.maybe === null ? argument.text : null;
  return text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;
}

function worldOf({ path, shell }: Config): World {
  const input = {
    launcher: [],
    flags: { byName: new Map(), open: [] },
    variables: shell.variables,
    slurm: shell.slurm,
    place: place(path),
  };
  const absent = unknown('the GPU count: DGXNNODES, which the file does not set', 'cluster.gpus');
  const each: Count = { value: byDefault(8, 'a DGX has 8 GPUs, where DGXNGPU is absent'), argument: null, label: '' };
  return product(
    variableCount(input, 'DGXNGPU') ?? each,
    variableCount(input, 'DGXNNODES') ?? { value: absent, argument: null, label: '' },
  );
}

function planOf(config: Config, said: Said): Plan {
  const { path } = config;
  const settings = settingsOf(config);
  const keys = withSaid(settings, said);
  const own = [settings.get('pp')?.place, settings.get('tp')?.place, variable(config, 'MINIBS')?.range];
  const anchor = own.find((range) => range != null && range.file === path) ?? place(path);
  const world = worldOf(config);
  const plan = megatronPlan({
    path,
    id: 'main',
    name: stem(path),
    anchor,
    findingsPlace: anchor,
    keys,
    said,
    world,
    elsewhere: null,
    passed: null,
    complete: false,
  });
  const [mini, micro] = [variable(config, 'MINIBS'), variable(config, 'MICRO_BATCH_SIZE')];
  const [a, b] = [count(mini), count(micro)];
  if (a === null || b === null || a % b === 0) return plan;
  const message = `MINIBS (${a}) is not divisible by MICRO_BATCH_SIZE (${b})`;
  const range = mini!.range.file === path ? mini!.range : anchor;
  return {
    ...plan,
    findings: [
      ...plan.findings,
      finding('batch-not-divisible', message, range, [{ message: `MICRO_BATCH_SIZE ${b}`, range: micro!.range }]),
    ],
  };
}

function edits(texts: Texts, plan: Plan, change: Change): Edits {
  const config = configOf(plan.anchor.file, texts);
  const mini = variable(config, 'MINIBS');
  const micro = count(variable(config, 'MICRO_BATCH_SIZE'));
  if (change.key === 'pipeline.microbatches') {
    return micro === null || typeof change.value !== 'number' ? null : replaceToken(texts, mini, change.value * micro);
  }
  return changeEdits(plan, change, {
    has: (key) => NAMES[key] !== undefined && variable(config, NAMES[key]) !== null,
    replace: (key, value) =>
      NAMES[key] === undefined ? null : replaceToken(texts, variable(config, NAMES[key]), value),
    insert: () => null,
    setGpus: (gpus) => setGpus(texts, plan, worldOf(config), gpus),
  });
}

export const mlperf: Reader = {
  id: 'mlperf',
  title: "NVIDIA's MLPerf configs",
  files: SHELL_GLOBS,
  parsers: [],
  claims,
  read,
  edits,
};
