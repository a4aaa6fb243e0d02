/**
 * Costs that were measured elsewhere and given beside a config (`--costs FILE`, a native file): they stand in front of
 * what the config says and are marked as measured.
 */

import type { ExplicitStage, Plan } from '../model/plan.ts';
import type { Sourced } from '../model/source.ts';

export interface MeasuredCosts {
  /** Path of the file as it was given. */
  readonly file: string;
  readonly stages: readonly ExplicitStage[];
  readonly transferMs: number | null;
  readonly stepMs: number | null;
}

/** The measured costs of a native plan; null when it lists no stage times. */
export function measuredCosts(file: string, plan: Plan): MeasuredCosts | null {
  const stages = plan.stageTimes.value;
  if (stages === null) return null;
  return { file, stages, transferMs: plan.transferMs.value, stepMs: plan.measuredStepMs.value };
}

/** The plan with measured times; as it was where they list another number of stages than it has. */
export function withMeasuredCosts(plan: Plan, measured: MeasuredCosts): Plan {
  if (!fits(plan, measured)) return plan;
  const from = <T>(value: T | null, otherwise: Sourced<T>): Sourced<T> =>
    value === null ? otherwise : { value, source: { kind: 'measured', how: `times of ${measured.file}` } };
  return {
    ...plan,
    stageTimes: from(measured.stages, plan.stageTimes),
    transferMs: from(measured.transferMs, plan.transferMs),
    measuredStepMs: from(measured.stepMs, plan.measuredStepMs),
  };
}

/** Why the measured costs are not used, in one line; null where they are, or where the sizes are not known. */
export function measuredProblem(plan: Plan, measured: MeasuredCosts): string | null {
  const { pp, vpp } = plan;
  if (pp.value === null || vpp.value === null || fits(plan, measured)) return null;
  return `${measured.file} lists times of ${measured.stages.length} stages, this plan has ${pp.value * vpp.value}: they are not used`;
}

function fits({ pp, vpp }: Plan, { stages }: MeasuredCosts): boolean {
  return pp.value !== null && vpp.value !== null && pp.value * vpp.value === stages.length;
}
