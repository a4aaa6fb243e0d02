/**
 * ZB-2p: as ZB-1p, with room for 2 pp live microbatches per rank, about where the bubble vanishes from every rank's
 * own span. The paper counts less for a microbatch that only waits for its weight gradient; here it counts in full
 * until then. Qi et al., arXiv 2401.10241, section 3.
 */

import { searchOrder } from '../search/search.ts';
import { loopSizes } from './common.ts';
import type { ScheduleRow } from './row.ts';
import { ZB_1P } from './zb-1p.ts';
import { ZB_H1, ZB_H2 } from './zb-hand.ts';

export const ZB_2P: ScheduleRow = {
  ...ZB_1P,
  id: 'zb-2p',
  title: 'ZB-2p',
  aliases: ['zb-2p', 'zb2p'],
  order: (shape, times) => {
    const limit = shape.memoryLimit ?? 2 * shape.pp;
    const known = [ZB_H1, ZB_H2].filter((_, i) => limit >= (i + 1) * shape.pp - i);
    return searchOrder(
      loopSizes(shape),
      times,
      limit,
      known.map((row) => () => row.order({ ...shape, variant: null }, times)),
    );
  },
};
