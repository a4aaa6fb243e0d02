/**
 * V-Min: a V within about a third of the activations of 1F1B, the least that keeps every rank busy when F, I and W take
 * the same time, searched for given times. Its own memory limit is the peak of the paper's building block for it,
 * twice (pp + 2) / 3 rounded up. Qi et al., Pipeline Parallelism with Controllable Memory, arXiv 2405.15362; the
 * framework's own order, fixed for all times, is sail-sg/zero-bubble-pipeline-parallelism
 * megatron/core/pipeline_parallel/zerobubble/scheduler/zbv_greedy.py.
 */

import { searchOrder } from '../search/search.ts';
import { vSizes } from './common.ts';
import type { ScheduleRow } from './row.ts';
import { V_HALF } from './v-half.ts';

export const V_MIN: ScheduleRow = {
  ...V_HALF,
  id: 'v-min',
  title: 'V-Min',
  aliases: ['v-min', 'vmin', 'zbv-min'],
  order: (shape, times) =>
    searchOrder(vSizes(shape), times, shape.memoryLimit ?? 2 * Math.ceil((shape.pp + 2) / 3), []),
};
