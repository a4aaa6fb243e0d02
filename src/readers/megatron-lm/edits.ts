/**
 * A change of the plan in the file's own spelling: the written token is replaced, quotes and comments stay. A value
 * that is computed, comes from outside, or would need more than one place has no edit. What a change means in
 * Megatron's flags is the same for every file kind; `Written` is how one file kind writes them.
 */

import type { MegatronKey } from '../../frameworks/megatron-core/keys.ts';
import type { Change, TextEdit } from '../../model/finding.ts';
import type { Plan } from '../../model/plan.ts';
import type { Texts } from '../../model/reading.ts';
import type { Argument, Flag } from '../shell/flags.ts';
import type { World } from './world.ts';

export type Edits = readonly TextEdit[] | null;

export interface Written {
  readonly has: (key: MegatronKey) => boolean;
  readonly replace: (key: MegatronKey, value: number) => Edits;
  /** A flag that is not written yet stands in front of the one it belongs to. */
  readonly insert: (before: MegatronKey, key: MegatronKey, value: number) => Edits;
  readonly setGpus: (gpus: number) => Edits;
}

export function changeEdits(plan: Plan, change: Change, written: Written): Edits {
  const value = Number(change.value);
  if (!Number.isSafeInteger(value) || value < 1) return null;
  switch (change.key) {
    case 'pipeline.size':
      return written.replace('pp', value);
    case 'batch.global':
      return written.replace('globalBatch', value);
    case 'batch.micro':
      return written.replace('microBatch', value);
    case 'pipeline.microbatches':
      return setMicrobatches(plan, written, value);
    case 'pipeline.virtualStages':
      return setVirtualStages(plan, written, value);
    case 'cluster.gpus':
      return written.setGpus(value);
    default:
      return null;
  }
}

/** Through the global batch: microbatches x micro batch x data-parallel size. */
function setMicrobatches(plan: Plan, written: Written, microbatches: number): Edits {
  const [micro, dp] = [plan.microBatchSize.value, plan.dp.value];
  if (micro === null || dp === null || written.has('stepSchedule')) return null;
  const batch = microbatches * micro * dp;
  return written.has('globalBatch')
    ? written.replace('globalBatch', batch)
    : written.insert('microBatch', 'globalBatch', batch);
}

function setVirtualStages(plan: Plan, written: Written, vpp: number): Edits {
  if (written.has('layout') || written.has('hybridPattern')) return null;
  if (written.has('virtualStages')) return written.replace('virtualStages', vpp);
  if (!written.has('layersPerVirtualStage')) return written.insert('pp', 'virtualStages', vpp);
  const [layers, pp] = [plan.model.layers.value, plan.pp.value];
  if (layers === null || pp === null) return null;
  const counted = layers + Number(written.has('accountEmbedding')) + Number(written.has('accountLoss'));
  const each = counted / pp / vpp;
  return Number.isSafeInteger(each) ? written.replace('layersPerVirtualStage', each) : null;
}

/** How one launch writes Megatron's keys. */
export interface WrittenLaunch {
  readonly flagOf: (key: MegatronKey) => Flag | undefined;
  /** A flag as it would be inserted, dashes in front. */
  readonly spell: (key: MegatronKey) => string;
  readonly world: Pick<World, 'gpus' | 'perNode' | 'nodes'>;
}

/** The edits of one launch of a script. */
export function launchEdits(texts: Texts, plan: Plan, change: Change, { flagOf, spell, world }: WrittenLaunch): Edits {
  return changeEdits(plan, change, {
    has: (key) => flagOf(key) !== undefined,
    replace: (key, value) => {
      const flag = flagOf(key);
      return flag === undefined || flag.maybe !== null ? null : replaceToken(texts, flag.values[0], value);
    },
    insert: (before, key, value) => insertFlag(texts, flagOf(before), `${spell(key)} ${value} `),
    setGpus: (gpus) => setGpus(texts, plan, world, gpus),
  });
}

/** The token, when the characters in the file are a plain number that means the same everywhere. */
export function replaceToken(texts: Texts, argument: Argument | null | undefined, value: number): Edits {
  if (argument == null || !argument.exact || argument.maybe !== null || argument.text === null) return null;
  const { file, offset, length } = argument.range;
  const written = texts[file]?.slice(offset, offset + length);
  if (written !== argument.text || !/^\d[\d_]*$/.test(written)) return null;
  return [{ file, offset, length, text: String(value) }];
}

function insertFlag(texts: Texts, flag: Flag | undefined, text: string): Edits {
  if (flag === undefined || flag.maybe !== null) return null;
  const { file, offset } = flag.range;
  if (texts[file]?.startsWith(flag.spelled, offset) !== true) return null;
  // Inside a quoted element the flag and its value may be one word.
  if (/["']/.test(texts[file]?.[offset - 1] ?? '')) return null;
  return [{ file, offset, length: 0, text }];
}

/** Nodes first; the GPUs per node only where one node is enough. */
export function setGpus(texts: Texts, plan: Plan, world: WrittenLaunch['world'], gpus: number): Edits {
  const { perNode, nodes } = world;
  const each = plan.cluster.gpusPerNode.value;
  if (nodes === null) {
    return each === null || world.gpus.value === each ? replaceToken(texts, perNode, gpus) : null;
  }
  if (each !== null && gpus % each === 0) {
    const edit = replaceToken(texts, nodes, gpus / each);
    if (edit !== null) return edit;
  }
  return nodes.text === '1' ? replaceToken(texts, perNode, gpus) : null;
}
