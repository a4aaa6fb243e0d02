/**
 * Step time, money and days from a makespan. What is missing stays null and is named, with the native key that would
 * say it. Definitions: DESIGN "Step and money": dollars lost a day = GPUs x price per hour x 24 x idle share x
 * makespan / step; days lost likewise over the run.
 */

import type { Costs } from '../model/costs.ts';
import type { Plan } from '../model/plan.ts';
import type { PipelineReport, Report } from '../model/report.ts';
import type { AnalysisSettings } from '../model/settings.ts';
import { assumed, type Sourced, unknown } from '../model/source.ts';

const MS_PER_DAY = 86_400_000;

/** Price of one GPU hour: the plan's, else the setting's. */
function priceUsdPerGpuHour(plan: Plan, settings: AnalysisSettings): Sourced<number> {
  if (plan.cluster.usdPerGpuHour.value !== null) return plan.cluster.usdPerGpuHour;
  return settings.usdPerGpuHour === null
    ? unknown('the price of a GPU hour', 'cluster.usdPerGpuHour')
    : assumed(settings.usdPerGpuHour, 'the setting bubblelens.price.usdPerGpuHour');
}

/** Steps of the run: the plan's, from its tokens, else the setting's. */
export function runSteps(plan: Plan, settings: AnalysisSettings): number | null {
  if (plan.run.steps.value !== null) return plan.run.steps.value;
  const tokensPerStep = (plan.globalBatchSize.value ?? 0) * (plan.sequenceLength.value ?? 0);
  if (plan.run.tokens.value !== null && tokensPerStep > 0) return Math.ceil(plan.run.tokens.value / tokensPerStep);
  return settings.runSteps;
}

export function reportWithMoney(plan: Plan, costs: Costs, report: PipelineReport, settings: AnalysisSettings): Report {
  const time = stepTime(plan, costs, report.makespan);
  const price = priceUsdPerGpuHour(plan, settings);
  const steps = runSteps(plan, settings);
  const lostMs = report.bubbleFraction * report.makespan;
  const lostShare = time === null ? null : lostMs / time.stepMs;
  const gpus = plan.gpus.value;
  const usdPerDayLost =
    lostShare === null || gpus === null || price.value === null ? null : gpus * price.value * 24 * lostShare;
  const daysLost = time === null || steps === null ? null : (lostMs * steps) / MS_PER_DAY;
  const runDays = time === null || steps === null ? null : (time.stepMs * steps) / MS_PER_DAY;
  return {
    ...report,
    costs: costs.badge,
    unit: costs.unit,
    stepMs: time?.stepMs ?? null,
    tailMs: time?.tailMs ?? null,
    usdPerDayLost,
    usdLostOverRun: usdPerDayLost === null || runDays === null ? null : usdPerDayLost * runDays,
    daysLost,
    unknowns: [
      ...(time === null ? [{ what: 'step time', missing: 'stage times; the costs are relative', say: 'stages' }] : []),
      ...(gpus === null ? [{ what: 'money', missing: 'the GPU count', say: 'cluster.gpus' }] : []),
      ...(price.value === null
        ? [{ what: 'money', missing: 'the price of a GPU hour', say: 'cluster.usdPerGpuHour' }]
        : []),
      ...(steps === null ? [{ what: 'days lost', missing: 'the length of the run', say: 'run.steps' }] : []),
    ],
  };
}

/** A measured step holds the tail; without one the tail is not known and the step is the pipeline's makespan. */
function stepTime(plan: Plan, costs: Costs, makespan: number): { stepMs: number; tailMs: number | null } | null {
  if (costs.unit !== 'ms' || makespan <= 0) return null;
  const measured = plan.measuredStepMs.value;
  return measured !== null && measured >= makespan
    ? { stepMs: measured, tailMs: measured - makespan }
    : { stepMs: makespan, tailMs: null };
}
