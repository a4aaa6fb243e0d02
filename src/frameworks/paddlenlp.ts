/**
 * PaddleNLP and ERNIE on Paddle's hybrid parallelism: 1F1B, interleaved with virtual stages, GPipe and ZB-H1 by
 * `pipeline_schedule_mode`, DualPipeV by `pipeline_parallel_config`. Mirrors PaddlePaddle/PaddleNLP
 * paddlenlp/trainer/training_args.py and PaddlePaddle/Paddle
 * python/paddle/distributed/fleet/meta_parallel/pipeline_parallel.py.
 */

import type { ScheduleId } from '../model/schedule.ts';
import type { Framework } from './framework.ts';
import { firstRefusal, forSchedules, oneStage, onlySchedules, twoStages } from './schedule-rules.ts';

const TITLE = 'PaddleNLP';
const SCHEDULES: readonly ScheduleId[] = ['none', '1f1b', 'interleaved-1f1b', 'gpipe', 'zb-h1', 'dualpipev'];

/** `pipeline_schedule_mode` as PaddleNLP spells it. */
export const PADDLE_MODES: Readonly<Record<string, ScheduleId>> = {
  '1F1B': '1f1b',
  VPP: 'interleaved-1f1b',
  FThenB: 'gpipe',
  ZBH1: 'zb-h1',
};

export const PADDLENLP: Framework = {
  id: 'paddlenlp',
  title: TITLE,
  source: 'PaddlePaddle/PaddleNLP paddlenlp/trainer/training_args.py',
  schedules: SCHEDULES,
  refuse: firstRefusal([
    onlySchedules(TITLE, SCHEDULES),
    oneStage(TITLE, ['none', '1f1b', 'gpipe', 'zb-h1']),
    twoStages(TITLE, ['dualpipev']),
    forSchedules(['interleaved-1f1b'], ({ pp, microbatches }) =>
      microbatches >= pp
        ? null
        : {
            code: 'microbatches-below-minimum',
            message: `accumulate_steps(${microbatches}) should be greater than or equal to pp_degree(${pp}) for the interleaved pipeline`,
            about: ['microbatches', 'pp'],
          },
    ),
  ]),
  defaultGroupSize: ({ pp }) => pp,
  variant: () => null,
};
