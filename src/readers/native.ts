/**
 * The reader of the native format (`*.pipeline.yaml`, `*.pipeline.json`): hand-made plans, measured numbers, and what
 * a framework's own file cannot say. No framework's rules hold here. Every key but `pipeline.size` is optional; what
 * is missing is unknown, not guessed. The format is the table in `native/keys.ts`.
 */

import type { Change, Finding, RelatedPlace, TextEdit } from '../model/finding.ts';
import type { FindingCode } from '../model/finding-codes.ts';
import type { Experts, ModelShape, Plan, Said } from '../model/plan.ts';
import type { Reader, Reading, Texts } from '../model/reading.ts';
import { COMMUNICATION_MODES, SCHEDULE_IDS, type ScheduleId } from '../model/schedule.ts';
import { byDefault, derived, rangeOf, type Sourced, type TextRange, unknown } from '../model/source.ts';
import { finding } from './limits.ts';
import { checkTree } from './native/check.ts';
import { completions } from './native/completion.ts';
import { nativeEdits } from './native/edits.ts';
import { SCHEDULE_FACTS } from './native/schedule-facts.ts';
import { type Sizes, settleSizes } from './native/sizes.ts';
import { readSplit } from './native/split.ts';
import { transferMs } from './native/transfer.ts';
import { nativeTree } from './native/tree.ts';
import { nativeValues, type Values } from './native/values.ts';
import { entryAt, type TreeNode } from './tree.ts';

const BY_NAME = /\.pipeline\.(ya?ml|jsonc?)$/i;
const YAML_CONTENT = /^\uFEFF?(?:\{[ \t]*)?["']?bubblelens["']?[ \t]*:[ \t]*\d/m;
const JSON_CONTENT = /"bubblelens"\s*:\s*\d/;
/** Characters of a file that are looked at for the mark of the format. */
const SNIFFED = 4096;

export const nativeReader: Reader = {
  id: 'native',
  title: 'Bubblelens pipeline file',
  files: ['**/*.pipeline.yaml', '**/*.pipeline.yml', '**/*.pipeline.json', '**/*.pipeline.jsonc'],
  parsers: ['yaml', 'jsonc'],
  claims: claimsNative,
  read: readNative,
  edits: editNative,
  completions,
};

/** By its name, or by `bubblelens: 1` near its start. */
export function claimsNative(path: string, text: string): boolean {
  if (BY_NAME.test(path)) return true;
  if (/\.ya?ml$/i.test(path)) return YAML_CONTENT.test(text.slice(0, SNIFFED));
  return /\.jsonc?$/i.test(path) && JSON_CONTENT.test(text.slice(0, SNIFFED));
}

/** A change that would leave the file with more errors than it has is one that the file cannot express. */
function editNative(texts: Texts, plan: Plan, change: Change): readonly TextEdit[] | null {
  const { file } = plan.anchor;
  const text = texts[file];
  if (text === undefined) return null;
  const { root, problems } = nativeTree(file, text);
  if (problems.some((problem) => problem.code === 'syntax-error')) return null;
  const edits = nativeEdits(file, text, root, plan, change);
  if (edits === null) return null;
  const after = [...edits]
    .sort((a, b) => b.offset - a.offset)
    .reduce((result, edit) => result.slice(0, edit.offset) + edit.text + result.slice(edit.offset + edit.length), text);
  const was = errorCount(readNative(file, { [file]: text }, {}));
  return errorCount(readNative(file, { [file]: after }, {})) > was ? null : edits;
}

function errorCount({ plans, problems }: Reading): number {
  const findings = [...problems, ...plans.flatMap((plan) => plan.findings)];
  return findings.filter((each) => each.severity === 'error').length;
}

function readNative(path: string, texts: Texts, said: Said): Reading {
  const text = texts[path];
  if (text === undefined) return { plans: [], problems: [], needs: [path] };
  const tree = nativeTree(path, text);
  const checked = checkTree(tree.root);
  const anchor = anchorOf(tree.root, path);
  const values = nativeValues(checked, said, anchor);
  const plan = planOf({ path, root: tree.root, anchor, checked, values });
  const isMap = tree.root.kind === 'map';
  const problems = [...tree.problems, ...checked.findings, ...values.findings];
  if (isMap) return { plans: [plan], problems, needs: [] };
  const missing = problems.length === 0 ? plan.findings.filter(({ code }) => code === 'missing-value') : [];
  return { plans: [], problems: [...problems, ...missing], needs: [] };
}

/** The pipeline size, else the nearest thing to it that the file has. */
function anchorOf(root: TreeNode, file: string): TextRange {
  const entry = entryAt(root, 'pipeline.size');
  if (entry !== null && entry.value.kind === 'scalar' && entry.value.value !== null) return entry.value.range;
  if (entry !== null) return entry.keyRange;
  const pipeline = entryAt(root, 'pipeline');
  if (pipeline !== null) return pipeline.keyRange;
  const first = root.kind === 'map' ? root.entries.values().next().value : undefined;
  return first?.keyRange ?? { file, offset: 0, length: 0 };
}

interface Source {
  readonly path: string;
  readonly root: TreeNode;
  readonly anchor: TextRange;
  readonly checked: ReturnType<typeof checkTree>;
  readonly values: Values;
}

function writtenSizes({ number }: Values): Sizes {
  return {
    pp: number('pipeline.size', 'the pipeline size'),
    tp: number('parallel.tensor', 'the tensor parallel size'),
    cp: number('parallel.context', 'the context parallel size'),
    dp: number('parallel.data', 'the data parallel size'),
    gpus: number('cluster.gpus', 'the GPU count'),
    microBatchSize: number('batch.micro', 'the micro batch size'),
    globalBatchSize: number('batch.global', 'the global batch size'),
    microbatches: number('pipeline.microbatches', 'the number of microbatches'),
  };
}

function planOf({ path, root, anchor, checked, values }: Source): Plan {
  const { number, text } = values;
  const settled = settleSizes(writtenSizes(values), anchor);
  const { sizes } = settled;
  const schedule = scheduleOf(values, sizes.pp);
  const listEntry = entryAt(root, 'stages');
  const list = listEntry?.value.kind === 'list' ? listEntry.value : null;
  const vpp = virtualStages(values, schedule, sizes.pp, list?.items.length ?? null);
  const split = readSplit({
    pp: sizes.pp,
    vpp,
    layers: number('model.layers', 'the number of layers'),
    list,
    listKeyRange: listEntry?.keyRange ?? anchor,
    anchor,
    checked,
  });
  const name = text('name', 'a name').value;
  const transfer = transferMs(values);
  return {
    id: 'main',
    name: name ?? baseName(path),
    framework: null,
    anchor,
    ...sizes,
    vpp,
    ep: number('parallel.expert', 'the expert parallel size'),
    schedule,
    groupSize: groupSize(values, schedule, sizes.pp, sizes.microbatches),
    sequenceLength: number('model.sequence', 'the sequence length'),
    communication: communicationOf(values),
    stages: split.stages,
    model: modelOf(values, split.layers, entryAt(root, 'model.experts') !== null),
    cluster: {
      gpu: text('cluster.gpu', 'the kind of GPU'),
      gpusPerNode: number('cluster.gpusPerNode', 'the GPUs of one machine'),
      usdPerGpuHour: number('cluster.usdPerGpuHour', 'the price of a GPU hour'),
    },
    run: {
      steps: number('run.steps', 'the length of the run'),
      tokens: number('run.tokens', 'the tokens of the run'),
    },
    stageTimes: split.stageTimes,
    transferMs: transfer.value,
    measuredStepMs: number('measured.stepMs', 'a measured step'),
    findings: [
      ...missingSize(sizes.pp, anchor),
      ...settled.findings,
      ...scheduleConflicts(values, schedule, sizes.pp, vpp),
      ...split.findings,
      ...transfer.findings,
    ],
  };
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(BY_NAME, '');
}

function missingSize(pp: Sourced<number>, anchor: TextRange): readonly Finding[] {
  const absent = pp.value === null && pp.source.range === undefined;
  return absent ? [finding('missing-value', 'pipeline.size is missing: the one key that a plan needs', anchor)] : [];
}

function scheduleOf(values: Values, pp: Sourced<number>): Sourced<ScheduleId> {
  const written = values.choice('pipeline.schedule', SCHEDULE_IDS, 'the schedule');
  const absent = written.value === null && written.source.range === undefined;
  return absent && pp.value === 1 ? derived('none', 'a pipeline of size 1 has no schedule', ['pp']) : written;
}

/** As written; else what the schedule's name tells; else what the length of the stage list tells. */
function virtualStages(
  values: Values,
  schedule: Sourced<ScheduleId>,
  pp: Sourced<number>,
  listed: number | null,
): Sourced<number> {
  const written = values.number('pipeline.virtualStages', 'the virtual stages of a rank');
  if (written.value !== null || written.source.range !== undefined) return written;
  const each = schedule.value === null ? null : SCHEDULE_FACTS[schedule.value].stagesPerRank;
  if (each === 1) return byDefault(1, `${schedule.value}: one stage on each rank`);
  if (each === 2) return byDefault(2, `${schedule.value}: exactly two stages on each rank`);
  if (listed === null || listed === 0 || pp.value === null || listed % pp.value !== 0) {
    return schedule.value === null ? unknown('the schedule', 'pipeline.schedule') : written;
  }
  return derived(listed / pp.value, `${listed} stages / ${pp.value} ranks`, ['stages', 'pp']);
}

/** Only interleaved 1F1B has a customary size: as many microbatches as ranks (Narayanan et al. 2021). */
function groupSize(
  values: Values,
  schedule: Sourced<ScheduleId>,
  pp: Sourced<number>,
  microbatches: Sourced<number>,
): Sourced<number> {
  const written = values.number('pipeline.groupSize', 'the microbatch group size');
  if (written.value !== null || written.source.range !== undefined) return written;
  if (schedule.value !== 'interleaved-1f1b' || pp.value === null || microbatches.value === null) return written;
  return byDefault(Math.min(pp.value, microbatches.value), 'groups of as many microbatches as there are ranks');
}

function communicationOf(values: Values): Plan['communication'] {
  const written = values.choice('pipeline.communication', COMMUNICATION_MODES, 'the communication mode');
  const absent = written.value === null && written.source.range === undefined;
  return absent ? byDefault('async', 'without a mode, sends do not block') : written;
}

/** A name that says something else than the numbers beside it. */
function scheduleConflicts(
  values: Values,
  schedule: Sourced<ScheduleId>,
  pp: Sourced<number>,
  vpp: Sourced<number>,
): readonly Finding[] {
  const at = rangeOf(schedule);
  if (schedule.value === null || at === null) return [];
  const { stagesPerRank, placement } = SCHEDULE_FACTS[schedule.value];
  const conflict = (code: FindingCode, message: string, other: Sourced<unknown>, label: string): Finding => {
    const range = rangeOf(other);
    const related: readonly RelatedPlace[] = range === null ? [] : [{ message: `${label} is ${other.value}`, range }];
    return finding(code, message, at, related);
  };
  const findings: Finding[] = [];
  if (schedule.value === 'none' && pp.value !== null && pp.value > 1) {
    findings.push(
      conflict('schedule-not-legal', `A pipeline of ${pp.value} ranks needs a schedule`, pp, 'pipeline.size'),
    );
  }
  if (stagesPerRank !== 'several' && vpp.value !== null && vpp.value !== stagesPerRank) {
    const takes = stagesPerRank === 1 ? 'one stage' : 'exactly two stages';
    const message = `${schedule.value} holds ${takes} on each rank, but virtualStages is ${vpp.value}`;
    findings.push(conflict('schedule-not-legal', message, vpp, 'pipeline.virtualStages'));
  }
  const placed = values.choice('pipeline.placement', ['loop', 'v', 'bidirectional'], 'the placement');
  if (placed.value !== null && placed.value !== placement) {
    const message = `${schedule.value} places its stages as ${placement}, but placement is ${placed.value}`;
    findings.push(conflict('options-conflict', message, placed, 'pipeline.placement'));
  }
  return findings;
}

function modelOf(values: Values, layers: Sourced<number>, hasExperts: boolean): ModelShape {
  const { number, choice, flag, text } = values;
  const experts: Experts = {
    count: number('model.experts.count', 'the number of experts'),
    topK: number('model.experts.topK', 'the experts of one token'),
    ffn: number('model.experts.ffn', 'the width of an expert'),
    shared: number('model.experts.shared', 'the number of shared experts'),
  };
  return {
    layers,
    hidden: number('model.hidden', 'the hidden size'),
    heads: number('model.heads', 'the attention heads'),
    kvHeads: number('model.kvHeads', 'the key and value heads'),
    ffn: number('model.ffn', 'the width of the feed-forward layer'),
    gated: flag('model.gated', 'whether the feed-forward layer is gated'),
    vocabulary: number('model.vocabulary', 'the size of the vocabulary'),
    recompute: choice('model.recompute', ['none', 'selective', 'full'], 'what is recomputed'),
    dtype: text('model.dtype', 'the type of the activations'),
    experts: hasExperts ? experts : null,
  };
}
