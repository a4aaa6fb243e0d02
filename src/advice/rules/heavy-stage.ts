/**
 * One rank that works longer than the others makes all of them wait in every microbatch: usually the last one, which
 * holds the output head, or a split that does not divide evenly.
 */

import type { Costs } from '../../model/costs.ts';
import type { Plan } from '../../model/plan.ts';
import type { TextRange } from '../../model/source.ts';
import { number, percent } from '../format.ts';
import { placeOf } from '../places.ts';
import { holdsText, rankWork, stagesOfRank } from '../rank-work.ts';
import type { Rule } from './rule.ts';

export const heavyStage: Rule = {
  code: 'heavy-stage',
  check: ({ plan, costs, report, settings, pp, vpp, placement }) => {
    const lost = report.waterfall.imbalance;
    if (pp < 2 || lost < settings.imbalanceThreshold) return null;
    const work = rankWork(costs, placement, pp, vpp);
    const mean = work.reduce((sum, each) => sum + each, 0) / pp;
    const heaviest = work.reduce((best, each, rank) => (each > work[best]! ? rank : best), 0);
    const gpus = plan.gpus.value;
    const share =
      gpus === null ? `${percent(lost)} of the time` : `${percent(lost)} of the time of ${number(gpus)} GPUs`;
    return {
      finding: {
        code: 'heavy-stage',
        severity: 'warning',
        message: `${share} is lost to uneven stages: rank ${heaviest} (${holdsText(plan, placement, pp, vpp, heaviest)}) works ${(work[heaviest]! / mean).toFixed(2)} × the mean`,
        range: heaviestPlace(plan, costs, stagesOfRank(placement, pp, vpp, heaviest)),
        related: [{ message: `pipeline size ${pp}`, range: plan.anchor }],
        fixes: [],
      },
      proposals: [],
    };
  },
};

/** The entry of the rank's heaviest stage where the file lists times, else what decides the split. */
function heaviestPlace(plan: Plan, costs: Costs, stages: readonly number[]): TextRange {
  const times = plan.stageTimes.value;
  const stage = stages.reduce(
    (best, each) => (stageWork(costs, each) > stageWork(costs, best) ? each : best),
    stages[0]!,
  );
  return times?.[stage]?.range ?? placeOf(plan, ['stages', 'layers', 'pp']);
}

function stageWork({ forward, backwardInput, backwardWeight }: Costs, stage: number): number {
  return (forward[stage] ?? 0) + (backwardInput[stage] ?? 0) + (backwardWeight[stage] ?? 0);
}
