/** Shapes and costs for the tests of the simulator: plain ones by hand, arbitrary legal ones for the laws. */

import fc from 'fast-check';
import type { Costs } from '../../src/model/costs.ts';
import type { ScheduleId } from '../../src/model/schedule.ts';
import { compile } from '../../src/sim/program.ts';
import { legality, SCHEDULES, scheduleRow, stageCount } from '../../src/sim/schedules/table.ts';
import type { PipelineShape } from '../../src/sim/shape.ts';

export function shapeOf(schedule: ScheduleId, pp: number, microbatches: number, vpp = 1): PipelineShape {
  const groupSize = scheduleRow(schedule)!.defaultGroupSize({ pp, vpp, microbatches });
  return { schedule, pp, vpp, microbatches, groupSize, variant: null };
}

/** Every stage the same: F, I, W per stage and C per transfer. */
export function equalCosts(shape: PipelineShape, [F, I, W, C]: readonly [number, number, number, number]): Costs {
  const stages = stageCount(shape);
  return costsOf(stages, (column) => ({ forward: F, backwardInput: I, backwardWeight: W, transfer: C })[column]);
}

type Column = 'forward' | 'backwardInput' | 'backwardWeight' | 'transfer';

export function costsOf(stages: number, time: (column: Column, index: number) => number): Costs {
  const column = (name: Column, length: number) => Array.from({ length }, (_, i) => time(name, i));
  return {
    badge: 'explicit',
    unit: 'ms',
    how: 'a test',
    forward: column('forward', stages),
    backwardInput: column('backwardInput', stages),
    backwardWeight: column('backwardWeight', stages),
    transfer: column('transfer', stages - 1),
    activationBytes: Array.from({ length: stages }, () => null),
  };
}

const VARIANTS: Readonly<Partial<Record<ScheduleId, readonly (string | null)[]>>> = {
  'zb-h1': [null, 'quick-start'],
  zbv: [null, 'torch'],
};

/** Small legal shapes of every schedule. Interleaved orders deadlock with some groups smaller than the pipeline. */
export const anyLegalShape: fc.Arbitrary<PipelineShape> = fc
  .record({
    schedule: fc.constantFrom(...SCHEDULES.map((row) => row.id)),
    pp: fc.integer({ min: 1, max: 6 }),
    vpp: fc.integer({ min: 1, max: 4 }),
    microbatches: fc.integer({ min: 0, max: 26 }),
    groupSize: fc.integer({ min: 1, max: 9 }),
  })
  .chain((shape) => fc.constantFrom(...(VARIANTS[shape.schedule] ?? [null])).map((variant) => ({ ...shape, variant })))
  .map((shape) => ({ ...shape, vpp: fittingStages(shape) }))
  .filter((shape) => legality(shape) === null);

function fittingStages({ schedule, vpp }: PipelineShape): number {
  const stages = scheduleRow(schedule)!.virtualStages;
  return stages === 'one' ? 1 : stages === 'two' ? 2 : vpp;
}

/** Whole-numbered costs, so that sums are exact whatever their order. */
export function anyCosts(shape: PipelineShape): fc.Arbitrary<Costs> {
  const stages = stageCount(shape);
  const times = (length: number) => fc.array(fc.integer({ min: 0, max: 20 }), { minLength: length, maxLength: length });
  return fc
    .record({
      forward: times(stages),
      backwardInput: times(stages),
      backwardWeight: times(stages),
      transfer: fc.oneof(fc.constant(new Array<number>(stages - 1).fill(0)), times(stages - 1)),
    })
    .map((columns) => costsOf(stages, (column, i) => columns[column][i]!));
}

/** Small shapes whose order runs to its end. */
export const anyShape: fc.Arbitrary<PipelineShape> = anyLegalShape.filter(
  (shape) => compile(scheduleRow(shape.schedule)!.order(shape, equalCosts(shape, [1, 1, 1, 0]))).ok,
);

export const anyCase: fc.Arbitrary<{ readonly shape: PipelineShape; readonly costs: Costs }> = anyShape.chain((shape) =>
  anyCosts(shape).map((costs) => ({ shape, costs })),
);
