/**
 * What DeepSpeed's own config says of a pipeline: batch sizes and the ZeRO stage, whether it is a JSON file, the
 * heredoc of a script that writes it, or keys of a GPT-NeoX config. Mirrors deepspeedai/DeepSpeed@edaa7221
 * deepspeed/runtime/config.py (_set_batch_related_parameters, _batch_assertion) and deepspeed/runtime/pipe/engine.py.
 */

import type { Finding } from '../../model/finding.ts';
import { derived, firstUnknown, fromText, rangeOf, type Sourced, type TextRange, unknown } from '../../model/source.ts';
import { finding } from '../limits.ts';
import { nodeAt, type TreeNode } from '../tree.ts';
import { numberAt, WHOLE, WHOLE_OR_ZERO } from '../values.ts';
import type { DeepSpeedKey } from './keys.ts';

/** null where the config does not have the key. */
export interface DeepSpeedConfig {
  readonly train: Sourced<number> | null;
  readonly micro: Sourced<number> | null;
  readonly accumulation: Sourced<number> | null;
  readonly zeroStage: Sourced<number> | null;
}

const ABSENT = unknown('');

/** From a tree of DeepSpeed's keys; `name` turns a key into the spelling of the file. */
export function deepSpeedConfig(
  root: TreeNode,
  problems: Finding[],
  name: (key: string) => string = (key) => key,
): DeepSpeedConfig {
  const at = (key: DeepSpeedKey, rule = WHOLE): Sourced<number> | null => {
    const path = name(key);
    const node = nodeAt(root, path);
    // "auto" is what Hugging Face's trainer fills in.
    if (node.kind === 'scalar' && node.value === 'auto')
      return unknown(`${path}, which the trainer fills in`, undefined, node.range);
    const found = numberAt(root, path, rule, ABSENT, problems);
    return found === ABSENT ? null : found;
  };
  return {
    train: at('train_batch_size'),
    micro: at('train_micro_batch_size_per_gpu'),
    accumulation: at('gradient_accumulation_steps'),
    zeroStage: at('zero_optimization.stage', WHOLE_OR_ZERO),
  };
}

export interface DeepSpeedBatch {
  readonly microBatchSize: Sourced<number>;
  readonly globalBatchSize: Sourced<number>;
  readonly microbatches: Sourced<number>;
}

/**
 * Two of the three batch sizes and the data-parallel size give the third; of one alone, gradients are accumulated
 * once. What does not fit is refused in DeepSpeed's words.
 */
export function deepSpeedBatch(
  { train, micro, accumulation }: DeepSpeedConfig,
  dp: Sourced<number>,
  findings: Finding[],
  anchor: TextRange,
): DeepSpeedBatch {
  if (train === null && micro === null) {
    const missing = unknown('the batch size (train_batch_size or train_micro_batch_size_per_gpu)', 'batch.global');
    return { microBatchSize: missing, globalBatchSize: missing, microbatches: accumulation ?? missing };
  }
  const once = derived(1, 'DeepSpeed: gradients are accumulated once when only one batch size is given', [
    'microBatchSize',
  ]);
  const microbatches =
    accumulation ?? (train !== null && micro !== null ? quotient(train, [micro, dp], 'microbatches') : once);
  const microBatchSize = micro ?? quotient(train!, [microbatches, dp], 'microBatchSize');
  const globalBatchSize = train ?? product([microBatchSize, microbatches, dp]);
  check({ microBatchSize, globalBatchSize, microbatches }, dp, findings, anchor);
  return { microBatchSize, globalBatchSize, microbatches: settled(microbatches) };
}

function settled(value: Sourced<number>): Sourced<number> {
  return value.value !== null && value.value < 1 ? unknown('at least one microbatch', 'pipeline.microbatches') : value;
}

/** Rounded down, as DeepSpeed does before it checks. */
function quotient(
  total: Sourced<number>,
  by: readonly Sourced<number>[],
  key: 'microbatches' | 'microBatchSize',
): Sourced<number> {
  const missing = firstUnknown([total, ...by]);
  if (total.value === null || missing !== null) return missing ?? unknown('the batch size', 'batch.global');
  const divisor = by.reduce((all, each) => all * (each.value ?? 1), 1);
  const other = key === 'microbatches' ? 'microBatchSize' : 'microbatches';
  const how = `${total.value} / (${by.map((each) => each.value).join(' x ')})`;
  return derived(Math.floor(total.value / divisor), how, ['globalBatchSize', other, 'dp']);
}

function product(factors: readonly Sourced<number>[]): Sourced<number> {
  const missing = firstUnknown(factors);
  if (missing !== null) return missing;
  const how = factors.map((each) => each.value).join(' x ');
  return derived(
    factors.reduce((all, each) => all * (each.value ?? 1), 1),
    how,
    ['microBatchSize', 'microbatches', 'dp'],
  );
}

function check(batch: DeepSpeedBatch, dp: Sourced<number>, findings: Finding[], anchor: TextRange): void {
  const { microBatchSize: micro, globalBatchSize: train, microbatches } = batch;
  const values = [train, micro, microbatches];
  const places = values.flatMap((value, i) => {
    const range = rangeOf(value);
    const message = ['train_batch_size', 'train_micro_batch_size_per_gpu', 'gradient_accumulation_steps'][i]!;
    return range === null || value.value === null ? [] : [{ message: `${message} ${value.value}`, range }];
  });
  const [first, ...rest] = places;
  const refuse = (message: string) =>
    findings.push(finding('batch-not-divisible', message, first?.range ?? anchor, rest));
  if (train.value === null || micro.value === null) return;
  if (dp.value === null) {
    if (train.value % micro.value !== 0) {
      refuse(
        `Check batch related parameters. train_batch_size is not equal to micro_batch_per_gpu * gradient_acc_step * world_size: ${micro.value} does not divide ${train.value}, whatever the others are`,
      );
    }
    return;
  }
  if (microbatches.value === null) return;
  if (train.value !== micro.value * microbatches.value * dp.value) {
    refuse(
      `Check batch related parameters. train_batch_size is not equal to micro_batch_per_gpu * gradient_acc_step * world_size ${train.value} != ${micro.value} * ${microbatches.value} * ${dp.value}`,
    );
  }
}

/** ZeRO 2 and 3 reduce gradients while the pipeline still accumulates them. */
export function checkZero(
  stage: Sourced<number> | null,
  pp: Sourced<number>,
  findings: Finding[],
  anchor: TextRange,
): void {
  if (stage === null || stage.value === null || stage.value < 2) return;
  const at = rangeOf(pp);
  const related = at === null ? [] : [{ message: `pipeline size ${pp.value}`, range: at }];
  const message = `ZeRO-2 and ZeRO-3 are incompatible with pipeline parallelism (stage ${stage.value})`;
  findings.push(finding('options-conflict', message, rangeOf(stage) ?? anchor, related));
}

/** A number that was found in a script's text. */
export function countFrom(text: string, range: TextRange, note?: string): Sourced<number> {
  const value = Number(text);
  return Number.isSafeInteger(value) && value >= 0
    ? fromText(value, range, note)
    : unknown(`a number, not ${text.slice(0, 40)}`, undefined, range);
}
