/**
 * ZB-V: two stages per rank on a V, the backward split. The authors search the order for given times; torch counts it
 * out. Qi et al., arXiv 2401.10241, section 6.
 */

import type { Order } from '../order.ts';
import { searchOrder } from '../search/search.ts';
import type { PipelineShape } from '../shape.ts';
import { noGroups, splitBackwardActions, twoStagesPerRank, vSizes } from './common.ts';
import type { OrderTimes, ScheduleRow } from './row.ts';
import { torchZbvOrder } from './zbv-torch.ts';

export const ZBV: ScheduleRow = {
  id: 'zbv',
  title: 'ZB-V',
  source: 'Qi et al., Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 6',
  placement: 'v',
  virtualStages: 'two',
  splitsBackward: true,
  aliases: ['zbv', 'zb-v', 'zbvzerobubble', 'zbvpp', 'zero-bubble-v'],
  refuse: (shape) => twoStagesPerRank(shape) ?? memoryRefusal(shape),
  defaultGroupSize: noGroups,
  actions: splitBackwardActions,
  searches: ({ variant }) => variant !== 'torch',
  order: (shape, times) => (shape.variant === 'torch' ? torchZbvOrder(shape) : searchedOrder(shape, times)),
};

/** The limit is that of 1F1B's first rank: pp whole stages. */
function searchedOrder(shape: PipelineShape, times: OrderTimes): Order {
  const limit = shape.memoryLimit ?? 2 * shape.pp;
  return searchOrder(vSizes(shape), times, limit, limit >= 2 * shape.pp ? [() => torchZbvOrder(shape)] : []);
}

/** A microbatch on a V holds two stages of a rank at its turn. */
function memoryRefusal({ memoryLimit }: PipelineShape): string | null {
  return memoryLimit === 1 ? 'the memory limit is 1; a microbatch holds both stages of a rank at once' : null;
}
