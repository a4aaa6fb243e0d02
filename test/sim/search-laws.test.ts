/** Laws of the order search: whatever the policy, sizes, times and memory limit, the order is one, and it is bounded. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Costs } from '../../src/model/costs.ts';
import type { ScheduleId } from '../../src/model/schedule.ts';
import { compile } from '../../src/sim/program.ts';
import { scheduleRow, stageCount } from '../../src/sim/schedules/table.ts';
import { listSchedule, type Policy } from '../../src/sim/search/list-schedule.ts';
import { lowerBound, makeProblem, orderOf, type Problem } from '../../src/sim/search/problem.ts';
import type { PipelineShape } from '../../src/sim/shape.ts';
import { orderText, pipelineReport } from '../../src/sim/simulate.ts';
import { actionsOf, referenceRun } from './reference.ts';
import { anyCosts, shapeOf } from './shapes.ts';

const RUNS = { numRuns: 250 };
const SEARCHED = ['zb-1p', 'zb-2p', 'zbv', 'v-half', 'v-min'] as const satisfies readonly ScheduleId[];

interface Case {
  readonly shape: PipelineShape;
  readonly costs: Costs;
}

const anySearch: fc.Arbitrary<Case> = fc
  .record({
    schedule: fc.constantFrom(...SEARCHED),
    pp: fc.integer({ min: 1, max: 7 }),
    microbatches: fc.integer({ min: 1, max: 22 }),
    memoryLimit: fc.option(fc.integer({ min: 2, max: 16 })),
  })
  .map(({ schedule, pp, microbatches, memoryLimit }) => ({
    ...shapeOf(schedule, pp, microbatches, scheduleRow(schedule)!.virtualStages === 'two' ? 2 : 1),
    memoryLimit,
  }))
  .chain((shape) => anyCosts(shape).map((costs) => ({ shape, costs })));

function problemOf({ shape, costs }: Case, memoryLimit: number): Problem {
  const { pp, microbatches, schedule } = shape;
  const { placement } = scheduleRow(schedule)!;
  return makeProblem({ pp, stages: stageCount(shape), microbatches, placement }, costs, memoryLimit);
}

function makespanOf(shape: PipelineShape, costs: Costs): number {
  const result = pipelineReport(shape, costs);
  if (!result.ok) throw new Error(result.reason);
  return result.report.makespan;
}

const anyPolicy = (stages: number): fc.Arbitrary<Policy> =>
  fc.record({
    inFlight: fc
      .array(fc.integer({ min: 1, max: 9 }), { minLength: stages, maxLength: stages })
      .map((most) => Int32Array.from(most)),
    turn: fc.constantFrom('backward', 'forward', 'late-forward', 'alternate'),
    oldestFirst: fc.boolean(),
    gapShare: fc.constantFrom(0, 0.5, 1),
    clearsWhenBlocked: fc.boolean(),
    clearsWhenFull: fc.boolean(),
  });

test('any policy leads to a complete order that runs to its end within the memory limit', () => {
  const policed = anySearch.chain((base) =>
    fc.record({
      base: fc.constant(base),
      policy: anyPolicy(stageCount(base.shape)),
      limit: fc.integer({ min: base.shape.vpp, max: 14 }),
    }),
  );
  fc.assert(
    fc.property(policed, ({ base, policy, limit }) => {
      const problem = problemOf(base, limit);
      const found = listSchedule(problem, policy);
      const compiled = compile(orderOf(problem, found));
      assert.ok(compiled.ok);
      assert.equal(new Set(found.ids).size, 3 * problem.stages * problem.microbatches);
      for (const peak of compiled.program.peakActivations) assert.ok(peak <= limit);
      assert.ok(found.makespan >= lowerBound(problem) - 1e-9);
    }),
    RUNS,
  );
});

test('a searched order is complete, within its limit, and at least the lower bound', () => {
  fc.assert(
    fc.property(anySearch, ({ shape, costs }) => {
      const lines = orderText(shape, costs);
      const run = referenceRun(lines, stageCount(shape), costs);
      assert.ok(run !== null);
      const names = lines.flatMap((line) => line.split(' ').flatMap(actionsOf));
      assert.equal(names.length, 3 * stageCount(shape) * shape.microbatches);
      assert.equal(run.times.size, names.length);
      assert.ok(run.makespan >= lowerBound(problemOf({ shape, costs }, 1)) - 1e-9);
      if (shape.memoryLimit !== null) for (const peak of run.peak) assert.ok(peak <= shape.memoryLimit!);
    }),
    RUNS,
  );
});

test('a search is never behind the hand-made orders that fit its limit, nor behind its own order for equal times', () => {
  fc.assert(
    fc.property(anySearch, ({ shape: { memoryLimit, ...shape }, costs }) => {
      const found = makespanOf(shape, costs);
      const rivals: PipelineShape[] = [];
      if (shape.schedule === 'zb-1p' || shape.schedule === 'zb-2p') rivals.push({ ...shape, schedule: 'zb-h1' });
      if (shape.schedule === 'zb-2p') rivals.push({ ...shape, schedule: 'zb-h2' });
      if (shape.schedule === 'zbv') rivals.push({ ...shape, variant: 'torch' });
      for (const rival of rivals) assert.ok(found <= makespanOf(rival, costs) * (1 + 1e-9));
      const equal = referenceRun(orderText(shape), stageCount(shape), costs);
      assert.ok(found <= equal!.makespan * (1 + 1e-9));
    }),
    RUNS,
  );
});

test('equal inputs give equal orders, and the same ratios give the same order', () => {
  fc.assert(
    fc.property(anySearch, ({ shape, costs }) => {
      const row = scheduleRow(shape.schedule)!;
      const ids = row.order(shape, costs).ids;
      assert.deepEqual(row.order(structuredClone(shape), structuredClone(costs)).ids, ids);
      const double = (times: readonly number[]) => times.map((time) => 2 * time);
      const doubled = {
        forward: double(costs.forward),
        backwardInput: double(costs.backwardInput),
        backwardWeight: double(costs.backwardWeight),
        transfer: double(costs.transfer),
      };
      assert.deepEqual(row.order(shape, doubled).ids, ids);
    }),
    RUNS,
  );
});
