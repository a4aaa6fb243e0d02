/**
 * The reader of torchtitan's TOML configs, in every key era that had one (2024-05 to 2026-02). Mirrors
 * pytorch/torchtitan torchtitan/config_manager.py, torchtitan/config/job_config.py and what train.py does with them.
 */

import { type TorchSchedule, torchSchedule, unknownTorchSchedule } from '../frameworks/torch-names.ts';
import { TORCHTITAN } from '../frameworks/torchtitan.ts';
import type { Plan, Said } from '../model/plan.ts';
import type { Reader, Reading, Texts } from '../model/reading.ts';
import { SCHEDULE_IDS, type ScheduleId } from '../model/schedule.ts';
import { byDefault, derived, rangeOf, type Sourced, unknown } from '../model/source.ts';
import { spoken } from './said.ts';
import { readToml } from './toml/read.ts';
import { titanBatch } from './torchtitan/batch.ts';
import { titanCompletions } from './torchtitan/completion.ts';
import {
  parallelText,
  report,
  reportRemovedKeys,
  reportUnknownKeys,
  type TitanConfig,
  titanConfig,
  trainingNumber,
} from './torchtitan/config.ts';
import { titanEdits } from './torchtitan/edits.ts';
import { titanModel } from './torchtitan/model.ts';
import { gpuComment, titanSizes } from './torchtitan/sizes.ts';
import { readSplit } from './torchtitan/split.ts';
import { contextLength } from './torchtitan/tokens.ts';
import { textAt, WHOLE } from './values.ts';

export const torchtitanReader: Reader = {
  id: 'torchtitan',
  title: 'torchtitan TOML',
  files: ['**/*.toml'],
  parsers: ['toml'],
  claims: claimsTorchtitan,
  read: readTorchtitan,
  edits: (texts, plan, change) => {
    const file = plan.anchor.file;
    const text = texts[file];
    return text === undefined ? null : titanEdits(file, text, plan, change);
  },
  completions: titanCompletions,
};

/** Characters of a file that are looked at. */
const SNIFFED = 65_536;
const PARALLEL_KEY = /^[ \t]*(?:pipeline|tensor|context|data)_parallel(?:_shard|_replicate)?_degree[ \t]*=/m;
const OWN_SECTION = /^[ \t]*\[(?:job|parallelism|experimental|training|activation_checkpoint)\]/m;
const MODEL_FLAVOR = /^[ \t]*flavor[ \t]*=/m;
const TRAINING = /^[ \t]*\[training\]/m;

/** A TOML with parallel degrees in torchtitan's sections, or with a model flavor and a training section. */
export function claimsTorchtitan(path: string, text: string): boolean {
  if (!/\.toml$/i.test(path)) return false;
  const head = text.slice(text.startsWith('\uFEFF') ? 1 : 0, SNIFFED);
  if (!OWN_SECTION.test(head)) return false;
  return PARALLEL_KEY.test(head) || (MODEL_FLAVOR.test(head) && TRAINING.test(head));
}

function readTorchtitan(path: string, texts: Texts, said: Said): Reading {
  const text = texts[path];
  if (text === undefined) return { plans: [], problems: [], needs: [path] };
  const { root, problems } = readToml(path, text);
  if (root.kind !== 'map') return { plans: [], problems, needs: [] };
  const config = titanConfig(path, text, root, said);
  const description = textAt(root, 'job.description', unknown('a description'), []);
  const name = description.value ?? baseName(path);
  return { plans: [titanPlan(config, { id: 'main', name })], problems, needs: [] };
}

/** The plan of one config, whichever kind of file it was read from. */
export function titanPlan(config: TitanConfig, { id, name }: Pick<Plan, 'id' | 'name'>): Plan {
  const sizes = titanSizes(config);
  const model = titanModel(config);
  const chosen = scheduleOf(config, sizes.pp);
  const split = readSplit(config, {
    pp: sizes.pp,
    layers: model.layers,
    schedule: chosen.torch,
    scheduleName: chosen.name,
  });
  const batch = titanBatch(config, sizes, totalStages(sizes.pp, split.vpp));
  reportRemovedKeys(config);
  reportUnknownKeys(config);
  const note = 'torchtitan does not say';
  return {
    id,
    name,
    framework: 'torchtitan',
    anchor: config.anchor,
    ...sizes,
    vpp: split.vpp,
    schedule: chosen.schedule,
    groupSize: groupSize(chosen.schedule, sizes.pp, split.vpp, batch.microbatches),
    ...batch,
    sequenceLength: sequenceLength(config),
    communication: byDefault('async', 'torch posts sends without waiting'),
    stages: split.stages,
    model,
    cluster: {
      gpu: gpuComment(config.file, config.text).kind,
      gpusPerNode: unknown(`the GPUs of one machine: ${note}`, 'cluster.gpusPerNode'),
      usdPerGpuHour: unknown('the price of a GPU hour', 'cluster.usdPerGpuHour'),
    },
    run: {
      steps: trainingNumber(config, 'steps', WHOLE, byDefault(10_000, 'torchtitan: steps is 10000 when absent')),
      tokens: unknown('the tokens of the run', 'run.tokens'),
    },
    stageTimes: unknown('measured stage times', 'stages'),
    transferMs: unknown('the time of a transfer', 'transfer.ms'),
    measuredStepMs: unknown('a measured step', 'measured.stepMs'),
    findings: config.findings,
  };
}

function sequenceLength(config: TitanConfig): Sourced<number> {
  if (config.era === 'tokens') return contextLength(config);
  const absent = byDefault(2048, 'torchtitan: seq_len is 2048 when absent');
  return trainingNumber(config, 'seq_len', WHOLE, absent, 'model.sequence');
}

function totalStages(pp: Sourced<number>, vpp: Sourced<number>): Sourced<number> {
  if (pp.value === null) return pp;
  return vpp.value === null ? vpp : derived(pp.value * vpp.value, `${pp.value} ranks × ${vpp.value}`, ['pp', 'vpp']);
}

/** Only interleaved schedules have groups; torch makes as many as whole pipelines fill. */
function groupSize(
  schedule: Sourced<ScheduleId>,
  pp: Sourced<number>,
  vpp: Sourced<number>,
  microbatches: Sourced<number>,
): Sourced<number> {
  const id = schedule.value;
  if (id !== 'interleaved-1f1b' && id !== 'interleaved-zb') return unknown('a group size: the schedule has no groups');
  if (pp.value === null || vpp.value === null || microbatches.value === null) return unknown('the microbatches');
  const sizes = { pp: pp.value, vpp: vpp.value, microbatches: microbatches.value };
  const size = TORCHTITAN.defaultGroupSize({ schedule: id, ...sizes, groupSize: null });
  return derived(size, `torch: ${microbatches.value} microbatches in rounds of whole pipelines`, [
    'microbatches',
    'pp',
  ]);
}

interface Chosen {
  readonly schedule: Sourced<ScheduleId>;
  readonly torch: TorchSchedule | null;
  readonly name: Sourced<string>;
}

/** Without a pipeline the schedule is inert; a CSV file holds an order that only torch can load. */
function scheduleOf(config: TitanConfig, pp: Sourced<number>): Chosen {
  const read = parallelText(config, 'pipeline_parallel_schedule', byDefault('1F1B', 'torchtitan: 1F1B when absent'));
  const csv = parallelText(config, 'pipeline_parallel_schedule_csv', unknown('a schedule file'));
  const said = config.said['pipeline.schedule'];
  const saidId = SCHEDULE_IDS.find((id) => id === said?.value);
  if (said !== undefined && saidId !== undefined) {
    const stagesPerRank = saidId === '1f1b' || saidId === 'gpipe' ? 'one' : 'many';
    return { schedule: spoken(saidId, said), torch: { name: saidId, id: saidId, stagesPerRank }, name: read };
  }
  // The spelling until 2024-10, before torch looked names up.
  const row = torchSchedule(config.era === 'count' ? (read.value ?? '').replace('_', '') : (read.value ?? ''));
  if (pp.value === 1) return { schedule: derived('none', 'pipeline size 1', ['pp']), torch: row, name: read };
  if (read.value === null) return { schedule: read, torch: null, name: read };
  if (row === null) {
    report(config, 'unknown-schedule', unknownTorchSchedule(read.value), [['schedule', read]]);
    return { schedule: unknown('a schedule that torch has', 'pipeline.schedule'), torch: null, name: read };
  }
  const file = csv.value !== null && csv.value !== '' ? csv : row.id === null ? read : null;
  if (file !== null) {
    const missing = 'the order, which stands in a CSV file';
    return { schedule: unknown(missing, 'pipeline.schedule', rangeOf(file) ?? undefined), torch: row, name: read };
  }
  return { schedule: row.id === null ? unknown('the order') : { ...read, value: row.id }, torch: row, name: read };
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.toml$/i, '');
}
