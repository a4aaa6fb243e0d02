/**
 * Batches of torchtitan since it folded the batch into tokens: the microbatches are given, and what one of them holds
 * is so many tokens. Samples are tokens over the longest context. Mirrors pytorch/torchtitan@b5bcd76c6
 * torchtitan/trainer.py and torchtitan/config/configs.py (since 73aed7f6c, 2026-08).
 */

import { byDefault, derived, firstUnknown, fromText, rangeOf, type Sourced, unknown } from '../../model/source.ts';
import { saidNumber } from '../said.ts';
import { WHOLE, WHOLE_OR_REST } from '../values.ts';
import type { TitanBatch } from './batch.ts';
import { parallelNumber, report, type TitanConfig, trainingNumber } from './config.ts';

const MICRO = 'num_tokens_per_microbatch_per_dp_rank';
const STEP = 'num_tokens_per_train_step';

/** The longest context, which stands for the sequence length. */
export function contextLength(config: TitanConfig): Sourced<number> {
  const absent = byDefault(2048, 'torchtitan: max_context_length is 2048 when absent');
  return trainingNumber(config, 'max_context_length', WHOLE, absent, 'model.sequence');
}

export function tokenBatch(
  config: TitanConfig,
  { pp, dp }: { readonly pp: Sourced<number>; readonly dp: Sourced<number> },
): TitanBatch {
  const context = contextLength(config);
  const tokens = trainingNumber(config, MICRO, WHOLE, byDefault(16384, `torchtitan: ${MICRO} is 16384 when absent`));
  const given = parallelNumber(
    config,
    'num_pp_microbatches',
    WHOLE,
    byDefault(1, 'torchtitan: num_pp_microbatches is 1 when absent'),
  );
  const single = derived(1, 'no pipeline: num_pp_microbatches is ignored', ['pp']);
  const microbatches = pp.value === 1 ? single : pp.value === null ? pp : given;
  return {
    microbatches: saidNumber(config.said, 'pipeline.microbatches', microbatches),
    microBatchSize: saidNumber(config.said, 'batch.micro', samples(tokens, context, 'microbatch')),
    globalBatchSize: saidNumber(
      config.said,
      'batch.global',
      globalBatch(config, { tokens, microbatches, dp, context }),
    ),
  };
}

/** Tokens over the context; the token to edit is that of the tokens. */
function samples(tokens: Sourced<number>, context: Sourced<number>, what: string): Sourced<number> {
  const missing = firstUnknown([tokens, context]);
  if (tokens.value === null || context.value === null) return missing ?? unknown('the batch size');
  const count = tokens.value / context.value;
  if (!Number.isSafeInteger(count)) {
    return unknown(`whole samples: ${tokens.value} tokens of a ${what} hold no whole number of ${context.value}`);
  }
  const how = `${tokens.value} tokens / ${context.value} of a context`;
  const range = rangeOf(tokens);
  return range === null ? derived(count, how, ['sequenceLength']) : fromText(count, range, how);
}

interface Global extends Pick<TitanBatch, 'microbatches'> {
  readonly tokens: Sourced<number>;
  readonly dp: Sourced<number>;
  readonly context: Sourced<number>;
}

function globalBatch(config: TitanConfig, { tokens, microbatches, dp, context }: Global): Sourced<number> {
  const absent = byDefault(-1, 'torchtitan: one pass of every data-parallel rank');
  const given = trainingNumber(config, STEP, WHOLE_OR_REST, absent);
  if (given.value === null) return given;
  const missing = firstUnknown([tokens, microbatches, dp]);
  if (tokens.value === null || microbatches.value === null || dp.value === null) {
    return given.value === -1 ? (missing ?? unknown('the batch size')) : samples(given, context, 'step');
  }
  const pass = tokens.value * microbatches.value * dp.value;
  if (given.value === -1) {
    const how = `${tokens.value} tokens x ${microbatches.value} microbatches x dp ${dp.value}`;
    return samples(derived(pass, how, ['microbatches', 'dp']), context, 'step');
  }
  if (given.value % pass !== 0) {
    const message = `training.${STEP} (${given.value}) must be divisible by the number of tokens processed globally in one gradient accumulation iteration (${pass}).`;
    report(config, 'batch-not-divisible', message, [
      ['tokens of a step', given],
      ['tokens of a microbatch', tokens],
      ['microbatches', microbatches],
      ['data-parallel size', dp],
    ]);
  }
  return samples(given, context, 'step');
}
