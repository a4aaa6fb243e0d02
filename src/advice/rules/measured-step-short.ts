/** A measured step that is shorter than the pipeline alone contradicts the stage times: it is not used, and said. */

import { duration } from '../format.ts';
import { placeOf } from '../places.ts';
import type { Rule } from './rule.ts';

export const measuredStepShort: Rule = {
  code: 'measured-step-short',
  check: ({ plan, costs, report }) => {
    const measured = plan.measuredStepMs.value;
    if (measured === null || costs.unit !== 'ms' || measured >= report.makespan) return null;
    return {
      finding: {
        code: 'measured-step-short',
        severity: 'warning',
        message: `The measured step of ${duration(measured)} is shorter than the pipeline alone (${duration(report.makespan)} by the stage times): it is not used`,
        range: placeOf(plan, ['measuredStepMs', 'pp']),
        related: [],
        fixes: [],
      },
      proposals: [],
    };
  },
};
