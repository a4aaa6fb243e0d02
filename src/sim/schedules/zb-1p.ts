/**
 * ZB-1p: the zero-bubble order that a search finds for given times while no rank holds more than pp live microbatches,
 * as 1F1B's first rank does. Qi et al., arXiv 2401.10241, section 3; the framework's own search is
 * sail-sg/zero-bubble-pipeline-parallelism megatron/core/pipeline_parallel/zerobubble/scheduler/zb.py.
 */

import { searchOrder } from '../search/search.ts';
import { loopSizes, noGroups, oneStagePerRank, splitBackwardActions } from './common.ts';
import type { ScheduleRow } from './row.ts';
import { ZB_H1 } from './zb-hand.ts';

export const ZB_1P: ScheduleRow = {
  id: 'zb-1p',
  title: 'ZB-1p',
  source: 'Qi et al., Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 3',
  placement: 'loop',
  virtualStages: 'one',
  splitsBackward: true,
  aliases: ['zb-1p', 'zb1p'],
  refuse: oneStagePerRank,
  defaultGroupSize: noGroups,
  actions: splitBackwardActions,
  searches: () => true,
  order: (shape, times) => {
    const limit = shape.memoryLimit ?? shape.pp;
    const known = limit >= shape.pp ? [() => ZB_H1.order({ ...shape, variant: null }, times)] : [];
    return searchOrder(loopSizes(shape), times, limit, known);
  },
};
