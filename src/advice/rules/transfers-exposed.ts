/** Transfers between ranks that nothing hides: each hop of a microbatch adds its time to the critical path. */

import { percent } from '../format.ts';
import { placeOf } from '../places.ts';
import type { Rule } from './rule.ts';

export const transfersExposed: Rule = {
  code: 'transfers-exposed',
  check: ({ plan, report, settings }) => {
    const lost = report.waterfall.communication;
    if (lost < settings.communicationThreshold) return null;
    return {
      finding: {
        code: 'transfers-exposed',
        severity: 'warning',
        message: `${percent(lost)} of the time is lost to transfers between stages (${percent(report.bubbleFraction)} idle in all)`,
        range: placeOf(plan, ['transferMs', 'pp']),
        related: [{ message: 'pipeline size', range: plan.anchor }],
        fixes: [],
      },
      proposals: [],
    };
  },
};
