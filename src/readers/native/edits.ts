/**
 * Changes in the native format's own spelling. Besides the asked key, a change rewrites what is written and would
 * contradict it (the global batch beside new microbatches, the placement beside a new schedule), so that a fix never
 * leaves a file that its own reader complains about. What the file cannot express is null.
 */

import type { Change, TextEdit } from '../../model/finding.ts';
import type { Plan } from '../../model/plan.ts';
import { SCHEDULE_IDS, type ScheduleId } from '../../model/schedule.ts';
import { has, nodeAt, type TreeNode } from '../tree.ts';
import { legalValue, type NativeValue } from './check.ts';
import { isNativeKey, keyRow, type ValueKey } from './keys.ts';
import { SCHEDULE_FACTS } from './schedule-facts.ts';
import { setEdits } from './write.ts';

type Assignments = Map<ValueKey, NativeValue>;

/** The edits that make `change` true in the file; null where it is no legal value or the file cannot express it. */
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
  if (!followStages(root, plan, assignments) || !followSizes(root, plan, key, assignments)) return null;
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

/** Keeps schedule, virtual stages, placement and the stage list in step; false where they cannot be. */
function followStages(root: TreeNode, plan: Plan, assignments: Assignments): boolean {
  const before = SCHEDULE_IDS.find((id) => id === plan.schedule.value) ?? null;
  const asked = assignments.get('pipeline.virtualStages');
  let schedule = SCHEDULE_IDS.find((id) => id === assignments.get('pipeline.schedule')) ?? before;
  if (typeof asked === 'number' && schedule !== null && SCHEDULE_FACTS[schedule].stagesPerRank !== 'several') {
    if (asked !== SCHEDULE_FACTS[schedule].stagesPerRank) {
      schedule = INTERLEAVED[schedule] ?? null;
      if (schedule === null) return false;
      assignments.set('pipeline.schedule', schedule);
    }
  }
  const each = schedule === null ? 'several' : SCHEDULE_FACTS[schedule].stagesPerRank;
  if (schedule !== before && schedule !== null) {
    if (each !== 'several' && asked === undefined && has(root, 'pipeline.virtualStages')) {
      assignments.set('pipeline.virtualStages', each);
    }
    if (has(root, 'pipeline.placement')) assignments.set('pipeline.placement', SCHEDULE_FACTS[schedule].placement);
  }
  const list = nodeAt(root, 'stages');
  if (list.kind !== 'list' || list.items.length === 0) return true;
  const pp = assignments.get('pipeline.size') ?? plan.pp.value;
  const vpp = assignments.get('pipeline.virtualStages') ?? (each === 'several' ? plan.vpp.value : each);
  return typeof pp !== 'number' || typeof vpp !== 'number' || pp * vpp === list.items.length;
}

const GPU_KEYS: readonly string[] = [
  'pipeline.size',
  'parallel.tensor',
  'parallel.context',
  'parallel.data',
  'cluster.gpus',
];

/** Keeps both products of the sizes true; false where a size would be no whole number. */
function followSizes(root: TreeNode, plan: Plan, key: ValueKey, assignments: Assignments): boolean {
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
      const replicas = quotient(after('cluster.gpus', plan.gpus.value), perReplica);
      if (replicas === 'fraction') return false;
      dp = replicas;
      if (has(root, 'parallel.data') && replicas !== null) assignments.set('parallel.data', replicas);
    }
  }
  const perMicrobatch = product(after('batch.micro', plan.microBatchSize.value), dp);
  const hasGlobal = has(root, 'batch.global') || key === 'batch.global';
  if (!hasGlobal || perMicrobatch === null) return true;
  if (key === 'pipeline.microbatches') {
    const global = product(perMicrobatch, after('pipeline.microbatches', null));
    if (global !== null) assignments.set('batch.global', global);
    if (!has(root, 'pipeline.microbatches')) assignments.delete('pipeline.microbatches');
    return true;
  }
  const microbatches = quotient(after('batch.global', plan.globalBatchSize.value), perMicrobatch);
  if (microbatches === 'fraction') return !GPU_KEYS.includes(key) && !key.startsWith('batch.');
  if (microbatches !== null && microbatches !== plan.microbatches.value && has(root, 'pipeline.microbatches')) {
    assignments.set('pipeline.microbatches', microbatches);
  }
  return true;
}

function product(...factors: readonly (number | null)[]): number | null {
  return factors.reduce((result, factor) => (result === null || factor === null ? null : result * factor), 1);
}

function quotient(total: number | null, divisor: number | null): number | null | 'fraction' {
  if (total === null || divisor === null) return null;
  return total % divisor === 0 ? total / divisor : 'fraction';
}
