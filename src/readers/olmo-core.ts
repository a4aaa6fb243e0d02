/**
 * OLMo-core training scripts with `TransformerPipelineParallelConfig(degree=…)`. Batches are counted in tokens: the
 * microbatches of a drain are the global batch over the data-parallel size and the rank's microbatch. Mirrors
 * allenai/OLMo-core@fa6c5014c src/olmo_core/train/train_module/transformer/{config,pipeline_train_module}.py.
 */

import { OLMO_CORE } from '../frameworks/olmo-core.ts';
import { type TorchSchedule, torchName, torchSchedule, unknownTorchSchedule } from '../frameworks/torch-names.ts';
import { titanSplit } from '../frameworks/torchtitan-split.ts';
import type { Change, Finding } from '../model/finding.ts';
import type { Plan, Said, StageContent } from '../model/plan.ts';
import type { Reader, Reading, Texts } from '../model/reading.ts';
import { SCHEDULE_IDS } from '../model/schedule.ts';
import { byDefault, derived, firstUnknown, fromText, rangeOf, type Sourced, unknown } from '../model/source.ts';
import { finding } from './limits.ts';
import { olmoModel } from './olmo-core/model.ts';
import { openParts, saidSchedule } from './plan-base.ts';
import { type Edits, setPart } from './python/edits.ts';
import { type Program, readProgram } from './python/program.ts';
import { recipeAnchor } from './python/recipes.ts';
import { besideSite, type Site, sitesOf } from './python/sites.ts';
import { treeOf } from './python/tree.ts';
import { lastPart, type PyObject, partAt, textOf } from './python/value.ts';
import { saidNumber } from './said.ts';
import { NOTHING, type TreeNode } from './tree.ts';
import { numberAt, WHOLE } from './values.ts';

const CALL = /^(?:Transformer)?PipelineParallelConfig$/;
const OWN = /\bolmo_core\b/;

function claims(path: string, text: string): boolean {
  if (!path.endsWith('.py') || !text.includes('PipelineParallelConfig(')) return false;
  return text.length < 1_200_000 && OWN.test(text.slice(0, 400_000));
}

interface Parts {
  readonly program: Program;
  readonly site: Site;
  readonly pipeline: TreeNode;
  readonly train: PyObject | null;
  readonly loader: PyObject | null;
  readonly data: PyObject | null;
  readonly model: PyObject | null;
  readonly said: Said;
  readonly findings: Finding[];
}

function partsOf(program: Program, site: Site, said: Said): Parts {
  const { object } = site.record;
  const holder = besideSite(program, site, (each) => [...each.fields.values()].some(({ value }) => value === object));
  const has = (key: string) => besideSite(program, site, (each) => each.fields.has(key));
  return {
    program,
    site,
    pipeline: treeOf(object),
    train: holder ?? has('rank_microbatch_size'),
    loader: has('global_batch_size'),
    data: has('sequence_length'),
    model: besideSite(program, site, (each) => /\bTransformerConfig\.\w+$/.test(each.callee)),
    said,
    findings: [],
  };
}

function numberIn(
  object: PyObject | null,
  path: string,
  absent: Sourced<number>,
  findings: Finding[],
): Sourced<number> {
  return numberAt(object === null ? NOTHING : treeOf(object), path, WHOLE, absent, findings);
}

function read(path: string, texts: Texts, said: Said): Reading {
  const program = readProgram(path, texts[path] ?? '');
  if (program === null) return { plans: [], problems: [], needs: [] };
  const plans = sitesOf(program, CALL).map((site) => planOf(partsOf(program, site, said)));
  return { plans, problems: [], needs: [] };
}

function planOf(parts: Parts): Plan {
  const { program, site, said, findings } = parts;
  const anchor = recipeAnchor(site.recipe, program, ['degree']);
  const degree = numberAt(
    parts.pipeline,
    'degree',
    WHOLE,
    unknown('the pipeline size (degree)', 'pipeline.size'),
    findings,
  );
  const pp = saidNumber(said, 'pipeline.size', degree);
  const sizes = sizesOf(parts, pp);
  const chosen = scheduleOf(parts, pp);
  const model = olmoModel(parts.model, said, parts.train);
  const split = splitOf(parts, pp, model.layers, chosen.torch);
  const batch = batchOf(parts, sizes.dp);
  if (partAt(parts.model ?? undefined, 'tie_word_embeddings')?.kind === 'scalar' && pp.value !== null && pp.value > 1) {
    checkTied(parts, anchor);
  }
  return {
    id: site.id,
    name: site.recipe.fn?.name ?? program.file.replace(/^.*\//, '').replace(/\.py$/, ''),
    framework: 'olmo-core',
    anchor,
    pp,
    ...sizes,
    vpp: split.vpp,
    schedule: chosen.schedule,
    groupSize: groupSize(chosen.schedule, pp, split.vpp, batch.microbatches),
    ...batch,
    stages: split.stages,
    model,
    ...openParts('torch'),
    findings,
  };
}

function checkTied({ model, findings }: Parts, anchor: Plan['anchor']): void {
  const tied = partAt(model ?? undefined, 'tie_word_embeddings');
  if (tied?.kind !== 'scalar' || tied.value !== true) return;
  const message = 'Pipeline parallelism with tied word embeddings is not supported';
  findings.push(finding('options-conflict', message, tied.range, [{ message: 'pipeline degree', range: anchor }]));
}

type Sizes = Pick<Plan, 'tp' | 'cp' | 'ep' | 'dp' | 'gpus'>;

function sizesOf({ train, said, findings }: Parts, pp: Sourced<number>): Sizes {
  const degree = (key: string, say: string) =>
    saidNumber(said, say, numberIn(train, `${key}.degree`, byDefault(1, `OLMo-core: 1 without ${key}`), findings));
  const tp = degree('tp_config', 'parallel.tensor');
  const cp = degree('cp_config', 'parallel.context');
  const ep = degree('ep_config', 'parallel.expert');
  const gpus = saidNumber(said, 'cluster.gpus', unknown('the GPU count, which torchrun gives', 'cluster.gpus'));
  return { tp, cp, ep, gpus, dp: saidNumber(said, 'parallel.data', dataParallel({ pp, tp, cp }, gpus, findings)) };
}

function dataParallel(
  { pp, tp, cp }: { readonly pp: Sourced<number>; readonly tp: Sourced<number>; readonly cp: Sourced<number> },
  gpus: Sourced<number>,
  findings: Finding[],
): Sourced<number> {
  const missing = firstUnknown([gpus, pp, tp, cp]);
  if (gpus.value === null || pp.value === null || tp.value === null || cp.value === null) {
    return missing ?? unknown('the data-parallel size', 'parallel.data');
  }
  const model = pp.value * tp.value * cp.value;
  if (gpus.value % model === 0) {
    return derived(gpus.value / model, `${gpus.value} / (${pp.value} x ${tp.value} x ${cp.value})`, [
      'gpus',
      'pp',
      'tp',
      'cp',
    ]);
  }
  const range = rangeOf(pp) ?? rangeOf(tp);
  const message = `the world size (${gpus.value}) must be divisible by PP x TP x CP (${model})`;
  if (range !== null) findings.push(finding('world-size-not-divisible', message, range));
  return unknown(`a GPU count that ${model} divides`, 'cluster.gpus');
}

/** `PipelineScheduleType` of src/olmo_core/distributed/parallel/pipeline_parallel.py. */
const TYPES: Readonly<Record<string, string>> = {
  single_1F1B: '1F1B',
  interleaved_1F1B: 'Interleaved1F1B',
  gpipe: 'GPipe',
  looped_bfs: 'LoopedBFS',
  interleaved_zero_bubble: 'InterleavedZeroBubble',
  zbv_zero_bubble: 'ZBVZeroBubble',
};

function typeNamed(name: string): string | null {
  return Object.hasOwn(TYPES, name) ? TYPES[name]! : null;
}

interface Chosen {
  readonly schedule: Plan['schedule'];
  readonly torch: TorchSchedule | null;
}

function scheduleOf({ site, said, findings }: Parts, pp: Sourced<number>): Chosen {
  const value = partAt(site.record.object, 'schedule');
  const said_ = saidSchedule(said);
  if (said_ !== null) {
    const single = said_.value === '1f1b' || said_.value === 'gpipe';
    return {
      schedule: said_,
      torch: { name: String(said_.value), id: said_.value, stagesPerRank: single ? 'one' : 'many' },
    };
  }
  const named = value?.kind === 'object' ? typeNamed(lastPart(value.callee)) : textOf(value);
  const name = value === undefined ? 'Interleaved1F1B' : named;
  const torch = name === null ? null : torchSchedule(name);
  if (pp.value === 1) return { schedule: derived('none', 'pipeline size 1', ['pp']), torch };
  const range = value !== undefined && 'range' in value ? value.range : null;
  if (torch === null || torch.id === null) {
    if (name !== null && range !== null) findings.push(finding('unknown-schedule', unknownTorchSchedule(name), range));
    return { schedule: unknown('the schedule', 'pipeline.schedule', range ?? undefined), torch: null };
  }
  const why = 'OLMo-core: interleaved 1F1B when no schedule is given';
  return { schedule: range === null ? byDefault(torch.id, why) : fromText(torch.id, range, torch.name), torch };
}

interface Split {
  readonly vpp: Sourced<number>;
  readonly stages: Sourced<readonly StageContent[]>;
}

function splitOf(
  { site, said, findings }: Parts,
  pp: Sourced<number>,
  layers: Sourced<number>,
  torch: TorchSchedule | null,
): Split {
  const nothing = unknown('the schedule', 'pipeline.schedule');
  if (pp.value === null) return { vpp: pp, stages: pp };
  const points = partAt(site.record.object, 'split_points');
  if (points?.kind === 'list') {
    const bounds = points.items.map((each) =>
      each.kind === 'scalar' && typeof each.value === 'number' ? each.value : null,
    );
    return bySplitPoints({ pp: pp.value, layers, bounds, range: points.range }, findings);
  }
  if (torch === null) return { vpp: nothing, stages: nothing };
  const single = torch.stagesPerRank === 'one';
  const perRank = byDefault(single ? 1 : 2, `OLMo-core: ${single ? '1 stage' : '2 stages'} per rank for ${torch.name}`);
  const vpp = saidNumber(said, 'pipeline.virtualStages', pp.value === 1 ? derived(1, 'no pipeline', ['pp']) : perRank);
  if (layers.value === null || vpp.value === null) return { vpp, stages: layers.value === null ? layers : nothing };
  if (pp.value * vpp.value > layers.value) {
    const message = `Total stages cannot be greater than the number of layers (${pp.value * vpp.value} > ${layers.value})`;
    const range = rangeOf(pp) ?? site.record.object.range;
    findings.push(finding('split-invalid', message, range));
    return { vpp, stages: unknown('a split that OLMo-core accepts') };
  }
  const split = titanSplit('even', pp.value * vpp.value, layers.value, 0, 0);
  if ('code' in split) return { vpp, stages: unknown('a split that OLMo-core accepts') };
  return {
    vpp,
    stages: derived(contents(split), `OLMo-core's own split of ${layers.value} layers`, ['layers', 'pp', 'vpp']),
  };
}

function contents(layers: readonly number[]): readonly StageContent[] {
  return layers.map((count, s) => ({ layers: count, embedding: s === 0, head: s === layers.length - 1, mtp: 0 }));
}

interface Points {
  readonly pp: number;
  readonly layers: Sourced<number>;
  readonly bounds: readonly (number | null)[];
  readonly range: Plan['anchor'];
}

function bySplitPoints({ pp, layers, bounds, range }: Points, findings: Finding[]): Split {
  const count = bounds.length + 1;
  const bad = (message: string): Split => {
    findings.push(finding('split-invalid', message, range));
    return { vpp: unknown('a legal split', undefined, range), stages: unknown('a legal split', undefined, range) };
  };
  if (count % pp !== 0) return bad(`num_stages ${count} must be evenly divisible by pipeline size ${pp}`);
  const vpp = derived(count / pp, `${count} stages / ${pp} ranks`, ['stages', 'pp']);
  if (bounds.includes(null)) return { vpp, stages: unknown('the split points', undefined, range) };
  const known = bounds as readonly number[];
  if (known.some((each, i) => each < 0 || each <= (known[i - 1] ?? -1))) {
    return bad('split_points takes unique, increasing block indices');
  }
  if (layers.value === null) return { vpp, stages: layers };
  if (known.some((each) => each > layers.value!)) return bad(`split_points go beyond the ${layers.value} layers`);
  const edges = [0, ...known, layers.value];
  return { vpp, stages: fromText(contents(edges.slice(1).map((end, s) => end - edges[s]!)), range, 'split points') };
}

type Batch = Pick<Plan, 'microbatches' | 'microBatchSize' | 'globalBatchSize' | 'sequenceLength'>;

function batchOf({ train, loader, data, said, findings }: Parts, dp: Sourced<number>): Batch {
  const missing = (what: string, say: string) => unknown(what, say);
  const sequence = numberIn(
    train,
    'max_sequence_length',
    numberIn(data, 'sequence_length', missing('the sequence length', 'model.sequence'), findings),
    findings,
  );
  const micro = numberIn(
    train,
    'rank_microbatch_size',
    missing('the microbatch (rank_microbatch_size)', 'batch.micro'),
    findings,
  );
  const global = numberIn(
    loader,
    'global_batch_size',
    missing('the global batch (global_batch_size)', 'batch.global'),
    findings,
  );
  if (micro.value !== null && sequence.value !== null && micro.value % sequence.value !== 0) {
    const message = `'rank_microbatch_size' (${micro.value} tokens) must be divisible by 'max_sequence_length' (${sequence.value} tokens)`;
    refuseBatch(findings, message, micro, sequence);
  }
  return {
    sequenceLength: saidNumber(said, 'model.sequence', sequence),
    microBatchSize: saidNumber(said, 'batch.micro', samples(micro, sequence)),
    globalBatchSize: saidNumber(said, 'batch.global', samples(global, sequence)),
    microbatches: saidNumber(said, 'pipeline.microbatches', count(global, micro, dp, findings)),
  };
}

function samples(tokens: Sourced<number>, sequence: Sourced<number>): Sourced<number> {
  if (tokens.value === null || sequence.value === null) return firstUnknown([tokens, sequence])!;
  const whole = tokens.value / sequence.value;
  if (!Number.isSafeInteger(whole)) return unknown(`whole sequences in ${tokens.value} tokens`);
  const how = `${tokens.value} tokens / ${sequence.value} of a sequence`;
  const range = rangeOf(tokens);
  return range === null ? derived(whole, how, ['sequenceLength']) : fromText(whole, range, how);
}

function count(
  global: Sourced<number>,
  micro: Sourced<number>,
  dp: Sourced<number>,
  findings: Finding[],
): Sourced<number> {
  if (global.value === null || micro.value === null || dp.value === null) return firstUnknown([global, micro, dp])!;
  const pass = micro.value * dp.value;
  const how = `${global.value} tokens / (dp ${dp.value} x ${micro.value})`;
  if (global.value % pass === 0) return derived(global.value / pass, how, ['globalBatchSize', 'microBatchSize', 'dp']);
  const message = `global batch size (${global.value}) must be divisible by micro-batch size (${micro.value}) x DP world size (${dp.value})`;
  refuseBatch(findings, message, global, micro);
  return unknown('a global batch that divides', 'batch.global');
}

function refuseBatch(findings: Finding[], message: string, first: Sourced<number>, other: Sourced<number>): void {
  const [range, second] = [rangeOf(first), rangeOf(other)];
  if (range === null) return;
  findings.push(
    finding(
      'batch-not-divisible',
      message,
      range,
      second === null ? [] : [{ message: String(other.value), range: second }],
    ),
  );
}

function groupSize(
  schedule: Plan['schedule'],
  pp: Sourced<number>,
  vpp: Sourced<number>,
  microbatches: Sourced<number>,
): Sourced<number> {
  const id = schedule.value;
  if (id !== 'interleaved-1f1b' && id !== 'interleaved-zb') return unknown('a group size: the schedule has no groups');
  if (pp.value === null || vpp.value === null || microbatches.value === null) return unknown('the microbatches');
  const request = { schedule: id, pp: pp.value, vpp: vpp.value, microbatches: microbatches.value, groupSize: null };
  return derived(OLMO_CORE.defaultGroupSize(request), 'torch: rounds of whole pipelines', ['microbatches', 'pp']);
}

function edits(texts: Texts, plan: Plan, { key, value }: Change): Edits {
  const { file } = plan.anchor;
  const program = texts[file] === undefined ? null : readProgram(file, texts[file]);
  const site = program === null ? undefined : sitesOf(program, CALL).find(({ id }) => id === plan.id);
  if (program === null || site === undefined) return null;
  const parts = partsOf(program, site, {});
  const set = (object: PyObject | null, path: string, literal: string): Edits =>
    object === null
      ? null
      : setPart({ program, recipe: { ...site.recipe, root: object }, isShared: () => false }, path, literal);
  if (key === 'pipeline.schedule') {
    const id = SCHEDULE_IDS.find((each) => each === value);
    const name = id === undefined ? null : torchName(id);
    const type = Object.keys(TYPES).find((each) => TYPES[each] === name);
    const written = partAt(site.record.object, 'schedule');
    if (type === undefined) return null;
    if (written?.kind !== 'object')
      return set(site.record.object, 'schedule', written === undefined ? `PipelineScheduleType.${type}` : `"${name}"`);
    const { offset, length } = written.range;
    return [{ file, offset, length, text: type }];
  }
  const number = Number(value);
  const sequence = plan.sequenceLength.value;
  if (!Number.isSafeInteger(number) || number < 1) return null;
  switch (key) {
    case 'pipeline.size':
      return set(site.record.object, 'degree', String(number));
    case 'batch.global':
      return sequence === null ? null : set(parts.loader, 'global_batch_size', String(number * sequence));
    case 'batch.micro':
      return sequence === null ? null : set(parts.train, 'rank_microbatch_size', String(number * sequence));
    case 'pipeline.microbatches': {
      const { microBatchSize: micro, dp } = plan;
      if (micro.value === null || dp.value === null || sequence === null) return null;
      return set(parts.loader, 'global_batch_size', String(number * micro.value * dp.value * sequence));
    }
    default:
      return null;
  }
}

export const olmoCore: Reader = {
  id: 'olmo-core',
  title: 'OLMo-core training scripts',
  files: ['**/*.py'],
  parsers: ['python'],
  claims,
  read,
  edits,
};
