/**
 * verl's training scripts with the Megatron back end: `python3 -m verl.trainer.main_ppo a.b.c=value …`. A mini-batch of
 * prompts times samples is one optimizer step; its microbatches depend on the data with `use_dynamic_bsz`. Mirrors
 * volcengine/verl@b178a3cd5 verl/utils/config.py (checks), verl/workers/megatron_workers.py (batches) and
 * verl/trainer/config/ppo_megatron_trainer.yaml (defaults).
 */

import { MEGATRON_KEYS, type MegatronKey } from '../frameworks/megatron-core/keys.ts';
import type { Change, Finding } from '../model/finding.ts';
import type { Plan, Said } from '../model/plan.ts';
import type { Reader, Reading, Texts } from '../model/reading.ts';
import { byDefault, derived, fromText, rangeOf, type Sourced, type TextRange, unknown } from '../model/source.ts';
import { finding, refuseText } from './limits.ts';
import { type Companions, openCompanions } from './mcore/config.ts';
import { withLocalModel } from './mcore/hugging-face.ts';
import { CONFIG_NAMES, groupedByCount, withDefaults, withNamedModel } from './mcore/settings.ts';
import { changeEdits, type Edits, replaceToken, setGpus } from './megatron-lm/edits.ts';
import { megatronPlan, stem } from './megatron-lm/plan.ts';
import { isShell, type Settings, SHELL_GLOBS } from './megatron-lm/script.ts';
import { withSaid } from './megatron-lm/settings.ts';
import { type Count, countOf, product, readWorld, type World } from './megatron-lm/world.ts';
import { readFlags } from './shell/flags.ts';
import type { Override } from './shell/overrides.ts';
import { shellFindings } from './shell/problems.ts';
import { countOfKey, placeOfKey, type Run, readRuns } from './verl/runs.ts';

const SIZE = /(?:megatron|engine)\.(?:pipeline|tensor)_model_parallel_size=/;

function claims(path: string, text: string): boolean {
  return isShell(path, text) && text.includes('verl') && SIZE.test(text);
}

function read(path: string, texts: Texts, said: Said): Reading {
  const text = texts[path] ?? '';
  const refused = refuseText(path, text);
  if (refused !== null) return { plans: [], problems: [refused], needs: [] };
  const readable = Object.fromEntries(Object.entries(texts).filter(([file, each]) => refuseText(file, each) === null));
  const { runs, shell } = readRuns(path, readable);
  const companions = openCompanions(path, readable);
  const problems = shellFindings(path, shell);
  const plans = runs.map((run) => planOf(path, run, said, companions));
  const needs = [...new Set([...shell.needs, ...companions.needs])];
  return { plans, problems, needs, optional: [...companions.optional] };
}

/** Where one of Megatron's keys stands, its own section before the overrides of the transformer. */
function overrideOf({ overrides, scope }: Run, key: MegatronKey): Override | undefined {
  if (key === 'microBatch') return overrides.byKey.get(scope.micro);
  if (key === 'globalBatch') return overrides.byKey.get(scope.mini);
  for (const name of CONFIG_NAMES[key] ?? []) {
    const found =
      overrides.byKey.get(`${scope.megatron}.${name}`) ??
      overrides.byKey.get(`${scope.megatron}.override_transformer_config.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function settingsOf(run: Run, companions: Companions): Settings {
  const settings: Settings = new Map();
  for (const key of Object.keys(MEGATRON_KEYS) as MegatronKey[]) {
    const found = key === 'globalBatch' ? undefined : overrideOf(run, key);
    const value = found === undefined ? null : overrideValue(found, MEGATRON_KEYS[key].takes === 'switch');
    if (found !== undefined && value !== null)
      settings.set(key, { value, spelled: found.key.replace(/^.*\./, ''), place: found.range });
  }
  withBatches(run, settings);
  withDefaults(settings, { bf16: 'true' }, 'verl: bfloat16 when dtype is absent');
  const path = run.scope.model.map((key) => run.overrides.byKey.get(key)?.value).find((each) => each !== undefined);
  const name = path?.text ?? null;
  const named = path === undefined || name === null ? tailOf(path?.range, companions) : { name, range: path.range };
  if (!withLocalModel(settings, companions, named)) withNamedModel(settings, named);
  groupedByCount(settings);
  return settings;
}

/** Of `$DIR/models/Qwen3-8B` the end is written even where the folder is not known. */
function tailOf(
  range: TextRange | undefined,
  { texts }: Companions,
): { readonly name: string; readonly range: TextRange } | null {
  if (range === undefined) return null;
  const written = (texts[range.file] ?? '').slice(range.offset, range.offset + 200);
  const name = /^[^\s"']*?\/([\w.-]+)\/?(?=[\s"']|$)/.exec(written)?.[1];
  return name === undefined ? null : { name, range };
}

/** null is Hydra's way to say nothing. */
function overrideValue({ value }: Override, isSwitch: boolean): Sourced<string> | null {
  const { text, range, note, missing, maybe } = value;
  if (maybe !== null) return unknown(maybe, undefined, range);
  if (text === null) return unknown(missing ?? 'its value', undefined, range);
  const plain = text.trim().replace(/^(['"])(.*)\1$/s, '$2');
  if (/^(?:null|none)$/i.test(plain)) return null;
  return fromText(isSwitch ? String(!/^(?:false|off|no|0)$/i.test(plain)) : plain, range, note ?? undefined);
}

function isDynamic(run: Run): boolean | null {
  const found = run.overrides.byKey.get(run.scope.dynamic);
  if (found === undefined)
    return run.scope.id === 'critic'
      ? isDynamic({ ...run, scope: { ...run.scope, id: '', dynamic: 'actor_rollout_ref.actor.use_dynamic_bsz' } })
      : false;
  const { text } = found.value;
  return text === null ? null : /^(?:true|1|yes|on)$/i.test(text.trim());
}

/** Samples of one optimizer step: prompts of the mini-batch times samples of each; null where one is not known. */
function stepSamples(run: Run): { readonly size: number; readonly how: string } | null {
  const { scope } = run;
  const prompts = countOfKey(
    run,
    scope.mini,
    scope.miniDefault ??
      countOfKey(run, 'actor_rollout_ref.actor.ppo_mini_batch_size', scope.id === 'critic' ? 256 : null),
  );
  const samples = scope.samples === null ? 1 : countOfKey(run, scope.samples, 1);
  return prompts === null || samples === null
    ? null
    : {
        size: prompts * samples,
        how: scope.samples === null ? `${prompts} samples` : `${prompts} prompts x ${samples} samples`,
      };
}

function withBatches(run: Run, settings: Settings): void {
  const { scope } = run;
  const step = stepSamples(run);
  const dynamic = isDynamic(run);
  const switched = run.overrides.byKey.get(scope.dynamic);
  if (dynamic !== false) {
    const place = switched?.value.range;
    const packs = `${scope.dynamic} packs the samples of a step by tokens${step === null ? '' : ` (${step.how} = ${step.size})`}`;
    const open = (what: string, say: string) => ({
      value: unknown(`${what}: ${packs}`, say, place),
      spelled: 'use_dynamic_bsz',
      place: place ?? null,
    });
    settings.set('microbatches', open('the number of microbatches', 'pipeline.microbatches'));
    settings.set('microBatch', open('the micro batch size', 'batch.micro'));
    return;
  }
  const spelled = 'ppo_mini_batch_size';
  const place = placeOfKey(run, scope.mini);
  settings.set('microbatches', {
    value: unknown('the number of microbatches', 'pipeline.microbatches'),
    spelled,
    place,
  });
  if (step === null) return;
  settings.set('globalBatch', { value: derived(String(step.size), step.how, ['globalBatchSize']), spelled, place });
}

function worldOf(run: Run): World {
  const { command } = run;
  if (run.scope.id === 'engine') {
    const flags = readFlags(command.words, new Set(), command.range);
    return readWorld({
      launcher: command.words.slice(0, 8),
      flags: { ...flags, open: [] },
      variables: command.variables,
      slurm: command.slurm,
      place: command.range,
    });
  }
  const count = (key: string, absent: number): Count => {
    const found = run.overrides.byKey.get(key);
    return found === undefined
      ? { value: byDefault(absent, `verl: ${key} is ${absent} when it is absent`), argument: null, label: '' }
      : countOf(found.value, key);
  };
  return product(count('trainer.n_gpus_per_node', 8), count('trainer.nnodes', 1));
}

function planOf(path: string, run: Run, said: Said, companions: Companions): Plan {
  const settings = settingsOf(run, companions);
  const keys = withSaid(settings, said);
  const pp = overrideOf(run, 'pp');
  const own = [
    keys.get('pp') === undefined ? null : rangeOf(keys.get('pp')!.value),
    pp?.value.range,
    pp?.range,
    overrideOf(run, 'tp')?.range,
    run.command.range,
  ];
  const anchor = own.find((range) => range != null && range.file === path) ?? { file: path, offset: 0, length: 0 };
  const open = run.overrides.open.find((each) => each.kind === 'variable');
  const plan = megatronPlan({
    path,
    id: run.id,
    name: run.shared ? `${stem(path)}: ${run.scope.id}` : stem(path),
    anchor,
    findingsPlace: anchor,
    keys,
    said,
    world: worldOf(run),
    elsewhere: open?.missing ?? null,
    passed: run.overrides.open.find((each) => each.kind !== 'variable')?.missing ?? null,
    complete: false,
  });
  return finish(plan, run, said);
}

/** verl's own split of a step into microbatches, and its own checks. */
function finish(plan: Plan, run: Run, said: Said): Plan {
  const findings: Finding[] = plan.findings.map((each) => worded(each, plan));
  const step = stepSamples(run);
  const [dp, micro] = [plan.dp.value, plan.microBatchSize.value];
  if (isDynamic(run) !== false || step === null) return { ...plan, findings };
  checkTraining(plan, run, findings);
  if (dp === null || micro === null || Object.hasOwn(said, 'pipeline.microbatches')) {
    const missing = [plan.dp, plan.microBatchSize].find((each) => each.value === null);
    return missing === undefined
      ? { ...plan, findings }
      : { ...plan, microbatches: missing as Sourced<number>, findings };
  }
  const share = Math.floor(step.size / dp);
  if (share < 1) return { ...plan, findings };
  const how = `${step.how} / ${dp} data-parallel ranks / ${micro}`;
  const microbatches = derived(Math.ceil(share / micro), how, ['globalBatchSize', 'microBatchSize', 'dp']);
  return { ...plan, microbatches, findings };
}

/** In the words that verl has for it. */
function worded(each: Finding, { tp, pp, cp, gpus }: Plan): Finding {
  if (each.code !== 'world-size-not-divisible' || tp.value === null || pp.value === null) return each;
  const message = `n_gpus (${gpus.value}) must be divisible by model_parallel_size (${tp.value * pp.value}) times context_parallel_size (${cp.value})`;
  return { ...each, message };
}

function checkTraining(plan: Plan, run: Run, findings: Finding[]): void {
  const key = 'data.train_batch_size';
  if (run.scope.id !== 'actor') return;
  const train = countOfKey(run, key, 1024);
  const mini = countOfKey(run, run.scope.mini, run.scope.miniDefault);
  const samples = countOfKey(run, run.scope.samples!, 1);
  const [dp, micro] = [plan.dp.value, plan.microBatchSize.value];
  if (train === null || mini === null || samples === null) return;
  const at = placeOfKey(run, key) ?? placeOfKey(run, run.scope.mini) ?? plan.anchor;
  const related = [run.scope.mini, run.scope.micro, run.scope.samples!].flatMap((each) => {
    const range = placeOfKey(run, each);
    return range === null || range.offset === at.offset ? [] : [{ message: each, range }];
  });
  if (train < mini) {
    const message = `train_batch_size (${train}) must be >= actor.ppo_mini_batch_size (${mini})`;
    findings.push(finding('batch-not-divisible', message, at, related));
  } else if (dp !== null && micro !== null && (train * samples) % (dp * micro) !== 0) {
    const message = `real_train_batch_size (${train * samples}) must be divisible by minimal possible batch size (${dp * micro})`;
    findings.push(finding('batch-not-divisible', message, at, related));
  }
}

/** What `use_dynamic_bsz` takes from the config. */
const BATCH_KEYS: ReadonlySet<string> = new Set(['batch.micro', 'batch.global', 'pipeline.microbatches']);

/** Each change in the override that holds the value; an override that is absent stands before the one it belongs to. */
function edits(texts: Texts, plan: Plan, change: Change): Edits {
  const run = readRuns(plan.anchor.file, texts).runs.find((each) => each.id === plan.id);
  if (run === undefined) return null;
  if (isDynamic(run) !== false && BATCH_KEYS.has(change.key)) return null;
  const prompts = (samples: number): number | null => {
    const each = run.scope.samples === null ? 1 : countOfKey(run, run.scope.samples, 1);
    return each === null || samples % each !== 0 ? null : samples / each;
  };
  return changeEdits(plan, change, {
    has: (key) => overrideOf(run, key) !== undefined,
    replace: (key, value) => {
      const found = key === 'globalBatch' ? prompts(value) : value;
      return found === null ? null : replaceToken(texts, overrideOf(run, key)?.value, found);
    },
    insert: (before, key, value) => {
      const found = key === 'globalBatch' ? prompts(value) : value;
      const place = overrideOf(run, before)?.range;
      const name = key === 'globalBatch' ? run.scope.mini : `${run.scope.megatron}.${CONFIG_NAMES[key]?.[0]}`;
      if (found === null || place === undefined || /["']/.test(texts[place.file]?.[place.offset - 1] ?? ''))
        return null;
      return [{ file: place.file, offset: place.offset, length: 0, text: `${name}=${found} ` }];
    },
    setGpus: (gpus) => setGpus(texts, plan, worldOf(run), gpus),
  });
}

export const verl: Reader = {
  id: 'verl',
  title: 'verl scripts with the Megatron back end',
  files: SHELL_GLOBS,
  parsers: ['jsonc'],
  claims,
  read,
  edits,
};
