/** Laws that hold for every schedule, whatever its sizes and costs. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Costs } from '../../src/model/costs.ts';
import type { PipelineReport } from '../../src/model/report.ts';
import { KIND_NAMES } from '../../src/model/timeline.ts';
import { orderLines } from '../../src/sim/order-text.ts';
import { SCHEDULES, scheduleRow, stageCount } from '../../src/sim/schedules/table.ts';
import type { PipelineShape } from '../../src/sim/shape.ts';
import { orderText, pipelineReport } from '../../src/sim/simulate.ts';
import { actionsOf, referenceRun } from './reference.ts';
import { anyCase, anyLegalShape, anyShape, costsOf, equalCosts, shapeOf } from './shapes.ts';

const RUNS = { numRuns: 400 };

function simulated(...args: Parameters<typeof pipelineReport>) {
  const result = pipelineReport(...args);
  if (!result.ok) throw new Error(result.reason);
  return result;
}

/** The order that a search found for these costs, to be run at others. */
const sameOrder = (shape: PipelineShape, costs: Costs) => ({ order: orderText(shape, costs) });

const near = (a: number, b: number, what: string) => assert.ok(Math.abs(a - b) < 1e-9, `${what}: ${a} and ${b}`);

test('every order holds each forward once and each backward once, whole or split', () => {
  fc.assert(
    fc.property(anyShape, (shape) => {
      const seen = new Map<string, number>();
      for (const line of orderText(shape)) {
        for (const { kind, stage, microbatch } of line.split(' ').filter(Boolean).flatMap(actionsOf)) {
          for (const each of kind === 'B' ? ['I', 'W'] : [kind]) {
            const name = `${each}${stage}.${microbatch}`;
            seen.set(name, (seen.get(name) ?? 0) + 1);
          }
        }
      }
      assert.equal(seen.size, 3 * stageCount(shape) * shape.microbatches);
      assert.ok([...seen.values()].every((count) => count === 1));
    }),
    RUNS,
  );
});

test('the engine and a plain second simulator agree on every time', () => {
  fc.assert(
    fc.property(anyCase, ({ shape, costs }) => {
      const reference = referenceRun(orderText(shape, costs), stageCount(shape), costs);
      assert.ok(reference !== null);
      const { report, timeline } = simulated(shape, costs);
      assert.ok(timeline !== null);
      assert.equal(report.makespan, reference.makespan);
      assert.deepEqual(
        report.ranks.map((rank) => rank.busy),
        reference.busy,
      );
      assert.deepEqual(
        report.ranks.map((rank) => rank.end),
        reference.end,
      );
      assert.deepEqual(
        report.ranks.map((rank) => rank.peakActivations),
        reference.peak,
      );
      assert.equal(timeline.makespan, reference.makespan);
      for (let i = 0; i < timeline.start.length; i++) {
        const kind = KIND_NAMES[timeline.kind[i] as 0 | 1 | 2 | 3];
        const expected: readonly [number, number] | undefined = reference.times.get(
          `${kind}${timeline.stage[i]}.${timeline.microbatch[i]}`,
        );
        assert.deepEqual([timeline.start[i], timeline.end[i]], expected);
      }
    }),
    RUNS,
  );
});

test('the engine refuses an order exactly when it deadlocks', () => {
  let refusals = 0;
  fc.assert(
    fc.property(anyLegalShape, (shape) => {
      const costs = equalCosts(shape, [1, 1, 1, 1]);
      const reference = referenceRun(
        orderLines(scheduleRow(shape.schedule)!.order(shape, costs)),
        stageCount(shape),
        costs,
      );
      const result = pipelineReport(shape, costs);
      assert.equal(result.ok, reference !== null);
      if (result.ok) return;
      refusals++;
      assert.match(result.reason, /^the order deadlocks: rank \d+ at /);
    }),
    { ...RUNS, seed: 7 },
  );
  assert.ok(refusals > 0);
});

test('idle time by cause adds up on every rank, and the waterfall adds up to the headline', () => {
  fc.assert(
    fc.property(anyCase, ({ shape, costs }) => {
      const { report } = simulated(shape, costs);
      for (const rank of report.ranks) {
        near(rank.warmupFraction + rank.stallFraction + rank.cooldownFraction, rank.idleFraction, 'idle parts');
        near(
          rank.stalls.reduce((sum, stall) => sum + stall.fraction, 0),
          rank.stallFraction,
          'stalls',
        );
        for (const stall of rank.stalls) {
          assert.ok(stall.fraction > 0 && stall.transferFraction >= 0);
          assert.ok(stall.transferFraction <= stall.fraction + 1e-12);
          assert.ok(stall.waitedForRank >= 0 && stall.waitedForRank < shape.pp);
        }
      }
      const { schedule, imbalance, communication } = report.waterfall;
      near(schedule + imbalance + communication, report.bubbleFraction, 'waterfall');
      const mean = report.ranks.reduce((sum, rank) => sum + rank.idleFraction, 0) / shape.pp;
      near(mean, report.bubbleFraction, 'headline');
    }),
    RUNS,
  );
});

test('the waterfall is what three separate simulations say', () => {
  fc.assert(
    fc.property(anyCase, ({ shape, costs }) => {
      const mean = (times: readonly number[]) => times.reduce((sum, time) => sum + time, 0) / times.length;
      const still = { ...costs, transfer: costs.transfer.map(() => 0) };
      const equal = costsOf(stageCount(shape), (column) => (column === 'transfer' ? 0 : mean(costs[column])));
      const bubble = (report: PipelineReport) => report.bubbleFraction;
      const { waterfall } = simulated(shape, costs).report;
      const withStages = bubble(simulated(shape, still, sameOrder(shape, costs)).report);
      const schedule = bubble(simulated(shape, equal, sameOrder(shape, costs)).report);
      near(waterfall.schedule, schedule, 'schedule');
      near(waterfall.imbalance, withStages - schedule, 'imbalance');
    }),
    RUNS,
  );
});

test('a fixed order never gets faster when an action or a transfer gets slower', () => {
  const change = anyCase.chain((base) =>
    fc
      .record({
        column: fc.constantFrom('forward', 'backwardInput', 'backwardWeight', 'transfer'),
        at: fc.nat(),
        by: fc.integer({ min: 1, max: 9 }),
      })
      .map((change) => ({ ...base, change })),
  );
  fc.assert(
    fc.property(change, ({ shape, costs, change: { column, at, by } }) => {
      const before = costs[column as 'forward'];
      if (before.length === 0) return;
      const after = before.with(at % before.length, before[at % before.length]! + by);
      const dearer = { ...costs, [column]: after };
      const slower = simulated(shape, dearer, sameOrder(shape, costs)).report.makespan;
      assert.ok(slower >= simulated(shape, costs).report.makespan);
    }),
    RUNS,
  );
});

test('equal stages under 1F1B and GPipe idle for (pp - 1) / (microbatches + pp - 1)', () => {
  const sizes = fc.record({
    schedule: fc.constantFrom('1f1b' as const, 'gpipe' as const),
    pp: fc.integer({ min: 1, max: 40 }),
    microbatches: fc.integer({ min: 1, max: 60 }),
    times: fc.tuple(...[0, 1, 2].map(() => fc.integer({ min: 1, max: 30 }))),
  });
  fc.assert(
    fc.property(sizes, ({ schedule, pp, microbatches, times: [F = 1, I = 1, W = 1] }) => {
      const shape = shapeOf(schedule, pp, microbatches);
      const { report } = simulated(shape, equalCosts(shape, [F, I, W, 0]));
      near(report.bubbleFraction, (pp - 1) / (microbatches + pp - 1), 'bubble');
      near(report.bubbleOverIdeal, (pp - 1) / microbatches, 'over ideal');
    }),
    RUNS,
  );
});

test('interleaving divides the bubble by the stages per rank, and a circular pipeline does too', () => {
  for (const schedule of ['interleaved-1f1b', 'circular'] as const) {
    for (const [pp, vpp, microbatches] of [
      [4, 2, 8],
      [8, 4, 32],
      [3, 5, 9],
    ] as const) {
      const shape = shapeOf(schedule, pp, microbatches, vpp);
      const { report } = simulated(shape, equalCosts(shape, [1, 1, 1, 0]));
      near(report.bubbleOverIdeal, (pp - 1) / (vpp * microbatches), `${schedule} ${pp} ${vpp} ${microbatches}`);
    }
  }
});

test('activation bytes peak where the live stage-microbatches weigh most', () => {
  fc.assert(
    fc.property(
      anyShape,
      fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 24, maxLength: 24 }),
      (shape, bytes) => {
        const stages = stageCount(shape);
        const costs = { ...equalCosts(shape, [1, 1, 1, 0]), activationBytes: bytes.slice(0, stages) };
        const { report } = simulated(shape, costs);
        orderText(shape, costs).forEach((line, rank) => {
          let live = 0;
          let peak = 0;
          for (const { kind, stage } of line.split(' ').filter(Boolean).flatMap(actionsOf)) {
            if (kind === 'F') live += bytes[stage]!;
            else if (kind !== 'I') live -= bytes[stage]!;
            peak = Math.max(peak, live);
          }
          assert.equal(report.ranks[rank]!.peakBytes, peak);
        });
      },
    ),
    RUNS,
  );
});

test('a searched order stays within its memory limit, whatever the costs', () => {
  const limited = anyCase.filter(({ shape }) => scheduleRow(shape.schedule)!.searches(shape));
  fc.assert(
    fc.property(limited, fc.integer({ min: 2, max: 14 }), ({ shape, costs }, memoryLimit) => {
      const { report } = simulated({ ...shape, memoryLimit }, costs);
      for (const rank of report.ranks) assert.ok(rank.peakActivations <= memoryLimit);
    }),
    RUNS,
  );
});

test('ZB-1p finds what an integer program proves best on small pipelines', () => {
  const best = [
    [2, 4, 2, 134],
    [4, 4, 4, 156],
    [4, 8, 4, 282],
    [8, 24, 16, 797],
  ] as const;
  for (const [pp, microbatches, memoryLimit, makespan] of best) {
    const shape = { ...shapeOf('zb-1p', pp, microbatches), memoryLimit };
    assert.equal(simulated(shape, equalCosts(shape, [10, 10, 10, 1])).report.makespan, makespan);
  }
});

test('the laws see every schedule', () => {
  const seen = new Set(fc.sample(anyShape, { numRuns: 2000, seed: 1 }).map((shape) => shape.schedule));
  assert.deepEqual([...seen].sort(), SCHEDULES.map((row) => row.id).sort());
});
