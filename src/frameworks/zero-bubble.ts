/**
 * The zero-bubble authors' fork of Megatron-LM. Its quick-start patch runs ZB-H1 in a variant of its own, which
 * postpones the first weight gradients at some sizes. Mirrors sail-sg/zero-bubble-pipeline-parallelism at 39f2c186
 * (main) and c5d50741 (zb-h1-quick-start), megatron/core/pipeline_parallel.
 */

import type { ScheduleId } from '../model/schedule.ts';
import type { Framework } from './framework.ts';
import { firstRefusal, forSchedules, oneStage, onlySchedules, twoStages } from './schedule-rules.ts';

const TITLE = 'zero-bubble';
const SCHEDULES: readonly ScheduleId[] = [
  '1f1b',
  'interleaved-1f1b',
  'grouped-interleaved',
  '1f1b-v',
  'zb-h1',
  'zb-h2',
  'zb-1p',
  'zb-2p',
  'zbv',
  'v-half',
  'v-min',
];

export const ZERO_BUBBLE: Framework = {
  id: 'zero-bubble',
  title: TITLE,
  source: 'sail-sg/zero-bubble-pipeline-parallelism@39f2c186 megatron/core/pipeline_parallel',
  schedules: SCHEDULES,
  refuse: firstRefusal([
    onlySchedules(TITLE, SCHEDULES),
    oneStage(TITLE, ['1f1b', 'zb-h1', 'zb-h2', 'zb-1p', 'zb-2p']),
    twoStages(TITLE, ['1f1b-v', 'zbv', 'v-half', 'v-min']),
    forSchedules(['interleaved-1f1b'], ({ pp, microbatches }) =>
      microbatches === 1 || microbatches % pp === 0
        ? null
        : {
            code: 'batch-not-divisible',
            message: `${TITLE}: the number of microbatches (${microbatches}) is not divisible by pipeline-model-parallel-size (${pp}) when using the interleaved schedule`,
            about: ['microbatches', 'pp'],
          },
    ),
  ]),
  defaultGroupSize: ({ schedule, pp }) => (schedule === 'grouped-interleaved' ? Math.ceil(pp / 2) : pp),
  variant: (schedule) => (schedule === 'zb-h1' ? 'quick-start' : null),
};
