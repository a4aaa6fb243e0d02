/**
 * MindSpeed-LLM: Megatron-LM on Ascend, with DualPipeV beside Megatron's schedules and layers that do nothing to even
 * out a count. Mirrors Ascend/MindSpeed-LLM at c77308a1 mindspeed_llm/features_manager/pipeline_parallel, and
 * Ascend/MindSpeed mindspeed/features_manager/pipeline_parallel/dualpipev_feature.py and
 * mindspeed/core/pipeline_parallel/dualpipev/dualpipev_chunks.py (get_transformer_layer_offset).
 */

import type { StageContent } from '../model/plan.ts';
import type { ScheduleId } from '../model/schedule.ts';
import type { Framework } from './framework.ts';
import { MEGATRON_LM } from './megatron-lm.ts';
import { firstRefusal, forSchedules, onlySchedules, twoStages } from './schedule-rules.ts';

const TITLE = 'MindSpeed-LLM';
const SCHEDULES: readonly ScheduleId[] = ['none', '1f1b', 'interleaved-1f1b', 'dualpipev'];

export const MINDSPEED_LLM: Framework = {
  id: 'mindspeed-llm',
  title: TITLE,
  source: 'Ascend/MindSpeed-LLM@c77308a1 mindspeed_llm/features_manager/pipeline_parallel',
  schedules: SCHEDULES,
  refuse: firstRefusal([
    onlySchedules(TITLE, SCHEDULES),
    twoStages(TITLE, ['dualpipev']),
    forSchedules(['dualpipev'], ({ pp, microbatches }) =>
      microbatches >= 2 * pp - 1
        ? null
        : {
            code: 'microbatches-below-minimum',
            message: `num_micro_batch should more than pipeline_model_parallel_size * 2 - 1 (${microbatches} microbatches, pipeline_model_parallel_size ${pp})`,
            about: ['microbatches', 'pp'],
          },
    ),
    forSchedules(['none', '1f1b', 'interleaved-1f1b'], MEGATRON_LM.refuse),
  ]),
  defaultGroupSize: ({ pp }) => pp,
  variant: () => null,
};

/**
 * Two chunks on each rank, down and back up: each holds half of the rank's share, rounded down, so that a remainder is
 * not built at all. Prediction layers follow the last layer, on the first rank.
 */
export function dualPipeVStages(layers: number, pp: number, mtp: number): readonly StageContent[] {
  const each = Math.floor(Math.floor(layers / pp) / 2);
  const last = 2 * pp - 1;
  return Array.from({ length: 2 * pp }, (_, stage) => ({
    layers: each,
    embedding: stage === 0,
    head: stage === last,
    mtp: stage === last ? mtp : 0,
  }));
}

/** Stages without the layers that do nothing; `noops` are global numbers from 0. */
export function withoutNoops(stages: readonly StageContent[], noops: ReadonlySet<number>): readonly StageContent[] {
  let first = 0;
  return stages.map((stage) => {
    const idle = [...noops].filter((layer) => layer >= first && layer < first + stage.layers).length;
    first += stage.layers;
    return idle === 0 ? stage : { ...stage, layers: stage.layers - idle };
  });
}
