/**
 * ZB-H1 and ZB-H2, the zero-bubble paper's hand-made orders: 1F1B with once or twice the warm-up, the backward split,
 * and rank r's weight gradients postponed by as many microbatches as its warm-up is shorter than rank 0's. Mirrors
 * sail-sg/zero-bubble-pipeline-parallelism (branch arxiv) megatron/core/pipeline_parallel/efficiency.py,
 * get_hand_schedule; Qi et al., arXiv 2401.10241. ZB-H1 also exists in the authors' quick-start variant.
 */

import { BACKWARD_INPUT, BACKWARD_WEIGHT, type Order, orderByRank } from '../order.ts';
import type { PipelineShape } from '../shape.ts';
import { loopSizes, noGroups, noSearch, oneStagePerRank, splitBackwardActions } from './common.ts';
import type { ScheduleRow } from './row.ts';
import { quickStartOrder } from './zb-h1-quick-start.ts';

const SOURCE = 'Qi et al., Zero Bubble Pipeline Parallelism, arXiv 2401.10241';

export const ZB_H1: ScheduleRow = {
  id: 'zb-h1',
  title: 'ZB-H1',
  source: SOURCE,
  placement: 'loop',
  virtualStages: 'one',
  splitsBackward: true,
  aliases: ['zb-h1', 'zbh1', 'zero-bubble-h1'],
  refuse: oneStagePerRank,
  defaultGroupSize: noGroups,
  actions: splitBackwardActions,
  searches: noSearch,
  order: (shape) => (shape.variant === 'quick-start' ? quickStartOrder(shape) : handOrder(shape, 1)),
};

export const ZB_H2: ScheduleRow = {
  id: 'zb-h2',
  title: 'ZB-H2',
  source: SOURCE,
  placement: 'loop',
  virtualStages: 'one',
  splitsBackward: true,
  aliases: ['zb-h2', 'zbh2', 'zero-bubble-h2'],
  refuse: oneStagePerRank,
  defaultGroupSize: noGroups,
  actions: splitBackwardActions,
  searches: noSearch,
  order: (shape) => handOrder(shape, 2),
};

/** `depth` forwards of warm-up per rank that follows. */
function handOrder(shape: PipelineShape, depth: number): Order {
  const { pp, microbatches } = shape;
  return orderByRank(loopSizes(shape), splitBackwardActions(shape), (ids, start, rank, steps) => {
    const id = (microbatch: number) => rank * steps.stage + microbatch * steps.microbatch;
    const warmUp = Math.min(microbatches, depth * (pp - 1 - rank));
    const postponed = Math.min(microbatches, depth * rank);
    let at = start;
    for (let m = 0; m < warmUp; m++) ids[at++] = id(m);
    for (let m = 0; m < microbatches; m++) {
      if (warmUp + m < microbatches) ids[at++] = id(warmUp + m);
      ids[at++] = id(m) + BACKWARD_INPUT;
      if (m >= postponed) ids[at++] = id(m - postponed) + BACKWARD_WEIGHT;
    }
    for (let m = microbatches - postponed; m < microbatches; m++) ids[at++] = id(m) + BACKWARD_WEIGHT;
    return at;
  });
}
