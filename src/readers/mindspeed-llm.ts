/**
 * MindSpeed-LLM's scripts (`*_ptd.sh`, Ascend): Megatron's flags with a list of layers per stage, layers that do
 * nothing, and DualPipeV. Mirrors Ascend/MindSpeed-LLM@c77308a1 mindspeed_llm/features_manager/pipeline_parallel and
 * Ascend/MindSpeed mindspeed/features_manager/pipeline_parallel/dualpipev_feature.py.
 */

import { dualPipeVStages, withoutNoops } from '../frameworks/mindspeed-llm.ts';
import type { Finding } from '../model/finding.ts';
import type { Plan } from '../model/plan.ts';
import type { Reader } from '../model/reading.ts';
import { derived, fromText, rangeOf, type Sourced, type TextRange, unknown } from '../model/source.ts';
import { flagCompletions } from './completion/flags.ts';
import { finding } from './limits.ts';
import type { Launch } from './megatron-lm/launches.ts';
import {
  isShell,
  readScript,
  type ScriptDialect,
  type Settings,
  SHELL_GLOBS,
  scriptEdits,
} from './megatron-lm/script.ts';
import type { Argument, Flag } from './shell/flags.ts';

const PIPELINE = /--pipeline[-_]model[-_]parallel[-_]size\b/;
const ASCEND =
  /\bNPUS_PER_NODE\b|\bHCCL_[A-Z]|\bASCEND_|\bmindspeed|--(?:noop[-_]layers|schedules[-_]method|num[-_]layer[-_]list)\b/;
function claims(path: string, text: string): boolean {
  return isShell(path, text) && PIPELINE.test(text) && ASCEND.test(text) && !/--actor-num-|\bverl\./.test(text);
}

const DIALECT: ScriptDialect = {
  framework: 'mindspeed-llm',
  settings,
  isInert: ({ flags }, key) =>
    key === 'pipeline.virtualStages' && (flags.byName.has('schedules-method') || flags.byName.has('num-layer-list')),
  finish,
};

/** What the resolver does not know is worked in afterwards. */
function settings({ flags }: Launch, read: Settings): void {
  read.delete('forkSchedule');
  read.delete('forkLayerList');
  const padded = flags.byName.get('padded-vocab-size')?.values[0];
  if (padded?.text != null && !read.has('vocabulary')) {
    read.set('vocabulary', {
      value: fromText(padded.text, padded.range),
      spelled: '--padded-vocab-size',
      place: padded.range,
    });
  }
}

function finish(plan: Plan, launch: Launch): Plan {
  const { byName } = launch.flags;
  const [list, noops, method] = [
    byName.get('num-layer-list'),
    byName.get('noop-layers'),
    byName.get('schedules-method'),
  ];
  const idle = noops === undefined ? new Set<number>() : numbersOf(noops.values[0], 0);
  let made = plan;
  // A list is dropped where layers that do nothing are given.
  if (list !== undefined && noops === undefined) made = byList(made, list, launch);
  if (method !== undefined) made = bySchedule(made, method, launch);
  if (idle === null)
    return { ...made, stages: unknown(`the layers that ${noops!.spelled} names`, undefined, noops!.range) };
  if (idle.size === 0) return made;
  return withIdle(made, noops!, idle);
}

function withIdle(plan: Plan, flag: Flag, idle: ReadonlySet<number>): Plan {
  const { stages, model } = plan;
  const layers = model.layers.value;
  const findings = [...plan.findings];
  const beyond = layers === null ? undefined : [...idle].find((layer) => layer >= layers);
  if (beyond !== undefined) {
    const message = `${flag.spelled}: there is no layer ${beyond}, the ${layers} layers count from 0`;
    findings.push(finding('split-invalid', message, flag.values[0]!.range, related([['num-layers', model.layers]])));
  }
  if (stages.value === null) return { ...plan, findings };
  const how = `${stages.source.kind === 'derived' ? stages.source.how : 'the split as written'}, without the ${idle.size} layers of ${flag.spelled}`;
  return { ...plan, stages: derived(withoutNoops(stages.value, idle), how, ['layers', 'pp', 'vpp']), findings };
}

/** `17,20,22,21`; null where it is not known or no such list. */
function numbersOf(argument: Argument | undefined, least: number): ReadonlySet<number> | null {
  const numbers = listOf(argument, least);
  return numbers === null ? null : new Set(numbers);
}

function listOf(argument: Argument | undefined, least: number): readonly number[] | null {
  const text = argument?.text ?? null;
  if (text === null || argument?.maybe != null || !/^\s*\d{1,6}(?:\s*,\s*\d{1,6})*\s*$/.test(text)) return null;
  const numbers = text.split(',').map(Number);
  return numbers.length <= 4096 && numbers.every((number) => number >= least) ? numbers : null;
}

type Told = readonly (readonly [message: string, value: Sourced<unknown>])[];

function related(values: Told) {
  return values.flatMap(([message, value]) => {
    const range = rangeOf(value);
    return range === null ? [] : [{ message: `${message} ${value.value}`, range }];
  });
}

/** Layers per stage as a list: as long as the pipeline, and as many layers as the model has. */
function byList(plan: Plan, flag: Flag, { flags }: Launch): Plan {
  const place = flag.values[0]?.range ?? flag.range;
  const counts = listOf(flag.values[0], 0);
  if (counts === null)
    return {
      ...plan,
      stages: unknown(`the layers of each stage: ${flag.values[0]?.missing ?? flag.spelled}`, undefined, place),
    };
  // The list stands in place of an even division.
  const findings: Finding[] = plan.findings.filter(({ code }) => code !== 'layers-not-divisible');
  const pp = plan.pp.value;
  const refuse = (message: string, values: Told) =>
    findings.push(finding('split-invalid', message, place, related(values)));
  const sizes: Told = [['pipeline-model-parallel-size', plan.pp]];
  if (pp !== null && counts.length !== pp)
    refuse(
      `len(args.num_layer_list) != args.pipeline_model_parallel_size (${counts.length} stages in the list, pipeline_model_parallel_size ${pp})`,
      sizes,
    );
  else if (pp === 1) refuse('Dynamic pipeline model should work with pipeline parallel.', sizes);
  const sum = counts.reduce((all, count) => all + count, 0);
  const layers = plan.model.layers.value;
  if (layers !== null && sum !== layers)
    refuse(`${flag.spelled} builds ${sum} layers, but --num-layers is ${layers}`, [['num-layers', plan.model.layers]]);
  if (flags.byName.has('num-layers-per-virtual-pipeline-stage')) {
    findings.push(
      finding(
        'options-conflict',
        'Dynamic pipeline model and virtual pipeline cannot be enabled at the same time.',
        place,
      ),
    );
  }
  if (pp === null || counts.length !== pp)
    return { ...plan, stages: unknown('one number of layers for each stage', undefined, place), findings };
  const mtp = plan.stages.value?.at(-1)?.mtp ?? 0;
  const stages = counts.map((count, s) => ({
    layers: count,
    embedding: s === 0,
    head: s === pp - 1,
    mtp: s === pp - 1 ? mtp : 0,
  }));
  return {
    ...plan,
    vpp: derived(1, `one stage per rank with ${flag.spelled}`, ['stages']),
    stages: fromText(stages, place),
    findings,
  };
}

function bySchedule(plan: Plan, flag: Flag, launch: Launch): Plan {
  const value = flag.values[0];
  const place: TextRange = value?.range ?? flag.range;
  if (value?.text == null || value.maybe !== null || flag.maybe !== null)
    return {
      ...plan,
      schedule: unknown(`the schedule: ${value?.missing ?? flag.spelled}`, 'pipeline.schedule', place),
    };
  if (value.text !== 'dualpipev') {
    const message = `argument ${flag.spelled}: invalid choice: '${value.text.slice(0, 40)}' (choose from 'dualpipev')`;
    return {
      ...plan,
      schedule: unknown('a schedule that MindSpeed-LLM has', 'pipeline.schedule', place),
      findings: [...plan.findings, finding('unknown-schedule', message, place)],
    };
  }
  return dualPipeV(plan, launch, place);
}

/** Flags that DualPipeV excludes, with the words against each. */
const EXCLUDED: Readonly<Record<string, string>> = {
  'num-layer-list': 'Dynamic pipeline model and dualpipev cannot be enabled at the same time.',
  'num-layers-per-virtual-pipeline-stage': 'The dualpipev and virtual_pipeline are incompatible.',
  'overlap-grad-reduce': 'The dualpipev and overlap_grad_reduce are incompatible.',
  'swap-attention': 'The dualpipev and swap_attention are incompatible.',
  'tp-2d': 'The dualpipev and tp_2d are incompatible.',
};

function dualPipeV(plan: Plan, { flags }: Launch, place: TextRange): Plan {
  const findings: Finding[] = plan.findings.filter(({ code }) => code !== 'layers-not-divisible');
  const told = [{ message: 'with this schedule', range: place }];
  for (const [name, message] of Object.entries(EXCLUDED)) {
    const other = flags.byName.get(name);
    if (other !== undefined && other.maybe === null)
      findings.push(finding('options-conflict', message, other.range, told));
  }
  if (!flags.byName.has('untie-embeddings-and-output-weights') && flags.open.length === 0) {
    findings.push(finding('options-conflict', 'The dualpipev requires untie_embeddings_and_output_weights.', place));
  }
  const cp = rangeOf(plan.cp);
  if (plan.cp.value !== null && plan.cp.value > 1)
    findings.push(
      finding('options-conflict', 'The dualpipev and context_parallel are incompatible.', cp ?? place, told),
    );
  const [pp, layers] = [plan.pp.value, plan.model.layers.value];
  const schedule = fromText('dualpipev' as const, place);
  const vpp = derived(2, 'DualPipeV: two chunks on each rank', ['schedule']);
  if (pp === 1)
    findings.push(
      finding(
        'schedule-not-legal',
        'pipeline_model_parallel_size should be larger than 1 with dualpipev schedules',
        place,
        related([['pipeline-model-parallel-size', plan.pp]]),
      ),
    );
  if (pp === null || layers === null || pp * 2 > 65_536)
    return {
      ...plan,
      schedule,
      vpp,
      stages: plan.stages.value === null ? plan.stages : unknown('the layers of each stage'),
      findings,
    };
  const values: Told = [
    ['num-layers', plan.model.layers],
    ['pipeline-model-parallel-size', plan.pp],
  ];
  const at = rangeOf(plan.model.layers) ?? place;
  if (layers < 2 * pp) {
    findings.push(
      finding(
        'layers-not-divisible',
        `number of layers must be at least 2*pipeline_model_parallel_size in dualpipe (${layers} layers, pipeline_model_parallel_size ${pp})`,
        at,
        related(values),
      ),
    );
  } else if (layers % (2 * pp) !== 0) {
    const built = Math.floor(layers / pp / 2) * 2 * pp;
    findings.push(
      finding(
        'layers-not-divisible',
        `${layers} layers do not divide over ${2 * pp} chunks: ${built} are built, ${layers - built} are dropped`,
        at,
        related(values),
      ),
    );
  }
  const mtp = plan.stages.value?.reduce((all, stage) => all + stage.mtp, 0) ?? 0;
  const stages = derived(dualPipeVStages(layers, pp, mtp), `${layers} layers / ${pp} ranks / 2 chunks`, [
    'layers',
    'pp',
  ]);
  return { ...plan, schedule, vpp, stages, findings };
}

export const mindspeedLlm: Reader = {
  id: 'mindspeed-llm',
  title: 'MindSpeed-LLM launch scripts',
  files: SHELL_GLOBS,
  parsers: [],
  claims,
  read: (path, texts, said) => readScript(path, texts, said, DIALECT),
  edits: (texts, plan, change) => scriptEdits(texts, plan, change, DIALECT),
  completions: (_path, text, offset) => flagCompletions(text, offset, DIALECT),
};
