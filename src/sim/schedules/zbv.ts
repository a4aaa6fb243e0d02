/** ZB-V: two stages per rank on a V, the backward split. Qi et al., arXiv 2401.10241, section 6. */

import { noGroups, splitBackwardActions, twoStagesPerRank } from './common.ts';
import type { ScheduleRow } from './row.ts';
import { torchZbvOrder } from './zbv-torch.ts';

export const ZBV: ScheduleRow = {
  id: 'zbv',
  title: 'ZB-V',
  source: 'Qi et al., Zero Bubble Pipeline Parallelism, arXiv 2401.10241, section 6',
  placement: 'v',
  virtualStages: 'two',
  splitsBackward: true,
  aliases: ['zbv', 'zb-v', 'zbvzerobubble', 'zbvpp', 'zero-bubble-v'],
  refuse: twoStagesPerRank,
  defaultGroupSize: noGroups,
  actions: splitBackwardActions,
  order: torchZbvOrder,
};
