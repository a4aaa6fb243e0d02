/**
 * Costs that cannot be simulated: not one entry for each stage, no amounts, or sums that no double holds. What a report
 * divides by and multiplies with stays finite then, for every schedule and every mode of communication.
 */

import type { Costs } from '../model/costs.ts';
import { counted } from '../model/counted.ts';
import { stageCount } from './schedules/table.ts';
import type { PipelineShape } from './shape.ts';

/** The largest sum over all ranks; what is left above it is room for factors such as microseconds in a unit. */
const MAX_SUM = Number.MAX_VALUE / 2 ** 20;

/** Why the costs of a sound shape cannot be simulated, in one line; null when they can. */
export function costsProblem(shape: PipelineShape, costs: Costs, overlapFactor: number): string | null {
  const stages = stageCount(shape);
  const columns = [
    ['forward', costs.forward, stages],
    ['backward input', costs.backwardInput, stages],
    ['backward weight', costs.backwardWeight, stages],
    ['transfer', costs.transfer, stages - 1],
  ] as const;
  for (const [what, times, length] of columns) {
    if (times.length !== length) return `${counted(times.length, `${what} time`)} for ${counted(stages, 'stage')}`;
    const bad = times.find((time) => !isAmount(time));
    if (bad !== undefined) return `a ${what} time is ${bad}; times are finite and not negative`;
  }
  if (!isAmount(overlapFactor)) return `the overlap factor is ${overlapFactor}; it is finite and not negative`;
  const bytes = costs.activationBytes.map((each) => each ?? 0);
  const bad = bytes.find((each) => !isAmount(each));
  if (bad !== undefined) return `the activation bytes of a stage are ${bad}; they are finite and not negative`;
  const runs = shape.pp * Math.max(1, shape.microbatches);
  // Every action of every microbatch in a row, and its transfers there and back, on each rank.
  const actions = columns.slice(0, 3).reduce((total, [, times]) => total + sum(times), 0) * Math.max(1, overlapFactor);
  const longest = 2 * runs * (actions + sum(costs.transfer));
  if (!(longest <= MAX_SUM)) return 'the times of the run add up to more than a number can hold';
  return 2 * runs * sum(bytes) <= MAX_SUM ? null : 'the activation bytes add up to more than a number can hold';
}

function isAmount(value: number): boolean {
  return Number.isFinite(value) && value >= 0;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
