/**
 * GPT-NeoX: DeepSpeed's pipeline engine and split, with helper functions in the list of layers that `type:transformer`
 * matches too. Mirrors EleutherAI/gpt-neox at ea7aefd8: megatron/model/gpt2_model.py (`init_specs`) and
 * megatron/neox_arguments/arguments.py.
 */

import type { ScheduleId } from '../model/schedule.ts';
import { type PipelineLayer, transformerList } from './deepspeed-split.ts';
import type { Framework } from './framework.ts';
import { firstRefusal, oneStage, onlySchedules } from './schedule-rules.ts';

const TITLE = 'GPT-NeoX';
const SCHEDULES: readonly ScheduleId[] = ['none', '1f1b'];

export const GPT_NEOX: Framework = {
  id: 'gpt-neox',
  title: TITLE,
  source: 'EleutherAI/gpt-neox@ea7aefd8 megatron/neox_arguments/arguments.py',
  schedules: SCHEDULES,
  refuse: firstRefusal([onlySchedules(TITLE, SCHEDULES), oneStage(TITLE, SCHEDULES)]),
  defaultGroupSize: () => 1,
  variant: () => null,
};

/** The list that is given to the PipelineModule; `tied` where the head is the embedding again. */
export function neoxPipeLayers(layers: number, tied: boolean): readonly PipelineLayer[] {
  return transformerList(
    [
      { name: 'EmbeddingPipe', part: 'embedding' },
      { name: '_pre_transformer_block', part: 'other' },
    ],
    layers,
    'ParallelTransformerLayerPipe',
    [
      { name: '_post_transformer_block', part: 'other' },
      { name: 'NormPipe', part: 'other' },
      { name: tied ? 'EmbeddingPipe' : 'ParallelLinearPipe', part: 'head' },
    ],
  );
}
