/**
 * What can be said outside the file, as native dotted keys: by `--set`, by `--gpus`, or as a remembered answer. One
 * row each with what it accepts.
 */

type SaidKind = 'whole' | 'number' | 'text' | 'schedule';

export const SAID_KEYS = {
  'pipeline.size': 'whole',
  'pipeline.schedule': 'schedule',
  'pipeline.virtualStages': 'whole',
  'pipeline.microbatches': 'whole',
  'pipeline.groupSize': 'whole',
  'parallel.tensor': 'whole',
  'parallel.data': 'whole',
  'parallel.context': 'whole',
  'parallel.expert': 'whole',
  'batch.micro': 'whole',
  'batch.global': 'whole',
  'model.layers': 'whole',
  'model.hidden': 'whole',
  'model.heads': 'whole',
  'model.kvHeads': 'whole',
  'model.ffn': 'whole',
  'model.vocabulary': 'whole',
  'model.sequence': 'whole',
  'cluster.gpus': 'whole',
  'cluster.gpusPerNode': 'whole',
  'cluster.gpu': 'text',
  'cluster.usdPerGpuHour': 'number',
  'transfer.ms': 'number',
  'measured.stepMs': 'number',
  'run.steps': 'whole',
  'run.tokens': 'number',
} as const satisfies Readonly<Record<string, SaidKind>>;

export type SaidKey = keyof typeof SAID_KEYS;

/** Whether the value is one that the key accepts; a reason where it is not. */
export function saidProblem(key: SaidKey, text: string, isSchedule: (name: string) => boolean): string | null {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  switch (SAID_KEYS[key]) {
    case 'whole':
      return Number.isSafeInteger(value) && value > 0 ? null : `${key} takes a whole number above 0, not "${text}"`;
    case 'number':
      return Number.isFinite(value) && value >= 0 ? null : `${key} takes a number of at least 0, not "${text}"`;
    case 'schedule':
      return isSchedule(text) ? null : `${key} does not know the schedule "${text}"`;
    default:
      return text.trim() === '' ? `${key} takes a name` : null;
  }
}
