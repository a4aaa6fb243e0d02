/**
 * ZB-V: two stages per rank on a V, the backward split. The authors search the order for given times; torch counts it
 * out. Qi et al., arXiv 2401.10241, section 6.
 */

import type { PipelineShape } from '../shape.ts';
import { noGroups, splitBackwardActions, twoStagesPerRank } from './common.ts';
import type { ScheduleRow } from './row.ts';
import { searchedZbvOrder } from './zbv-search.ts';
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
  order: (shape, times) => (shape.variant === 'torch' ? torchZbvOrder(shape) : searchedZbvOrder(shape, times)),
};

/** A microbatch on a V holds two stages of a rank at its turn. */
function memoryRefusal({ memoryLimit }: PipelineShape): string | null {
  return memoryLimit === 1 ? 'the memory limit is 1; a microbatch holds both stages of a rank at once' : null;
}
