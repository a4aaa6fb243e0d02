/**
 * A change of the plan in the script's own spelling: the written token is replaced, quotes and comments stay. A value
 * that is computed, comes from outside, or would need more than one place has no edit.
 */

import { MEGATRON_KEYS, type MegatronKey } from '../../frameworks/megatron-core/keys.ts';
import type { Change, TextEdit } from '../../model/finding.ts';
import type { Plan } from '../../model/plan.ts';
import type { Texts } from '../../model/reading.ts';
import type { Argument, Flag } from '../shell/flags.ts';
import { type Launch, readLaunches } from './launches.ts';

type Edits = readonly TextEdit[] | null;

export function edits(texts: Texts, plan: Plan, change: Change): Edits {
  const value = Number(change.value);
  if (!Number.isSafeInteger(value) || value < 1) return null;
  const launch = readLaunches(plan.anchor.file, texts).launches.find((each) => each.id === plan.id);
  if (launch === undefined) return null;
  switch (change.key) {
    case 'pipeline.size':
      return replaceFlag(texts, launch, 'pp', value);
    case 'batch.global':
      return replaceFlag(texts, launch, 'globalBatch', value);
    case 'batch.micro':
      return replaceFlag(texts, launch, 'microBatch', value);
    case 'pipeline.microbatches':
      return setMicrobatches(texts, plan, launch, value);
    case 'pipeline.virtualStages':
      return setVirtualStages(texts, plan, launch, value);
    case 'cluster.gpus':
      return setGpus(texts, plan, launch, value);
    default:
      return null;
  }
}

function flagOf(launch: Launch, key: MegatronKey): Flag | undefined {
  return launch.flags.byName.get(MEGATRON_KEYS[key].flag);
}

function replaceFlag(texts: Texts, launch: Launch, key: MegatronKey, value: number): Edits {
  const flag = flagOf(launch, key);
  return flag === undefined || flag.maybe !== null ? null : replace(texts, flag.values[0], value);
}

/** The token, when the characters in the file are a plain number that means the same everywhere. */
function replace(texts: Texts, argument: Argument | null | undefined, value: number): Edits {
  if (argument == null || !argument.exact || argument.maybe !== null || argument.text === null) return null;
  const { file, offset, length } = argument.range;
  const written = texts[file]?.slice(offset, offset + length);
  if (written !== argument.text || !/^\d[\d_]*$/.test(written)) return null;
  return [{ file, offset, length, text: String(value) }];
}

/** Through the global batch: microbatches x micro batch x data-parallel size. */
function setMicrobatches(texts: Texts, plan: Plan, launch: Launch, microbatches: number): Edits {
  const [micro, dp] = [plan.microBatchSize.value, plan.dp.value];
  if (micro === null || dp === null || flagOf(launch, 'stepSchedule') !== undefined) return null;
  const batch = microbatches * micro * dp;
  const flag = flagOf(launch, 'globalBatch');
  return flag !== undefined
    ? replaceFlag(texts, launch, 'globalBatch', batch)
    : insert(texts, launch, 'microBatch', 'globalBatch', batch);
}

function setVirtualStages(texts: Texts, plan: Plan, launch: Launch, vpp: number): Edits {
  if (flagOf(launch, 'layout') !== undefined || flagOf(launch, 'hybridPattern') !== undefined) return null;
  if (flagOf(launch, 'virtualStages') !== undefined) return replaceFlag(texts, launch, 'virtualStages', vpp);
  if (flagOf(launch, 'layersPerVirtualStage') === undefined) return insert(texts, launch, 'pp', 'virtualStages', vpp);
  const [layers, pp] = [plan.model.layers.value, plan.pp.value];
  if (layers === null || pp === null) return null;
  const counted =
    layers +
    ['accountEmbedding', 'accountLoss'].filter((key) => flagOf(launch, key as MegatronKey) !== undefined).length;
  const each = counted / pp / vpp;
  return Number.isSafeInteger(each) ? replaceFlag(texts, launch, 'layersPerVirtualStage', each) : null;
}

/** A flag that is not written yet stands in front of the one it belongs to. */
function insert(texts: Texts, launch: Launch, before: MegatronKey, key: MegatronKey, value: number): Edits {
  const flag = flagOf(launch, before);
  if (flag === undefined || flag.maybe !== null) return null;
  const { file, offset } = flag.range;
  if (texts[file]?.startsWith(flag.spelled, offset) !== true) return null;
  // Inside a quoted element the flag and its value may be one word.
  if (/["']/.test(texts[file]?.[offset - 1] ?? '')) return null;
  return [{ file, offset, length: 0, text: `--${MEGATRON_KEYS[key].flag} ${value} ` }];
}

/** Nodes first; the GPUs per node only where one node is enough. */
function setGpus(texts: Texts, plan: Plan, launch: Launch, gpus: number): Edits {
  const { perNode, nodes } = launch.world;
  const each = plan.cluster.gpusPerNode.value;
  if (nodes === null) return each === null || launch.world.gpus.value === each ? replace(texts, perNode, gpus) : null;
  if (each !== null && gpus % each === 0) {
    const edit = replace(texts, nodes, gpus / each);
    if (edit !== null) return edit;
  }
  return nodes.text === '1' ? replace(texts, perNode, gpus) : null;
}
