/**
 * nanotron: two pipeline engines, `afab` (all forward, all backward: GPipe) and `1f1b`, one stage per rank. Mirrors
 * huggingface/nanotron src/nanotron/parallel/pipeline_parallel/engine.py at 2411b022.
 */

import type { ScheduleId } from '../model/schedule.ts';
import type { Framework } from './framework.ts';
import { firstRefusal, forSchedules, oneStage, onlySchedules } from './schedule-rules.ts';

const TITLE = 'nanotron';

/** `pp_engine` as nanotron spells it. */
export const NANOTRON_ENGINES = { afab: 'gpipe', '1f1b': '1f1b' } as const satisfies Readonly<
  Record<string, ScheduleId>
>;

const SCHEDULES: readonly ScheduleId[] = ['none', 'gpipe', '1f1b'];

export const NANOTRON: Framework = {
  id: 'nanotron',
  title: TITLE,
  source: 'huggingface/nanotron@2411b022 src/nanotron/parallel/pipeline_parallel/engine.py',
  schedules: SCHEDULES,
  refuse: firstRefusal([
    onlySchedules(TITLE, SCHEDULES),
    oneStage(TITLE, ['gpipe', '1f1b']),
    forSchedules(['1f1b'], ({ pp, microbatches }) =>
      microbatches >= pp - 1
        ? null
        : {
            code: 'microbatches-below-minimum',
            message: `Number of microbatches (${microbatches}) must be at least PP_SIZE-1=${pp - 1} when using the OneForwardOneBackwardPipelineEngine`,
            about: ['microbatches', 'pp'],
          },
    ),
  ]),
  defaultGroupSize: ({ pp }) => pp,
  variant: () => null,
};
