/**
 * The canonical keys of Megatron-core: one name for what a dozen frameworks spell differently, with the flag that
 * Megatron-LM gives it. A front end (shell, YAML, Python) fills in what it read, each value with its place; the
 * resolver only ever sees these keys. Names and meanings as in NVIDIA/Megatron-LM@d98e8a64dd
 * megatron/training/arguments.py.
 */

import type { Sourced, TextRange } from '../../model/source.ts';

type Takes = 'number' | 'text' | 'switch';

interface KeyRow {
  readonly flag: string;
  readonly takes: Takes;
}

export const MEGATRON_KEYS = {
  pp: { flag: 'pipeline-model-parallel-size', takes: 'number' },
  tp: { flag: 'tensor-model-parallel-size', takes: 'number' },
  cp: { flag: 'context-parallel-size', takes: 'number' },
  ep: { flag: 'expert-model-parallel-size', takes: 'number' },
  etp: { flag: 'expert-tensor-parallel-size', takes: 'number' },
  weightShards: { flag: 'tensor-parallel-num-weight-shards', takes: 'number' },
  expertWeightShards: { flag: 'expert-tensor-parallel-num-weight-shards', takes: 'number' },
  layersPerVirtualStage: { flag: 'num-layers-per-virtual-pipeline-stage', takes: 'number' },
  virtualStages: { flag: 'num-virtual-stages-per-pipeline-rank', takes: 'number' },
  layout: { flag: 'pipeline-model-parallel-layout', takes: 'text' },
  firstLayers: { flag: 'decoder-first-pipeline-num-layers', takes: 'number' },
  lastLayers: { flag: 'decoder-last-pipeline-num-layers', takes: 'number' },
  accountEmbedding: { flag: 'account-for-embedding-in-pipeline-split', takes: 'switch' },
  accountLoss: { flag: 'account-for-loss-in-pipeline-split', takes: 'switch' },
  groupSize: { flag: 'microbatch-group-size-per-virtual-pipeline-stage', takes: 'number' },
  noOverlapP2p: { flag: 'no-overlap-p2p-communication', takes: 'switch' },
  microBatch: { flag: 'micro-batch-size', takes: 'number' },
  globalBatch: { flag: 'global-batch-size', takes: 'number' },
  microbatches: { flag: 'num-microbatches', takes: 'number' },
  rampup: { flag: 'rampup-batch-size', takes: 'text' },
  stepSchedule: { flag: 'step-batch-size-schedule', takes: 'text' },
  decreaseBatch: { flag: 'decrease-batch-size-if-needed', takes: 'switch' },
  layers: { flag: 'num-layers', takes: 'number' },
  encoderLayers: { flag: 'encoder-num-layers', takes: 'number' },
  mtpLayers: { flag: 'mtp-num-layers', takes: 'number' },
  hybridPattern: { flag: 'hybrid-layer-pattern', takes: 'text' },
  hybridOverride: { flag: 'hybrid-override-pattern', takes: 'text' },
  hidden: { flag: 'hidden-size', takes: 'number' },
  heads: { flag: 'num-attention-heads', takes: 'number' },
  groupQuery: { flag: 'group-query-attention', takes: 'switch' },
  queryGroups: { flag: 'num-query-groups', takes: 'number' },
  ffn: { flag: 'ffn-hidden-size', takes: 'number' },
  swiglu: { flag: 'swiglu', takes: 'switch' },
  vocabulary: { flag: 'vocab-size', takes: 'number' },
  sequence: { flag: 'seq-length', takes: 'number' },
  encoderSequence: { flag: 'encoder-seq-length', takes: 'number' },
  recomputeActivations: { flag: 'recompute-activations', takes: 'switch' },
  recomputeGranularity: { flag: 'recompute-granularity', takes: 'text' },
  bf16: { flag: 'bf16', takes: 'switch' },
  fp16: { flag: 'fp16', takes: 'switch' },
  fp8: { flag: 'fp8-format', takes: 'text' },
  fp4: { flag: 'fp4-format', takes: 'text' },
  experts: { flag: 'num-experts', takes: 'number' },
  topK: { flag: 'moe-router-topk', takes: 'number' },
  moeFfn: { flag: 'moe-ffn-hidden-size', takes: 'number' },
  sharedFfn: { flag: 'moe-shared-expert-intermediate-size', takes: 'number' },
  overlapExperts: { flag: 'overlap-moe-expert-parallel-comm', takes: 'switch' },
  torchFsdp2: { flag: 'use-torch-fsdp2', takes: 'switch' },
  hybridContext: { flag: 'hybrid-context-parallel', takes: 'switch' },
  trainIters: { flag: 'train-iters', takes: 'number' },
  trainSamples: { flag: 'train-samples', takes: 'number' },
  checkpointArgs: { flag: 'use-checkpoint-args', takes: 'switch' },
  yamlConfig: { flag: 'yaml-cfg', takes: 'text' },
  oldBatch: { flag: 'batch-size', takes: 'number' },
  oldModelParallel: { flag: 'model-parallel-size', takes: 'number' },
  oldCheckpointActivations: { flag: 'checkpoint-activations', takes: 'switch' },
  oldSplitRank: { flag: 'pipeline-model-parallel-split-rank', takes: 'number' },
  oldStandaloneEmbedding: { flag: 'standalone-embedding-stage', takes: 'switch' },
  oldEncoderPipeline: { flag: 'encoder-pipeline-model-parallel-size', takes: 'number' },
  forkLayerList: { flag: 'num-layer-list', takes: 'text' },
  forkSchedule: { flag: 'schedules-method', takes: 'text' },
} as const satisfies Readonly<Record<string, KeyRow>>;

export type MegatronKey = keyof typeof MEGATRON_KEYS;

/** One key as a front end read it. */
export interface Setting {
  /** The text of the value; `true` for a switch. Unknown where the file does not determine it. */
  readonly value: Sourced<string>;
  /** As it is written, for messages: `--num-layers`. */
  readonly spelled: string;
  /** Where the key itself is written; null when it was said outside the file. */
  readonly place: TextRange | null;
}

/** A place that has a part in the number of GPUs. */
export interface WorldPart {
  readonly message: string;
  readonly range: TextRange;
}

export interface MegatronInput {
  readonly keys: ReadonlyMap<MegatronKey, Setting>;
  readonly world: Sourced<number>;
  readonly worldParts: readonly WorldPart[];
  readonly dp: Sourced<number> | null;
  /** Where findings without a token of their own go. */
  readonly anchor: TextRange;
  /** Why a key that is not written might still be given; null when it is surely absent. */
  readonly elsewhere: string | null;
  /** What is passed through and may add keys, without making the defaults doubtful; null for nothing. */
  readonly passed: string | null;
  /** Whether what the framework requires must stand here: false for a part of a command, or a checkpoint's arguments. */
  readonly complete: boolean;
}

export function flagOf(key: MegatronKey): string {
  return `--${MEGATRON_KEYS[key].flag}`;
}
