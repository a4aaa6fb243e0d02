/**
 * Parallel sizes and what they make of the GPUs: the data-parallel size, and Megatron's two checks that the world
 * divides. Mirrors NVIDIA/Megatron-LM@d98e8a64dd megatron/training/arguments.py (validate_args) and
 * megatron/core/parallel_state.py (initialize_model_parallel).
 */

import { derived, firstUnknown, type Sourced } from '../../model/source.ts';
import { type Context, given, numberOf, numberOr, refuse } from './context.ts';
import type { MegatronKey } from './keys.ts';

export interface Sizes {
  readonly pp: Sourced<number>;
  readonly tp: Sourced<number>;
  readonly cp: Sourced<number>;
  readonly ep: Sourced<number>;
  readonly gpus: Sourced<number>;
  readonly dp: Sourced<number>;
}

export function resolveSizes(context: Context): Sizes {
  const pp = numberOr(context, 'pp', 1, 1, 'one stage when --pipeline-model-parallel-size is absent', 'pipeline.size');
  const tp = numberOr(context, 'tp', 1, 1, '1 when --tensor-model-parallel-size is absent', 'parallel.tensor');
  const cp = numberOr(context, 'cp', 1, 1, '1 when --context-parallel-size is absent', 'parallel.context');
  const ep = numberOr(context, 'ep', 1, 1, '1 when --expert-model-parallel-size is absent', 'parallel.expert');
  const etp = numberOf(context, 'etp', 1) ?? tp;
  const remat = shardFactor(context, 'weightShards', tp);
  const expertRemat = shardFactor(context, 'expertWeightShards', etp);
  const model = product(tp.value, pp.value, cp.value, remat);
  const said = context.input.dp;
  const gpus = gpuCount(context, said, model);
  const fits = model === null || gpus.value === null || gpus.value % model === 0;
  if (!fits) {
    const message = `world size (${gpus.value}) is not divisible by total_model_size (total_model_size=${model})`;
    refuse(context, 'world-size-not-divisible', message, ['pp', 'tp', 'cp', 'weightShards'], true);
  } else {
    checkExperts(context, gpus.value, product(etp.value, ep.value, pp.value, expertRemat));
  }
  const dp = said ?? dataParallel(gpus, [tp, pp, cp], model, remat ?? 1);
  return { pp, tp, cp, ep, gpus, dp };
}

function product(...factors: readonly (number | null)[]): number | null {
  return factors.reduce((all, factor) => (all === null || factor === null ? null : all * factor), 1);
}

/** GPUs as read; where only the data-parallel size was said, they follow from it. */
function gpuCount(context: Context, dp: Sourced<number> | null, model: number | null): Sourced<number> {
  const { world } = context.input;
  if (world.value !== null || dp === null || dp.value === null || model === null) return world;
  return derived(dp.value * model, `${dp.value} x ${model}`, ['dp', 'tp', 'pp', 'cp']);
}

/** Weight shards beyond the tensor-parallel size are a factor of the world of their own. */
function shardFactor(context: Context, key: MegatronKey, tp: Sourced<number>): number | null {
  const shards = numberOf(context, key, 1);
  if (shards === null) return 1;
  if (shards.value === null || tp.value === null) return null;
  if (shards.value % tp.value === 0) return shards.value / tp.value;
  const field =
    key === 'weightShards' ? 'tensor_parallel_num_weight_shards' : 'expert_tensor_parallel_num_weight_shards';
  const relation = shards.value < tp.value ? '>=' : 'divisible by';
  const message = `${field} (${shards.value}) must be ${relation} tensor_model_parallel_size (${tp.value}).`;
  refuse(context, 'invalid-value', message, [key, 'tp']);
  return null;
}

function checkExperts(context: Context, world: number | null, size: number | null): void {
  if (world === null || size === null || world % size === 0) return;
  if (given(context, 'ep') === undefined && given(context, 'etp') === undefined) return;
  const message = `world_size (${world}) is not divisible by expert_tensor_model_pipeline_parallel size (${size})`;
  refuse(context, 'expert-size-not-divisible', message, ['ep', 'etp', 'pp', 'tp'], true);
}

function dataParallel(
  gpus: Sourced<number>,
  sizes: readonly Sourced<number>[],
  model: number | null,
  remat: number,
): Sourced<number> {
  const missing = firstUnknown([gpus, ...sizes]);
  if (missing !== null) return missing;
  if (gpus.value === null || model === null)
    return { value: null, source: { kind: 'unknown', missing: 'the weight shards' } };
  if (gpus.value % model !== 0) {
    const source = {
      kind: 'unknown',
      missing: `a GPU count that ${model} divides (${gpus.value} does not)`,
      say: 'cluster.gpus',
    } as const;
    return { value: null, source };
  }
  const factors = [...sizes.map((size) => size.value), ...(remat > 1 ? [remat] : [])].join(' x ');
  return derived(gpus.value / model, `${gpus.value} / (${factors})`, ['gpus', 'tp', 'pp', 'cp']);
}
