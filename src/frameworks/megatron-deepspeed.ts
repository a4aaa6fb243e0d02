/**
 * Megatron-DeepSpeed: Megatron's model in DeepSpeed's pipeline engine, which runs 1F1B, or ZB-H1 with
 * `--enable-zbh1-pipeline`. Mirrors deepspeedai/Megatron-DeepSpeed at 4efb479d: megatron/arguments.py,
 * megatron/core/pipeline_parallel/deepspeed_zbh1_schedule.py and `GPTModelPipe` in megatron/model/gpt_model.py, whose
 * list of layers is that of bigscience-workshop/Megatron-DeepSpeed too.
 */

import type { ScheduleId } from '../model/schedule.ts';
import { type PipelineLayer, transformerList } from './deepspeed-split.ts';
import type { Framework } from './framework.ts';
import { firstRefusal, oneStage, onlySchedules } from './schedule-rules.ts';

const TITLE = 'Megatron-DeepSpeed';
const SCHEDULES: readonly ScheduleId[] = ['none', '1f1b', 'zb-h1'];

export const MEGATRON_DEEPSPEED: Framework = {
  id: 'megatron-deepspeed',
  title: TITLE,
  source: 'deepspeedai/Megatron-DeepSpeed@4efb479d megatron/arguments.py',
  schedules: SCHEDULES,
  refuse: firstRefusal([onlySchedules(TITLE, SCHEDULES), oneStage(TITLE, SCHEDULES)]),
  defaultGroupSize: () => 1,
  variant: () => null,
};

interface MegatronPipe {
  readonly layers: number;
  /** `--untie-embeddings-and-output-weights`: the head is a layer of its own, not the embedding again. */
  readonly untied: boolean;
  /** `--fp16` or `--bf16`: the list ends with a cast. */
  readonly cast: boolean;
}

/** The list that is given to the PipelineModule. */
export function megatronPipeLayers({ layers, untied, cast }: MegatronPipe): readonly PipelineLayer[] {
  const other = (name: string): PipelineLayer => ({ name, part: 'other' });
  return transformerList(
    [other('_to_float16'), { name: 'EmbeddingPipe', part: 'embedding' }],
    layers,
    'ParallelTransformerLayerPipe',
    [
      other('LayerNorm'),
      { name: untied ? 'LMHeadPipe' : 'EmbeddingPipe', part: 'head' },
      ...(cast ? [other('float16_to_fp32')] : []),
    ],
  );
}
