/**
 * Batch and microbatches of a torchtitan config, by era. Every accumulation step drains the pipeline, so what counts
 * is the microbatches of one local batch. Mirrors `build_pipeline_schedule` in pytorch/torchtitan
 * torchtitan/distributed/pipeline_parallel.py (earlier pipeline.py, pipelining_utils.py) and torchtitan/train.py.
 */

import { byDefault, derived, firstUnknown, fromText, rangeOf, type Sourced, unknown } from '../../model/source.ts';
import { saidNumber } from '../said.ts';
import { WHOLE, WHOLE_OR_REST } from '../values.ts';
import { parallelNumber, report, type TitanConfig, trainingNumber } from './config.ts';
import { tokenBatch } from './tokens.ts';

export interface TitanBatch {
  readonly microbatches: Sourced<number>;
  readonly microBatchSize: Sourced<number>;
  readonly globalBatchSize: Sourced<number>;
}

/** Samples of one data-parallel rank in one forward and backward of the pipeline. */
export function localBatch(config: TitanConfig): Sourced<number> {
  const name = config.era === 'local' ? 'local_batch_size' : 'batch_size';
  return trainingNumber(config, name, WHOLE, byDefault(8, `torchtitan: ${name} is 8 when absent`));
}

/** @param stages total stages, the default count of microbatches until 2025-04 */
export function titanBatch(
  config: TitanConfig,
  sizes: { readonly pp: Sourced<number>; readonly dp: Sourced<number> },
  stages: Sourced<number>,
): TitanBatch {
  if (config.era === 'tokens') return tokenBatch(config, sizes);
  const local = localBatch(config);
  const micro = config.era === 'count' ? byCount(config, sizes.pp, local, stages) : bySize(config, sizes.pp, local);
  return {
    microbatches: saidNumber(config.said, 'pipeline.microbatches', micro.microbatches),
    microBatchSize: saidNumber(config.said, 'batch.micro', micro.microBatchSize),
    globalBatchSize: saidNumber(config.said, 'batch.global', globalBatch(config, local, sizes.dp)),
  };
}

type Micro = Pick<TitanBatch, 'microbatches' | 'microBatchSize'>;

function withoutPipeline(local: Sourced<number>): Sourced<number> {
  return derived(1, `no pipeline: the local batch of ${local.value ?? '?'} runs whole`, ['pp']);
}

function bySize(config: TitanConfig, pp: Sourced<number>, local: Sourced<number>): Micro {
  const name = 'pipeline_parallel_microbatch_size';
  const absent = byDefault(1, `torchtitan: ${name} is 1 when absent`);
  const size = parallelNumber(config, name, WHOLE, absent, 'batch.micro');
  if (pp.value === 1) return { microbatches: withoutPipeline(local), microBatchSize: size };
  const missing = firstUnknown([pp, local, size]);
  if (missing !== null || local.value === null || size.value === null) {
    return { microbatches: missing ?? unknown('the batch size'), microBatchSize: size };
  }
  if (local.value % size.value !== 0) {
    const message = `Batch size ${local.value} must be divisible by microbatch_size ${size.value}.`;
    report(config, 'batch-not-divisible', message, [
      ['microbatch size', size],
      ['local batch size', local],
    ]);
    return { microbatches: unknown('a batch that the microbatch size divides'), microBatchSize: size };
  }
  const how = `local batch ${local.value} / microbatch size ${size.value}`;
  return { microbatches: atToken(local.value / size.value, how, [local, size]), microBatchSize: size };
}

/** The token to edit for a quotient is the one of its inputs that stands in the text. */
function atToken(value: number, how: string, inputs: readonly Sourced<number>[]): Sourced<number> {
  const range = inputs.map(rangeOf).find((each) => each !== null);
  return range === undefined || range === null ? derived(value, how, ['microBatchSize']) : fromText(value, range, how);
}

function byCount(config: TitanConfig, pp: Sourced<number>, local: Sourced<number>, stages: Sourced<number>): Micro {
  if (pp.value === 1) {
    const why = `torchtitan: no microbatches without a pipeline, the local batch of ${local.value ?? '?'} runs whole`;
    return { microbatches: withoutPipeline(local), microBatchSize: byDefault(1, why) };
  }
  const byStages =
    stages.value === null ? stages : byDefault(stages.value, 'torchtitan until 2025-04: as many as total stages');
  const microbatches = parallelNumber(config, 'pipeline_parallel_microbatches', WHOLE, byStages);
  const missing = firstUnknown([local, microbatches]);
  if (missing !== null || local.value === null || microbatches.value === null) {
    return { microbatches, microBatchSize: missing ?? unknown('the batch size', 'batch.micro') };
  }
  if (local.value % microbatches.value !== 0) {
    const message = `Batch size ${local.value} must be divisible by number of microbatches ${microbatches.value}.`;
    report(config, 'batch-not-divisible', message, [
      ['microbatches', microbatches],
      ['batch size', local],
    ]);
    return { microbatches, microBatchSize: unknown('a batch that the microbatches divide', 'batch.micro') };
  }
  const how = `batch ${local.value} / ${microbatches.value} microbatches`;
  return { microbatches, microBatchSize: derived(local.value / microbatches.value, how, ['microbatches']) };
}

/** -1, the default, is the local batch of every data-parallel rank: no accumulation. */
function globalBatch(config: TitanConfig, local: Sourced<number>, dp: Sourced<number>): Sourced<number> {
  const given =
    config.era === 'local'
      ? trainingNumber(config, 'global_batch_size', WHOLE_OR_REST, byDefault(-1, 'torchtitan: one local batch a step'))
      : byDefault(-1, 'torchtitan until 2025-06: one local batch a step');
  if (given.value === null) return given;
  if (given.value === -1) {
    const missing = firstUnknown([local, dp]);
    if (missing !== null || local.value === null || dp.value === null) return missing ?? unknown('the batch size');
    return derived(local.value * dp.value, `local batch ${local.value} × dp ${dp.value}`, ['dp']);
  }
  if (local.value !== null && dp.value !== null && given.value % (local.value * dp.value) !== 0) {
    report(
      config,
      'batch-not-divisible',
      `global batch size must be multiple of local batch size times data-parallel degree (${given.value} % (${local.value} * ${dp.value}) != 0)`,
      [
        ['global batch size', given],
        ['local batch size', local],
        ['data-parallel size', dp],
      ],
    );
  }
  return given;
}
