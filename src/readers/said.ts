/**
 * What was said outside the file (`--gpus 64`, `--set cluster.gpus=64`, a remembered answer) stands in front of what
 * the file says. Readers pass every value that has a native dotted key through here before they derive from it.
 */

import type { Plan, Said, SaidValue } from '../model/plan.ts';
import { assumed, fromText, type Known, type Sourced } from '../model/source.ts';

/** A value as it was said: read from the comment that says it, else assumed by whoever said it. */
export function spoken<T>(value: T, { by, range }: Pick<SaidValue, 'by' | 'range'>): Known<T> {
  return range === undefined ? assumed(value, by) : fromText(value, range, `from ${by}`);
}

/** The said number for a native dotted key, else the value as read. */
export function saidNumber(said: Said, key: string, read: Sourced<number>): Sourced<number> {
  const entry = said[key];
  const value = entry === undefined ? Number.NaN : Number(entry.value);
  return entry !== undefined && Number.isFinite(value) ? spoken(value, entry) : read;
}

export function saidText(said: Said, key: string, read: Sourced<string>): Sourced<string> {
  const entry = said[key];
  return entry === undefined ? read : spoken(String(entry.value), entry);
}

/**
 * A plan with what was said of values that nothing else is derived from: price, run length, measured step, transfer
 * time and model shape. Values that others derive from are the readers' own matter.
 */
export function saidPlan(plan: Plan, said: Said): Plan {
  if (Object.keys(said).length === 0) return plan;
  const { model, cluster, run } = plan;
  return {
    ...plan,
    model: {
      ...model,
      hidden: saidNumber(said, 'model.hidden', model.hidden),
      heads: saidNumber(said, 'model.heads', model.heads),
      kvHeads: saidNumber(said, 'model.kvHeads', model.kvHeads),
      ffn: saidNumber(said, 'model.ffn', model.ffn),
      vocabulary: saidNumber(said, 'model.vocabulary', model.vocabulary),
    },
    cluster: {
      gpu: saidText(said, 'cluster.gpu', cluster.gpu),
      gpusPerNode: saidNumber(said, 'cluster.gpusPerNode', cluster.gpusPerNode),
      usdPerGpuHour: saidNumber(said, 'cluster.usdPerGpuHour', cluster.usdPerGpuHour),
    },
    run: { steps: saidNumber(said, 'run.steps', run.steps), tokens: saidNumber(said, 'run.tokens', run.tokens) },
    transferMs: saidNumber(said, 'transfer.ms', plan.transferMs),
    measuredStepMs: saidNumber(said, 'measured.stepMs', plan.measuredStepMs),
  };
}
