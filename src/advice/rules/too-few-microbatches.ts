/**
 * Warm-up and cool-down cost the same however many microbatches flow between them: with few, they are a large share.
 * Source: Narayanan et al. 2021 (arXiv 2104.04473, section 2.2).
 */

import { counted } from '../../model/counted.ts';
import { percent } from '../format.ts';
import { bubbleFormula } from '../formula.ts';
import { placeOf } from '../places.ts';
import type { Proposal, Rule, RuleContext } from './rule.ts';

const SEARCH_LIMIT = 65_536;

export const tooFewMicrobatches: Rule = {
  code: 'too-few-microbatches',
  check: (context) => {
    const { plan, report, settings, pp, microbatches } = context;
    const share = report.waterfall.schedule;
    if (pp < 2 || share < settings.idleShareThreshold) return null;
    const enough = microbatchesFor(context);
    const cure =
      enough === null ? '' : `; ${enough} would bring the schedule to ${percent(scheduleShare(context, enough)!)}`;
    return {
      finding: {
        code: 'too-few-microbatches',
        severity: 'warning',
        message: `${percent(report.bubbleFraction)} idle: ${counted(microbatches, 'microbatch')} ${microbatches === 1 ? 'does' : 'do'} not fill ${counted(pp, 'pipeline rank')} (schedule ${percent(share)})${cure}`,
        range: placeOf(plan, ['microbatches', 'globalBatchSize', 'microBatchSize']),
        related: [{ message: `pipeline size ${pp}`, range: plan.anchor }],
        fixes: [],
      },
      proposals: enough === null ? [] : [raise(microbatches, enough)],
    };
  },
};

function raise(from: number, to: number): Proposal {
  return {
    changes: [{ key: 'pipeline.microbatches', value: to }],
    title: `Raise microbatches from ${from} to ${to}`,
    alters: `global batch × ${Number((to / from).toFixed(2))}`,
  };
}

/** The smallest doubling of the microbatches that brings the schedule's share below the threshold; null if none does. */
function microbatchesFor(context: RuleContext): number | null {
  for (let count = context.microbatches * 2; count > 0 && count <= SEARCH_LIMIT; count *= 2) {
    const share = scheduleShare(context, count);
    if (share === null) return null;
    if (share < context.settings.idleShareThreshold) return count;
  }
  return null;
}

function scheduleShare({ plan, pp, vpp }: RuleContext, microbatches: number): number | null {
  const schedule = plan.schedule.value;
  return schedule === null ? null : (bubbleFormula(schedule, pp, vpp, microbatches)?.value ?? null);
}
