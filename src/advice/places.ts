/**
 * From a plan value to the token a person would edit to change it: the token it was read from, else the first of the
 * values that it was derived from, else the plan's anchor.
 */

import type { Plan } from '../model/plan.ts';
import type { Sourced, TextRange } from '../model/source.ts';

/** Native dotted keys beside the plan's own, as `derived` sources name them. */
const DOTTED: Readonly<Record<string, keyof Plan>> = {
  'pipeline.size': 'pp',
  'pipeline.virtualStages': 'vpp',
  'pipeline.microbatches': 'microbatches',
  'pipeline.schedule': 'schedule',
  'pipeline.groupSize': 'groupSize',
  'parallel.tensor': 'tp',
  'parallel.context': 'cp',
  'parallel.expert': 'ep',
  'parallel.data': 'dp',
  'batch.micro': 'microBatchSize',
  'batch.global': 'globalBatchSize',
  'cluster.gpus': 'gpus',
  'model.sequence': 'sequenceLength',
};

/** The value of a plan key, dotted key, or `layers`; null for anything else. */
function planValue(plan: Plan, key: string): Sourced<unknown> | null {
  if (key === 'layers' || key === 'model.layers') return plan.model.layers;
  const name = Object.hasOwn(DOTTED, key) ? DOTTED[key]! : (key as keyof Plan);
  const found: unknown = Object.hasOwn(plan, name) ? plan[name] : null;
  return isSourced(found) ? found : null;
}

/** The place to edit for the first of the keys that has one. */
export function placeOf(plan: Plan, keys: readonly string[]): TextRange {
  for (const key of keys) {
    const place = placeOfKey(plan, key, new Set());
    if (place !== null) return place;
  }
  return plan.anchor;
}

function placeOfKey(plan: Plan, key: string, seen: Set<string>): TextRange | null {
  if (seen.has(key)) return null;
  seen.add(key);
  const source = planValue(plan, key)?.source;
  if (source === undefined) return null;
  if (source.kind === 'text') return source.range;
  if ((source.kind === 'measured' || source.kind === 'unknown') && source.range !== undefined) return source.range;
  if (source.kind !== 'derived') return null;
  for (const from of source.from) {
    const place = placeOfKey(plan, from, seen);
    if (place !== null) return place;
  }
  return null;
}

function isSourced(value: unknown): value is Sourced<unknown> {
  return typeof value === 'object' && value !== null && 'source' in value && 'value' in value;
}
