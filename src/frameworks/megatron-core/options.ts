/**
 * Refusals that need no arithmetic on the pipeline: options that were removed, that exclude pipelines, or whose sizes
 * do not divide. Mirrors NVIDIA/Megatron-LM@d98e8a64dd megatron/training/arguments.py and
 * megatron/core/transformer/transformer_config.py.
 */

import type { ModelShape } from '../../model/plan.ts';
import type { Sourced } from '../../model/source.ts';
import { type Context, given, isOn, numberOf, placeOf, refuse } from './context.ts';
import { flagOf, type MegatronKey } from './keys.ts';
import type { Sizes } from './sizes.ts';

const REMOVED: readonly (readonly [MegatronKey, string])[] = [
  ['oldBatch', '--batch-size argument is no longer valid, use --micro-batch-size instead'],
  ['oldModelParallel', '--model-parallel-size is no longer valid, use --tensor-model-parallel-size instead'],
  [
    'oldCheckpointActivations',
    '--checkpoint-activations is no longer valid, use --recompute-activations, or, for more control, --recompute-granularity and --recompute-method.',
  ],
  ['oldSplitRank', 'unrecognized arguments: --pipeline-model-parallel-split-rank (removed in 2025-07)'],
  ['oldStandaloneEmbedding', 'unrecognized arguments: --standalone-embedding-stage (removed in 2025-07)'],
  ['oldEncoderPipeline', 'unrecognized arguments: --encoder-pipeline-model-parallel-size (removed in 2025-07)'],
];

const NOT_WITH_PIPELINES: readonly (readonly [MegatronKey, string])[] = [
  ['torchFsdp2', '--use-torch-fsdp2 is not supported with pipeline parallelism'],
  ['hybridContext', 'Hybrid context parallelism not supported with pipeline parallelism'],
];

export function checkOptions(
  context: Context,
  sizes: Sizes,
  vpp: Sourced<number>,
  shape: ModelShape,
  sequence: Sourced<number>,
): void {
  for (const [key, message] of REMOVED) {
    if (placeOf(context, key) !== null && isOn(context, key) === true)
      refuse(context, 'option-removed', message, [key]);
  }
  const pp = sizes.pp.value;
  for (const [key, message] of NOT_WITH_PIPELINES) {
    if (pp !== null && pp > 1 && isOn(context, key) === true) refuse(context, 'options-conflict', message, [key, 'pp']);
  }
  checkInterleaving(context, pp, vpp.value);
  checkHeads(context, sizes.tp.value, shape);
  checkExperts(context, sizes.ep.value);
  checkSequence(context, sizes.cp.value, sequence.value);
}

function checkInterleaving(context: Context, pp: number | null, vpp: number | null): void {
  const keys = ['pp', 'virtualStages', 'layersPerVirtualStage', 'layout', 'hybridPattern'] as const;
  if (pp === 1 && vpp !== null && vpp > 1) {
    const message = 'When interleaved schedule is used, pipeline-model-parallel size should be greater than 1';
    refuse(context, 'schedule-not-legal', message, keys);
  }
  if (pp === 2 && vpp !== null && vpp > 1 && isOn(context, 'noOverlapP2p') === true) {
    const message =
      'When interleaved schedule is used and p2p communication overlap is disabled, pipeline-model-parallel size should be greater than 2 to avoid having multiple p2p sends and recvs between same 2 ranks per communication batch';
    refuse(context, 'schedule-not-legal', message, ['noOverlapP2p', ...keys]);
  }
  if (pp !== null && pp > 1 && vpp === 1 && isOn(context, 'overlapExperts') === true) {
    const message =
      'If enabling EP A2A overlap, virtual_pipeline_model_parallel_size must be specified when pipeline_model_parallel_size > 1';
    refuse(context, 'schedule-not-legal', message, ['overlapExperts', 'pp']);
  }
}

function checkHeads(context: Context, tp: number | null, { heads, kvHeads }: ModelShape): void {
  if (tp === null) return;
  if (heads.value !== null && heads.value % tp !== 0) {
    const message = `num_attention_heads (${heads.value}) must be a multiple of tensor_model_parallel_size (${tp}).`;
    refuse(context, 'heads-not-divisible', message, ['tp', 'heads']);
  } else if (kvHeads.value !== null && kvHeads.value % tp !== 0 && tp % kvHeads.value !== 0) {
    const message = `num_query_groups (${kvHeads.value}) must be a multiple or divisor of tensor_model_parallel_size (${tp}).`;
    refuse(context, 'heads-not-divisible', message, ['tp', 'queryGroups']);
  }
}

function checkExperts(context: Context, ep: number | null): void {
  if (ep === null || ep === 1) return;
  const experts = numberOf(context, 'experts', 0);
  if (experts === null || experts.value === 0) {
    if (context.input.elsewhere !== null || !context.input.complete) return;
    refuse(context, 'options-conflict', 'num_experts must be non None to use expert model parallelism', [
      'ep',
      'experts',
    ]);
  } else if (experts.value !== null && experts.value % ep !== 0) {
    const message = `Number of experts should be a multiple of expert model parallel_size. (${flagOf('experts')} ${experts.value}, expert model parallel size ${ep})`;
    refuse(context, 'experts-not-divisible', message, ['ep', 'experts']);
  }
}

function checkSequence(context: Context, cp: number | null, sequence: number | null): void {
  if (cp === null || cp === 1 || sequence === null || sequence % (2 * cp) === 0) return;
  const message = `seq-length should be a multiple of 2 * context-parallel-size if context-parallel-size > 1. (seq-length ${sequence}, context-parallel-size ${cp})`;
  const key = given(context, 'sequence') === undefined ? 'encoderSequence' : 'sequence';
  refuse(context, 'sequence-not-divisible', message, ['cp', key]);
}
