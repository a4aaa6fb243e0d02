/**
 * Batch sizes and the number of microbatches. Mirrors NVIDIA/Megatron-LM@d98e8a64dd
 * megatron/core/num_microbatches_calculator.py and the batch part of megatron/training/arguments.py. With a schedule
 * of batch sizes the plan is that of the last one, where nearly all of the run is spent.
 */

import { derived, firstUnknown, fromText, type Sourced, unknown } from '../../model/source.ts';
import { type Context, defaulted, given, isOn, numberOf, refuse, textOf } from './context.ts';

export interface Batches {
  readonly microBatchSize: Sourced<number>;
  readonly globalBatchSize: Sourced<number>;
  readonly microbatches: Sourced<number>;
}

export function resolveBatches(context: Context, dp: Sourced<number>, sequence: Sourced<number>): Batches {
  const microBatchSize = microBatch(context);
  const steps = stepSchedule(context, sequence.value);
  const written = numberOf(context, 'globalBatch', 1, 'batch.global');
  if (steps !== null && written !== null && given(context, 'globalBatch')?.place !== null) {
    const message = 'Cannot specify both --step-batch-size-schedule and --global-batch-size';
    refuse(context, 'options-conflict', message, ['globalBatch', 'stepSchedule']);
  }
  const direct = numberOf(context, 'microbatches', 1, 'pipeline.microbatches');
  if (direct !== null) {
    // A count that depends on the data leaves the global batch as it is written.
    const globalBatchSize =
      direct.value === null && written !== null ? written : fromDirect(direct, microBatchSize, dp);
    return { microBatchSize, globalBatchSize, microbatches: direct };
  }
  const globalBatchSize = written ?? steps ?? byDefaultBatch(context, microBatchSize, dp);
  if (written === null && steps === null && context.input.elsewhere === null) {
    const how =
      'Megatron-LM: the global batch is micro-batch-size x data-parallel size when --global-batch-size is absent';
    return { microBatchSize, globalBatchSize, microbatches: derived(1, how, ['globalBatchSize']) };
  }
  return { microBatchSize, globalBatchSize, microbatches: count(context, globalBatchSize, microBatchSize, dp) };
}

function microBatch(context: Context): Sourced<number> {
  const written = numberOf(context, 'microBatch', 1, 'batch.micro');
  if (written !== null) return written;
  if (context.input.complete && given(context, 'microbatches') === undefined) {
    refuse(context, 'missing-value', '--micro-batch-size is required (assert args.micro_batch_size is not None)', []);
  }
  return unknown('the micro batch size (--micro-batch-size)', 'batch.micro');
}

function fromDirect(m: Sourced<number>, micro: Sourced<number>, dp: Sourced<number>): Sourced<number> {
  const missing = firstUnknown([m, micro, dp]);
  if (m.value === null || micro.value === null || dp.value === null) return missing ?? unknown('the global batch size');
  const how = `${m.value} x ${micro.value} x ${dp.value}`;
  return derived(m.value * micro.value * dp.value, how, ['microbatches', 'microBatchSize', 'dp']);
}

function byDefaultBatch(context: Context, micro: Sourced<number>, dp: Sourced<number>): Sourced<number> {
  const absent = defaulted(context, 'globalBatch', 0, '', 'batch.global');
  if (absent.value === null) return absent;
  if (micro.value === null || dp.value === null) return firstUnknown([micro, dp]) ?? absent;
  const how = `Megatron-LM: micro-batch-size x data-parallel size when --global-batch-size is absent, ${micro.value} x ${dp.value}`;
  return derived(micro.value * dp.value, how, ['microBatchSize', 'dp']);
}

function count(
  context: Context,
  global: Sourced<number>,
  micro: Sourced<number>,
  dp: Sourced<number>,
): Sourced<number> {
  if (global.value !== null && micro.value !== null && dp.value === null)
    checkWithoutDp(context, global.value, micro.value);
  if (global.value === null || micro.value === null || dp.value === null) {
    return firstUnknown([global, micro, dp]) ?? unknown('the number of microbatches', 'pipeline.microbatches');
  }
  const pass = micro.value * dp.value;
  const from = ['globalBatchSize', 'microBatchSize', 'dp'];
  const rampup =
    given(context, 'rampup') === undefined ? '' : ', of the full batch (Megatron-LM now ignores the ramp-up)';
  if (global.value % pass === 0) {
    return derived(global.value / pass, `${global.value} / (${micro.value} x ${dp.value})${rampup}`, from);
  }
  if (isOn(context, 'decreaseBatch') === true && global.value >= pass) {
    const running = Math.floor(global.value / pass) * pass;
    return derived(running / pass, `${running} / (${micro.value} x ${dp.value}), decreased from ${global.value}`, from);
  }
  const message =
    isOn(context, 'decreaseBatch') === true
      ? 'number of microbatches should be at least 1, got 0.'
      : `global batch size (${global.value}) is not divisible by micro batch size (${micro.value}) times data parallel size (${dp.value})`;
  refuse(context, 'batch-not-divisible', message, ['globalBatch', 'stepSchedule', 'microBatch'], true);
  return unknown(`a global batch that ${pass} divides (${global.value} does not)`, 'batch.global');
}

/** Without the GPU count it is still certain when the micro batch alone does not divide. */
function checkWithoutDp(context: Context, global: number, micro: number): void {
  if (global % micro === 0 || isOn(context, 'decreaseBatch') !== false) return;
  const message = `global batch size (${global}) is not divisible by micro batch size (${micro}) times data parallel size, whatever that is`;
  refuse(context, 'batch-not-divisible', message, ['globalBatch', 'microBatch']);
}

const SUFFIXES: Readonly<Record<string, number>> = { K: 1e3, M: 1e6, B: 1e9, T: 1e12 };

function schedulePart(text: string): number {
  const found = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:E[+-]?\d+)?)([KMBT]?)$/.exec(text.trim().toUpperCase());
  return found === null ? Number.NaN : Math.trunc(Number(found[1]) * (SUFFIXES[found[2]!] ?? 1));
}

/** The last batch size of `--step-batch-size-schedule`; null where it is not written. */
function stepSchedule(context: Context, sequence: number | null): Sourced<number> | null {
  const text = textOf(context, 'stepSchedule');
  if (text === null || text.value === null) return text;
  const invalid = (message: string): Sourced<number> => {
    refuse(context, 'invalid-value', message, ['stepSchedule']);
    return unknown('a batch size from --step-batch-size-schedule', 'batch.global');
  };
  if (isOn(context, 'decreaseBatch') === true) {
    const message = 'Cannot specify both --step-batch-size-schedule and --decrease-batch-size-if-needed';
    refuse(context, 'options-conflict', message, ['stepSchedule', 'decreaseBatch']);
  }
  const entries: { readonly from: number; readonly size: number }[] = [];
  for (const entry of text.value
    .replaceAll(',', ' ')
    .split(/\s+/)
    .filter((each) => each !== '')) {
    const colon = entry.indexOf(':');
    const from = schedulePart(entry.slice(0, Math.max(0, colon)));
    const size = schedulePart(entry.slice(colon + 1));
    if (colon < 0 || Number.isNaN(from) || Number.isNaN(size)) {
      return invalid(`Invalid schedule entry "${entry.slice(0, 40)}". Expected format: "THRESHOLD:BATCH_SIZE"`);
    }
    entries.push({ from: sequence === null ? from : Math.floor(from / sequence), size });
  }
  entries.sort((a, b) => a.from - b.from);
  const first = entries[0];
  if (first === undefined) return invalid('schedule must have at least one entry');
  if (first.from !== 0) return invalid(`first schedule entry must have threshold 0, got ${first.from}`);
  for (const [i, { from, size }] of entries.entries()) {
    const before = entries[i - 1];
    if (before !== undefined && from <= before.from) {
      return invalid(`schedule thresholds must be strictly increasing, got ${before.from} before ${from}`);
    }
    if (size <= 0) return invalid(`batch size must be positive, got ${size}`);
  }
  const last = entries.at(-1)!.size;
  const how = `the last step of --step-batch-size-schedule, ${entries.length} steps`;
  return text.source.kind === 'text' ? fromText(last, text.source.range, how) : derived(last, how, ['globalBatchSize']);
}
