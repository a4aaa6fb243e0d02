/**
 * Changes in the native format's own spelling. Besides the asked key, a change rewrites what is written and would
 * contradict it (the global batch beside new microbatches, the placement beside a new schedule), so that a fix never
 * leaves a file that its own reader complains about. What the file cannot express is null.
 */

import type { Change, TextEdit } from '../../model/finding.ts';
import type { Plan } from '../../model/plan.ts';
import { SCHEDULE_IDS, type ScheduleId } from '../../model/schedule.ts';
import { has, type TreeNode } from '../tree.ts';
import { legalValue, type NativeValue } from './check.ts';
import { isNativeKey, keyRow, type ValueKey } from './keys.ts';
import { SCHEDULE_FACTS } from './schedule-facts.ts';
import { setEdits } from './write.ts';

type Assignments = Map<ValueKey, NativeValue>;

/**
 * The edits that make `change` true in the file; null where it is no legal value or has no place in the file. The
 * caller reads the result again: where the sizes or the stage list do not allow the change, that reading says so.
 */
export function nativeEdits(
  file: string,
  text: string,
  root: TreeNode,
  plan: Plan,
  change: Change,
): readonly TextEdit[] | null {
  const { key } = change;
  if (!isValueKey(key)) return null;
  const value = legalValue(keyRow(key), change.value);
  if (value === null) return null;
  const assignments: Assignments = new Map([[key, value]]);
  followStages(root, plan, assignments);
  followSizes(root, plan, key, assignments);
  const edits: TextEdit[] = [];
  for (const [assigned, to] of assignments) {
    const written = setEdits(file, text, root, assigned, to);
    if (written === null) return null;
    edits.push(...written);
  }
  return edits;
}

function isValueKey(key: string): key is ValueKey {
  if (!isNativeKey(key) || key.includes('[]')) return false;
  const { type } = keyRow(key);
  return type !== 'map' && type !== 'list';
}

/** The single-stage schedules that have an interleaved relative, which a second stage on a rank turns them into. */
const INTERLEAVED: Partial<Record<ScheduleId, ScheduleId>> = {
  '1f1b': 'interleaved-1f1b',
  gpipe: 'looped-bfs',
  'zb-h1': 'interleaved-zb',
  'zb-1p': 'interleaved-zb',
};

/** Keeps schedule, virtual stages and placement in step where they can be. */
function followStages(root: TreeNode, plan: Plan, assignments: Assignments): void {
  const before = plan.schedule.value;
  const asked = assignments.get('pipeline.virtualStages');
  let schedule = SCHEDULE_IDS.find((id) => id === assignments.get('pipeline.schedule')) ?? before;
  const interleaved = schedule === null ? undefined : INTERLEAVED[schedule];
  if (interleaved !== undefined && asked !== undefined && asked !== 1) {
    schedule = interleaved;
    assignments.set('pipeline.schedule', interleaved);
  }
  if (schedule === null || schedule === before) return;
  const { stagesPerRank, placement } = SCHEDULE_FACTS[schedule];
  if (stagesPerRank !== 'several' && asked === undefined && has(root, 'pipeline.virtualStages')) {
    assignments.set('pipeline.virtualStages', stagesPerRank);
  }
  if (has(root, 'pipeline.placement')) assignments.set('pipeline.placement', placement);
}

const GPU_KEYS: readonly string[] = [
  'pipeline.size',
  'parallel.tensor',
  'parallel.context',
  'parallel.data',
  'cluster.gpus',
];

const BATCH_KEYS: readonly string[] = ['batch.micro', 'batch.global', 'pipeline.microbatches'];

/** Keeps both products of the sizes true where whole numbers can. */
function followSizes(root: TreeNode, plan: Plan, key: ValueKey, assignments: Assignments): void {
  if (!GPU_KEYS.includes(key) && !BATCH_KEYS.includes(key)) return;
  const after = (of: ValueKey, planned: number | null): number | null => {
    const value = assignments.get(of);
    return typeof value === 'number' ? value : planned;
  };
  let dp = after('parallel.data', plan.dp.value);
  if (GPU_KEYS.includes(key)) {
    const perReplica = product(
      after('pipeline.size', plan.pp.value),
      after('parallel.tensor', plan.tp.value),
      after('parallel.context', plan.cp.value),
    );
    if (key === 'parallel.data') {
      const gpus = product(perReplica, dp);
      if (has(root, 'cluster.gpus') && gpus !== null) assignments.set('cluster.gpus', gpus);
    } else if (has(root, 'cluster.gpus') || key === 'cluster.gpus') {
      dp = quotient(after('cluster.gpus', plan.gpus.value), perReplica);
      if (has(root, 'parallel.data') && dp !== null) assignments.set('parallel.data', dp);
    }
  }
  const perMicrobatch = product(after('batch.micro', plan.microBatchSize.value), dp);
  const hasGlobal = has(root, 'batch.global') || key === 'batch.global';
  if (!hasGlobal || perMicrobatch === null) return;
  if (key === 'pipeline.microbatches') {
    const global = product(perMicrobatch, after('pipeline.microbatches', null));
    if (global !== null) assignments.set('batch.global', global);
    if (!has(root, 'pipeline.microbatches')) assignments.delete('pipeline.microbatches');
    return;
  }
  const microbatches = quotient(after('batch.global', plan.globalBatchSize.value), perMicrobatch);
  if (microbatches !== null && microbatches !== plan.microbatches.value && has(root, 'pipeline.microbatches')) {
    assignments.set('pipeline.microbatches', microbatches);
  }
}

function product(...factors: readonly (number | null)[]): number | null {
  return factors.reduce((result, factor) => (result === null || factor === null ? null : result * factor), 1);
}

function quotient(total: number | null, divisor: number | null): number | null {
  return total === null || divisor === null || total % divisor !== 0 ? null : total / divisor;
}
