/**
 * V-Half: a V within about half of the activations of 1F1B, searched for given times. Its own memory limit is the peak
 * of the paper's building block for it, 2 (pp / 2) + 2 live stage-microbatches, against 2 pp for ZB-V. Qi et al.,
 * Pipeline Parallelism with Controllable Memory, arXiv 2405.15362; the framework's own order, fixed for all times, is
 * sail-sg/zero-bubble-pipeline-parallelism megatron/core/pipeline_parallel/zerobubble/scheduler/zbv_greedy.py.
 */

import { searchOrder } from '../search/search.ts';
import { vSizes } from './common.ts';
import type { ScheduleRow } from './row.ts';
import { ZBV } from './zbv.ts';

export const V_HALF: ScheduleRow = {
  ...ZBV,
  id: 'v-half',
  title: 'V-Half',
  source: 'Qi et al., Pipeline Parallelism with Controllable Memory, arXiv 2405.15362',
  aliases: ['v-half', 'vhalf', 'zbv-half'],
  searches: () => true,
  order: (shape, times) => searchOrder(vSizes(shape), times, shape.memoryLimit ?? 2 * Math.floor(shape.pp / 2) + 2, []),
};
