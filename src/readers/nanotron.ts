/**
 * The reader of nanotron's YAML configs. Mirrors huggingface/nanotron at 2411b022: src/nanotron/config/config.py
 * (TokensArgs), parallelism_config.py (ParallelismArgs) and parallel/context.py (the world size). Every size is a key,
 * so the GPU count follows from the file.
 */

import { NANOTRON_ENGINES } from '../frameworks/nanotron.ts';
import type { Finding } from '../model/finding.ts';
import type { Plan, Said } from '../model/plan.ts';
import type { Reader, Reading, Texts } from '../model/reading.ts';
import { SCHEDULE_IDS, type ScheduleId } from '../model/schedule.ts';
import { byDefault, derived, firstUnknown, rangeOf, type Sourced, type TextRange, unknown } from '../model/source.ts';
import { pathTable, treeCompletions } from './completion/tree.ts';
import { yamlCursor } from './completion/yaml-cursor.ts';
import { finding } from './limits.ts';
import { nanotronEdits } from './nanotron/edits.ts';
import { NANOTRON_KEYS, type NanotronKey } from './nanotron/keys.ts';
import { nanotronModel, nanotronStages } from './nanotron/model.ts';
import { saidNumber, spoken } from './said.ts';
import { entryAt, has, nodeAt, type TreeNode } from './tree.ts';
import { numberAt, shortened, textAt, WHOLE } from './values.ts';
import { readYaml } from './yaml/read.ts';

export const nanotronReader: Reader = {
  id: 'nanotron',
  title: 'nanotron YAML',
  files: ['**/*.yaml', '**/*.yml'],
  parsers: ['yaml'],
  claims: claimsNanotron,
  read: readNanotron,
  edits: (texts, plan, change) => {
    const file = plan.anchor.file;
    const text = texts[file];
    return text === undefined ? null : nanotronEdits(file, text, plan, change);
  },
  completions: (path, text, offset) =>
    treeCompletions(
      { text, cursor: yamlCursor(text, offset), json: false, read: (whole) => readYaml(path, whole).root },
      pathTable(NANOTRON_KEYS),
    ),
};

/** Characters of a file that are looked at. */
const SNIFFED = 262_144;
const SIZES = /(?:^[ \t]+|[{,][ \t]*)(?:pp|dp|tp)[ \t]*:/m;
/** The section's first line, then what is indented below it, comments and empty lines included. */
const SECTION = /^[^\n]*\n?(?:(?:[ \t]+[^\n]*|#[^\n]*|\r?)(?:\n|$))*/;
const OWN = /^tokens[ \t]*:|^[ \t]+pp_engine[ \t]*:/m;

/** A YAML with nanotron's `parallelism` map beside its `tokens`. */
export function claimsNanotron(path: string, text: string): boolean {
  if (!/\.ya?ml$/i.test(path)) return false;
  const head = text.slice(text.startsWith('\uFEFF') ? 1 : 0, SNIFFED);
  const at = head.search(/^parallelism[ \t]*:/m);
  if (at < 0 || !OWN.test(head)) return false;
  const section = SECTION.exec(head.slice(at))?.[0] ?? '';
  return SIZES.test(section);
}

function readNanotron(path: string, texts: Texts, said: Said): Reading {
  const text = texts[path];
  if (text === undefined) return { plans: [], problems: [], needs: [path] };
  const { root, problems } = readYaml(path, text);
  if (root.kind !== 'map') return { plans: [], problems, needs: [] };
  const plan = planOf(path, root, said);
  // In a broken text a key is not missing: it could not be read.
  const broken = problems.some((problem) => problem.code === 'syntax-error');
  const findings = broken ? plan.findings.filter(({ code }) => code !== 'missing-value') : plan.findings;
  return { plans: [{ ...plan, findings }], problems, needs: [] };
}

/** The token of `pp`, else the nearest thing to it that the file has. */
function anchorOf(file: string, root: TreeNode): TextRange {
  const pp = nodeAt(root, 'parallelism.pp');
  if (pp.kind === 'scalar' && pp.range.length > 0) return pp.range;
  const near = entryAt(root, 'parallelism.pp') ?? entryAt(root, 'parallelism');
  if (near !== null) return near.keyRange;
  const first = root.kind === 'map' ? root.entries.values().next().value : undefined;
  return first?.keyRange ?? { file, offset: 0, length: 0 };
}

interface Sizes {
  readonly pp: Sourced<number>;
  readonly tp: Sourced<number>;
  readonly cp: Sourced<number>;
  readonly ep: Sourced<number>;
  readonly dp: Sourced<number>;
  readonly gpus: Sourced<number>;
}

function planOf(file: string, root: TreeNode, said: Said): Plan {
  const findings: Finding[] = [];
  const anchor = anchorOf(file, root);
  const required = (path: NanotronKey, what: string, say: string) =>
    requiredNumber({ root, path, what, say, said, anchor }, findings);
  const sizes = sizesOf({ root, said, anchor }, required, findings);
  const model = nanotronModel(root, said, findings);
  const microBatchSize = required('tokens.micro_batch_size', 'the micro batch size', 'batch.micro');
  const accumulation = required(
    'tokens.batch_accumulation_per_replica',
    'the number of microbatches',
    'pipeline.microbatches',
  );
  const name = textAt(root, 'general.run', unknown('a name'), []);
  return {
    id: 'main',
    name: name.value ?? baseName(file),
    framework: 'nanotron',
    anchor,
    ...sizes,
    vpp: byDefault(1, 'nanotron: one stage per rank'),
    schedule: scheduleOf(root, said, sizes.pp, findings),
    groupSize: unknown('a group size: nanotron does not interleave'),
    microbatches: accumulation,
    microBatchSize,
    globalBatchSize: saidNumber(said, 'batch.global', globalBatch(microBatchSize, accumulation, sizes.dp)),
    sequenceLength: required('tokens.sequence_length', 'the sequence length', 'model.sequence'),
    communication: byDefault('async', 'nanotron posts sends without waiting for the receiver'),
    stages: nanotronStages({ root, model, pp: sizes.pp, tp: sizes.tp, anchor }, findings),
    model,
    cluster: {
      gpu: unknown('the kind of GPU', 'cluster.gpu'),
      gpusPerNode: unknown('the GPUs of one machine', 'cluster.gpusPerNode'),
      usdPerGpuHour: unknown('the price of a GPU hour', 'cluster.usdPerGpuHour'),
    },
    run: {
      steps: numberAt(root, 'tokens.train_steps', WHOLE, unknown('the length of the run', 'run.steps'), findings),
      tokens: unknown('the tokens of the run', 'run.tokens'),
    },
    stageTimes: unknown('measured stage times', 'stages'),
    transferMs: unknown('the time of a transfer', 'transfer.ms'),
    measuredStepMs: unknown('a measured step', 'measured.stepMs'),
    findings,
  };
}

interface Required {
  readonly root: TreeNode;
  readonly path: NanotronKey;
  readonly what: string;
  readonly say: string;
  readonly said: Said;
  readonly anchor: TextRange;
}

/** nanotron has no default for these: an absent one is refused at launch. */
function requiredNumber({ root, path, what, say, said, anchor }: Required, findings: Finding[]): Sourced<number> {
  const read = saidNumber(said, say, numberAt(root, path, WHOLE, unknown(what, say), findings));
  if (read.value === null && !has(root, path)) {
    const section = path.slice(0, path.indexOf('.'));
    const place = entryAt(root, path)?.keyRange ?? entryAt(root, section)?.keyRange ?? anchor;
    findings.push(finding('missing-value', `nanotron needs ${path}`, place));
  }
  return read;
}

function sizesOf(
  { root, said, anchor }: Pick<Required, 'root' | 'said' | 'anchor'>,
  required: (path: NanotronKey, what: string, say: string) => Sourced<number>,
  findings: Finding[],
): Sizes {
  const optional = (key: string, say: string) =>
    saidNumber(
      said,
      say,
      numberAt(root, `parallelism.${key}`, WHOLE, byDefault(1, `nanotron: ${key} is 1 when absent`), findings),
    );
  const dp = required('parallelism.dp', 'the data-parallel size', 'parallel.data');
  const pp = required('parallelism.pp', 'the pipeline size', 'pipeline.size');
  const tp = required('parallelism.tp', 'the tensor-parallel size', 'parallel.tensor');
  const cp = optional('context_parallel_size', 'parallel.context');
  const ep = optional('expert_parallel_size', 'parallel.expert');
  const implied = impliedGpus({ tp, cp, dp, pp });
  const gpus = saidNumber(said, 'cluster.gpus', implied);
  if (gpus.value !== null && implied.value !== null && gpus.value !== implied.value) {
    const related = [
      ['tensor-parallel size', tp],
      ['data-parallel size', dp],
      ['context-parallel size', cp],
    ] as const;
    findings.push(
      finding(
        'world-size-not-divisible',
        `TP*CP*DP*PP=${tp.value}*${cp.value}*${dp.value}*${pp.value}=${implied.value} != WORLD_SIZE=${gpus.value}`,
        rangeOf(pp) ?? rangeOf(dp) ?? anchor,
        related.flatMap(([message, value]) => {
          const range = rangeOf(value);
          return range === null ? [] : [{ message, range }];
        }),
      ),
    );
  }
  return { pp, tp, cp, ep, dp, gpus };
}

function impliedGpus({ tp, cp, dp, pp }: Pick<Sizes, 'tp' | 'cp' | 'dp' | 'pp'>): Sourced<number> {
  const missing = firstUnknown([tp, cp, dp, pp]);
  if (missing !== null || tp.value === null || cp.value === null || dp.value === null || pp.value === null) {
    return missing ?? unknown('the GPU count', 'cluster.gpus');
  }
  const how = `tp × cp × dp × pp = ${tp.value} × ${cp.value} × ${dp.value} × ${pp.value}`;
  return derived(tp.value * cp.value * dp.value * pp.value, how, ['tp', 'cp', 'dp', 'pp']);
}

/** Absent, nanotron takes its all-forward-all-backward engine. */
function scheduleOf(root: TreeNode, said: Said, pp: Sourced<number>, findings: Finding[]): Sourced<ScheduleId> {
  const entry = said['pipeline.schedule'];
  const saidId = SCHEDULE_IDS.find((id) => id === entry?.value);
  if (entry !== undefined && saidId !== undefined) return spoken(saidId, entry);
  const absent = byDefault('afab', 'nanotron: all forward, all backward when pp_engine is absent');
  const engine = textAt(root, 'parallelism.pp_engine', absent, findings);
  if (pp.value === 1) return derived('none', 'pipeline size 1', ['pp']);
  if (engine.value === null) return engine;
  if (Object.hasOwn(NANOTRON_ENGINES, engine.value)) {
    return { ...engine, value: NANOTRON_ENGINES[engine.value as keyof typeof NANOTRON_ENGINES] };
  }
  const message = `pp_engine should be a string selected in ['afab', '1f1b'] and not ${shortened(engine.value)}`;
  const range = rangeOf(engine);
  if (range !== null) findings.push(finding('unknown-schedule', message, range));
  return unknown('an engine that nanotron has', 'pipeline.schedule', range ?? undefined);
}

function globalBatch(micro: Sourced<number>, accumulation: Sourced<number>, dp: Sourced<number>): Sourced<number> {
  const missing = firstUnknown([micro, accumulation, dp]);
  if (missing !== null || micro.value === null || accumulation.value === null || dp.value === null) {
    return missing ?? unknown('the batch size', 'batch.global');
  }
  const how = `micro batch × accumulation × dp = ${micro.value} × ${accumulation.value} × ${dp.value}`;
  return derived(micro.value * accumulation.value * dp.value, how, ['microbatches', 'microBatchSize', 'dp']);
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.ya?ml$/i, '');
}
