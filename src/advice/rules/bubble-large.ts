/** The headline is above the threshold though no single cause is: said once, at the pipeline size. */

import { percent } from '../format.ts';
import type { Rule } from './rule.ts';

export const bubbleLarge: Rule = {
  code: 'bubble-large',
  check: ({ plan, report, settings }) => {
    const { bubbleFraction, waterfall } = report;
    const named =
      waterfall.schedule >= settings.idleShareThreshold ||
      waterfall.imbalance >= settings.imbalanceThreshold ||
      waterfall.communication >= settings.communicationThreshold;
    if (named || bubbleFraction < settings.idleShareThreshold) return null;
    return {
      finding: {
        code: 'bubble-large',
        severity: 'warning',
        message: `${percent(bubbleFraction)} idle: schedule ${percent(waterfall.schedule)}, imbalance ${percent(waterfall.imbalance)}, communication ${percent(waterfall.communication)}`,
        range: plan.anchor,
        related: [],
        fixes: [],
      },
      proposals: [],
    };
  },
};
