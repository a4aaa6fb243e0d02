/**
 * Colossal-AI scripts with `HybridParallelPlugin(pp_size=…)`. The batch is what the plugin's data loader is given, per
 * data-parallel rank. Mirrors hpcaitech/ColossalAI@4f9953be3 colossalai/booster/plugin/hybrid_parallel_plugin.py.
 */

import { colossalSplit } from '../frameworks/colossal-ai.ts';
import type { Change, Finding } from '../model/finding.ts';
import type { Plan, Said, StageContent } from '../model/plan.ts';
import type { Reader, Reading, Texts } from '../model/reading.ts';
import type { ScheduleId } from '../model/schedule.ts';
import { byDefault, derived, firstUnknown, fromText, rangeOf, type Sourced, unknown } from '../model/source.ts';
import { colossalModel } from './colossal-ai/model.ts';
import { finding } from './limits.ts';
import { openParts, saidSchedule } from './plan-base.ts';
import { type Edits, setPart } from './python/edits.ts';
import { type Program, readProgram } from './python/program.ts';
import { recipeAnchor } from './python/recipes.ts';
import { besideSite, type Site, sitesOf } from './python/sites.ts';
import { treeOf } from './python/tree.ts';
import { lastPart, type PyObject, partAt } from './python/value.ts';
import { saidNumber } from './said.ts';
import { NOTHING, type TreeNode } from './tree.ts';
import { booleanAt, choiceAt, numberAt, WHOLE, WHOLE_OR_ZERO } from './values.ts';

const CALL = /^(?:Moe)?HybridParallelPlugin$/;
const OWN = /\bcolossalai\b/;
const STYLES = ['1f1b', 'interleaved', 'zbv'] as const;

function claims(path: string, text: string): boolean {
  if (!path.endsWith('.py') || !text.includes('HybridParallelPlugin(')) return false;
  return text.length < 1_200_000 && OWN.test(text.slice(0, 400_000)) && /\bpp_size\s*=/.test(text);
}

interface Parts {
  readonly program: Program;
  readonly site: Site;
  readonly plugin: TreeNode;
  readonly loader: PyObject | null;
  readonly said: Said;
  readonly findings: Finding[];
}

function partsOf(program: Program, site: Site, said: Said): Parts {
  const loader = besideSite(
    program,
    site,
    (each) => lastPart(each.callee) === 'prepare_dataloader' && each.fields.has('batch_size'),
  );
  return { program, site, plugin: treeOf(site.record.object), loader, said, findings: [] };
}

function read(path: string, texts: Texts, said: Said): Reading {
  const program = readProgram(path, texts[path] ?? '');
  if (program === null) return { plans: [], problems: [], needs: [] };
  const sites = sitesOf(program, CALL).filter(({ record }) => partAt(record.object, 'pp_size') !== undefined);
  return { plans: sites.map((site) => planOf(partsOf(program, site, said))), problems: [], needs: [] };
}

function planOf(parts: Parts): Plan {
  const { program, site, plugin, said, findings } = parts;
  const anchor = recipeAnchor(site.recipe, program, ['pp_size']);
  const size = (key: string, say: string) =>
    saidNumber(said, say, numberAt(plugin, key, WHOLE, byDefault(1, `Colossal-AI: ${key} is 1 when absent`), findings));
  const pp = size('pp_size', 'pipeline.size');
  const tp = size('tp_size', 'parallel.tensor');
  const cp = size('sp_size', 'parallel.context');
  const ep = size('ep_size', 'parallel.expert');
  const gpus = saidNumber(said, 'cluster.gpus', unknown('the GPU count, which the launcher gives', 'cluster.gpus'));
  const dp = saidNumber(
    said,
    'parallel.data',
    dataParallel({ pp, tp, cp: ranksOfSequence(plugin, cp) }, gpus, findings),
  );
  const style = styleOf(parts, pp);
  const chunks = saidNumber(said, 'pipeline.virtualStages', chunksOf(parts, pp, style.name));
  const model = colossalModel(program, site, said);
  const batch = batchOf(parts, { pp, dp });
  checkPlugin(parts, { pp, chunks, style: style.name, anchor });
  return {
    id: site.id,
    name: site.recipe.fn?.name ?? program.file.replace(/^.*\//, '').replace(/\.py$/, ''),
    framework: 'colossal-ai',
    anchor,
    pp,
    tp,
    cp,
    ep,
    dp,
    gpus,
    vpp: chunks,
    schedule: style.schedule,
    groupSize: pp.value === null ? pp : byDefault(pp.value, 'Colossal-AI: groups of the pipeline size'),
    ...batch,
    sequenceLength: saidNumber(said, 'model.sequence', unknown('the sequence length', 'model.sequence')),
    stages: splitOf(parts, { pp, chunks, layers: model.layers }),
    model,
    ...openParts('Colossal-AI'),
    findings,
  };
}

/** Only all-to-all and ring attention take ranks of their own for the sequence. */
function ranksOfSequence(plugin: TreeNode, sp: Sourced<number>): Sourced<number> {
  const mode = choiceAt(
    plugin,
    'sequence_parallelism_mode',
    ['all_to_all', 'ring_attn', 'ring', 'split_gather'],
    byDefault('all_to_all', ''),
    [],
  );
  return mode.value === 'ring' || mode.value === 'split_gather'
    ? byDefault(1, 'the sequence is split over the tensor-parallel ranks')
    : sp;
}

type Three = { readonly pp: Sourced<number>; readonly tp: Sourced<number>; readonly cp: Sourced<number> };

function dataParallel({ pp, tp, cp }: Three, gpus: Sourced<number>, findings: Finding[]): Sourced<number> {
  if (gpus.value === null || pp.value === null || tp.value === null || cp.value === null) {
    return firstUnknown([gpus, pp, tp, cp]) ?? unknown('the data-parallel size', 'parallel.data');
  }
  if (gpus.value % (tp.value * pp.value) !== 0) {
    const message = `World size ${gpus.value} is not divisible by tp_size ${tp.value} * pp_size ${pp.value}`;
    const range = rangeOf(pp) ?? rangeOf(tp);
    if (range !== null) findings.push(finding('world-size-not-divisible', message, range));
    return unknown('a GPU count that the parallel sizes divide', 'cluster.gpus');
  }
  const dp = Math.floor(gpus.value / (tp.value * pp.value * cp.value));
  return derived(dp, `${gpus.value} / (${tp.value} x ${pp.value} x ${cp.value})`, ['gpus', 'tp', 'pp', 'cp']);
}

interface Style {
  readonly name: Sourced<(typeof STYLES)[number]>;
  readonly schedule: Sourced<ScheduleId>;
}

const SCHEDULES = { '1f1b': '1f1b', interleaved: 'interleaved-1f1b', zbv: 'zbv' } as const;

function styleOf({ plugin, said, findings }: Parts, pp: Sourced<number>): Style {
  const name = choiceAt(
    plugin,
    'pp_style',
    STYLES,
    byDefault('1f1b', 'Colossal-AI: pp_style is 1f1b when absent'),
    findings,
  );
  const given = saidSchedule(said);
  if (given !== null) return { name, schedule: given };
  if (pp.value === 1) return { name, schedule: derived('none', 'pipeline size 1', ['pp']) };
  return { name, schedule: name.value === null ? name : { ...name, value: SCHEDULES[name.value] } };
}

function chunksOf({ plugin, findings }: Parts, pp: Sourced<number>, style: Style['name']): Sourced<number> {
  if (pp.value === 1) return derived(1, 'no pipeline: one stage', ['pp']);
  const absent = byDefault(1, 'Colossal-AI: num_model_chunks is 1 when absent');
  const chunks = numberAt(plugin, 'num_model_chunks', WHOLE, absent, findings);
  return style.value === null && chunks.value === null ? style : chunks;
}

interface Checked {
  readonly pp: Sourced<number>;
  readonly chunks: Sourced<number>;
  readonly style: Style['name'];
  readonly anchor: Plan['anchor'];
}

/** The assertions of the plugin's constructor. */
function checkPlugin({ plugin, findings, program, site }: Parts, { pp, chunks, style, anchor }: Checked): void {
  if (pp.value === null || pp.value === 1) return;
  const refuse = (code: Finding['code'], message: string, at: Sourced<unknown>) =>
    findings.push(
      finding(
        code,
        message,
        rangeOf(at) ?? anchor,
        rangeOf(at) === null ? [] : [{ message: 'pp_size', range: anchor }],
      ),
    );
  if (style.value === '1f1b' && chunks.value !== null && chunks.value !== 1) {
    refuse('schedule-not-legal', 'num_model_chunks must be 1 when using 1f1b', chunks);
  }
  if (style.value === 'zbv' && chunks.value !== null && chunks.value !== 2) {
    refuse('schedule-not-legal', 'num_model_chunks must be 2 when using zero bubble pipeline', chunks);
  }
  if (style.value === 'interleaved' && chunks.value === 1) {
    refuse('schedule-not-legal', 'number of model chunks must be > 1 when using interleaved', chunks);
  }
  const zero = numberAt(plugin, 'zero_stage', WHOLE_OR_ZERO, byDefault(0, ''), []);
  // The plugin for experts takes 2 for 1.
  if (zero.value !== null && zero.value > 1 && lastPart(site.record.object.callee) === 'HybridParallelPlugin') {
    const message =
      'To avoid prohibitive gradient synchronization costs, zero stage must be 0 or 1 when using pipeline parallelism';
    refuse('options-conflict', message, zero);
  }
  const { fields } = site.record.object;
  const spread = /\*\*/.test(program.text.slice(site.record.site, site.record.end));
  const given = ['num_microbatches', 'microbatch_size'].filter((key) => isGiven(fields.get(key)?.value));
  if (given.length === 0 && !spread) {
    const message = 'num_microbatches or microbatch_size must be specified when using pipeline parallelism';
    refuse('missing-value', message, pp);
  }
  // The schedule's own nodes are an argument that zero bubble cannot do without.
  const nodes = booleanAt(plugin, 'scheduler_nodes', unknown(''), []);
  if (style.value === 'zbv' && !fields.has('scheduler_nodes') && !spread && nodes.value === null) {
    refuse('missing-value', 'scheduler_nodes must not be None when using zero bubble pipeline.', style);
  }
}

function isGiven(value: ReturnType<typeof partAt>): boolean {
  return value !== undefined && !(value.kind === 'scalar' && value.value === null);
}

type Batch = Pick<Plan, 'microbatches' | 'microBatchSize' | 'globalBatchSize'>;

function batchOf(parts: Parts, { pp, dp }: { readonly pp: Sourced<number>; readonly dp: Sourced<number> }): Batch {
  const { plugin, loader, said, findings } = parts;
  const absent = unknown('the batch size of the data loader', 'batch.global');
  const local = numberAt(loader === null ? NOTHING : treeOf(loader), 'batch_size', WHOLE, absent, findings);
  const count = numberAt(
    plugin,
    'num_microbatches',
    WHOLE,
    unknown('the number of microbatches', 'pipeline.microbatches'),
    findings,
  );
  const size = numberAt(plugin, 'microbatch_size', WHOLE, unknown('the microbatch size', 'batch.micro'), findings);
  const piped = pp.value !== 1;
  const microbatches = !piped
    ? derived(1, 'no pipeline: the batch runs whole', ['pp'])
    : count.value !== null
      ? count
      : quotient(local, size, 'microbatch_size', findings);
  const micro = !piped
    ? local
    : size.value !== null && count.value === null
      ? size
      : quotient(local, count, 'num_microbatches', findings);
  const global =
    local.value === null || dp.value === null
      ? firstUnknown([local, dp])!
      : derived(local.value * dp.value, `${local.value} x dp ${dp.value}`, ['dp']);
  return {
    microbatches: saidNumber(said, 'pipeline.microbatches', microbatches),
    microBatchSize: saidNumber(said, 'batch.micro', micro),
    globalBatchSize: saidNumber(said, 'batch.global', global),
  };
}

function quotient(local: Sourced<number>, by: Sourced<number>, name: string, findings: Finding[]): Sourced<number> {
  if (local.value === null || by.value === null) return firstUnknown([by, local])!;
  if (local.value % by.value === 0) {
    const how = `batch ${local.value} / ${name} ${by.value}`;
    const range = rangeOf(local) ?? rangeOf(by);
    return range === null ? derived(local.value / by.value, how, []) : fromText(local.value / by.value, range, how);
  }
  const what = name === 'microbatch_size' ? 'the microbatch size' : '# microbatches';
  const range = rangeOf(by) ?? rangeOf(local);
  const message = `Batch size should divided by ${what} (${local.value} % ${by.value} != 0)`;
  if (range !== null) findings.push(finding('batch-not-divisible', message, range));
  return unknown('a batch that divides', 'batch.global');
}

interface SplitInput {
  readonly pp: Sourced<number>;
  readonly chunks: Sourced<number>;
  readonly layers: Sourced<number>;
}

function splitOf({ site, findings }: Parts, { pp, chunks, layers }: SplitInput): Sourced<readonly StageContent[]> {
  if (pp.value === null || chunks.value === null) return firstUnknown([pp, chunks])!;
  const count = pp.value * chunks.value;
  const given = partAt(site.record.object, 'num_layers_per_stage');
  if (given?.kind === 'list') {
    const numbers = given.items.map((each) =>
      each.kind === 'scalar' && typeof each.value === 'number' ? each.value : null,
    );
    if (numbers.includes(null)) return unknown('the layers per stage', undefined, given.range);
    const known = numbers as readonly number[];
    const total = known.reduce((sum, each) => sum + each, 0);
    if (known.length !== pp.value) {
      findings.push(
        finding(
          'split-invalid',
          `num_layers_per_stage has ${known.length} entries for ${pp.value} stages`,
          given.range,
        ),
      );
      return unknown('a legal split', undefined, given.range);
    }
    if (layers.value !== null && total !== layers.value) {
      findings.push(
        finding(
          'split-invalid',
          `num_layers_per_stage adds up to ${total}, the model has ${layers.value} layers`,
          given.range,
        ),
      );
      return unknown('a legal split', undefined, given.range);
    }
    return fromText(contents(known), given.range, 'num_layers_per_stage');
  }
  if (layers.value === null) return layers;
  if (count > 65_536) return unknown('a split that can be listed');
  return derived(
    contents(colossalSplit(layers.value, count)),
    `Colossal-AI: ${layers.value} layers over ${count} stages, what is left in the middle`,
    ['layers', 'pp', 'vpp'],
  );
}

function contents(layers: readonly number[]): readonly StageContent[] {
  return layers.map((count, s) => ({ layers: count, embedding: s === 0, head: s === layers.length - 1, mtp: 0 }));
}

const PLAIN: Readonly<Record<string, string>> = {
  'pipeline.size': 'pp_size',
  'parallel.tensor': 'tp_size',
};

function edits(texts: Texts, plan: Plan, { key, value }: Change): Edits {
  const { file } = plan.anchor;
  const program = texts[file] === undefined ? null : readProgram(file, texts[file]);
  const site = program === null ? undefined : sitesOf(program, CALL).find(({ id }) => id === plan.id);
  const number = Number(value);
  if (program === null || site === undefined || !Number.isSafeInteger(number) || number < 1) return null;
  const set = (object: PyObject | null, path: string, literal: number): Edits =>
    object === null
      ? null
      : setPart({ program, recipe: { ...site.recipe, root: object }, isShared: () => false }, path, String(literal));
  const { object } = site.record;
  const counted = isGiven(partAt(object, 'num_microbatches'));
  if (Object.hasOwn(PLAIN, key)) return set(object, PLAIN[key]!, number);
  const { loader } = partsOf(program, site, {});
  const micro = plan.microBatchSize.value;
  switch (key) {
    case 'pipeline.virtualStages':
      return isGiven(partAt(object, 'num_model_chunks')) ? set(object, 'num_model_chunks', number) : null;
    case 'pipeline.microbatches':
      if (plan.pp.value === 1) return null;
      if (counted) return loader === null ? set(object, 'num_microbatches', number) : null;
      return micro === null ? null : set(loader, 'batch_size', number * micro);
    case 'batch.micro':
      return counted || loader !== null ? null : set(object, 'microbatch_size', number);
    default:
      return null;
  }
}

export const colossalAi: Reader = {
  id: 'colossal-ai',
  title: 'Colossal-AI scripts',
  files: ['**/*.py'],
  parsers: ['python'],
  claims,
  read,
  edits,
};
