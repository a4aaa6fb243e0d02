/** Runs drawn out by their steady state are the full runs, to the last bit. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Costs } from '../../src/model/costs.ts';
import type { ScheduleId } from '../../src/model/schedule.ts';
import { type Prices, price } from '../../src/sim/ops.ts';
import { isLong, shortRunsOf } from '../../src/sim/periodic.ts';
import { compile, type Program } from '../../src/sim/program.ts';
import { reportOf } from '../../src/sim/report.ts';
import { makeEnds, scanTiming } from '../../src/sim/scan.ts';
import { legality, SCHEDULES, scheduleRow, stageCount } from '../../src/sim/schedules/table.ts';
import type { PipelineShape } from '../../src/sim/shape.ts';
import { orderText, pipelineReport } from '../../src/sim/simulate.ts';
import { tickPrices } from '../../src/sim/ticks.ts';
import { costsOf, equalCosts, shapeOf } from './shapes.ts';

const ROOM = 16_000_000;

const REPEATING = [
  '1f1b',
  'interleaved-1f1b',
  'grouped-interleaved',
  'zb-h1',
  'zb-h2',
  'interleaved-zb',
  'zbv',
  'dualpipev',
] as const satisfies readonly ScheduleId[];

const anyRepeatingShape: fc.Arbitrary<PipelineShape> = fc
  .record({
    schedule: fc.constantFrom(...REPEATING),
    pp: fc.integer({ min: 1, max: 7 }),
    vpp: fc.integer({ min: 1, max: 3 }),
    microbatches: fc.integer({ min: 60, max: 420 }),
    groupSize: fc.integer({ min: 1, max: 8 }),
    isQuickStart: fc.boolean(),
  })
  .map(({ isQuickStart, ...shape }) => ({
    ...shape,
    vpp: fittingStages(shape.schedule, shape.vpp),
    groupSize: shape.schedule === 'interleaved-1f1b' ? Math.max(shape.groupSize, shape.pp) : shape.groupSize,
    variant: shape.schedule === 'zbv' ? 'torch' : shape.schedule === 'zb-h1' && isQuickStart ? 'quick-start' : null,
  }))
  .filter((shape) => legality(shape) === null);

function fittingStages(schedule: ScheduleId, vpp: number): number {
  const stages = scheduleRow(schedule)!.virtualStages;
  return stages === 'one' ? 1 : stages === 'two' ? 2 : vpp;
}

/** All stages alike, each of its own, nearly alike, or one slow: the last two take longest to settle. */
function anyStageCosts(shape: PipelineShape): fc.Arbitrary<Costs> {
  const stages = stageCount(shape);
  const whole = (max: number) => fc.integer({ min: 0, max });
  const times = (max: number) => fc.array(whole(max), { minLength: 4 * stages, maxLength: 4 * stages });
  return fc
    .record({
      base: fc.tuple(whole(30), whole(30), whole(30), fc.constantFrom(0, 0, 1, 3, 7)),
      extra: fc.oneof(fc.constant(new Array<number>(4 * stages).fill(0)), times(20), times(1)),
      slow: fc.option(fc.record({ stage: fc.nat(), by: fc.integer({ min: 1, max: 9 }) })),
      scale: fc.constantFrom(1, 0.5, 0.1, 1 / 3, 1e6),
    })
    .map(({ base, extra, slow, scale }) =>
      costsOf(stages, (column, i) => {
        const row = ['forward', 'backwardInput', 'backwardWeight', 'transfer'].indexOf(column);
        const late = slow !== null && column !== 'transfer' && i === slow.stage % stages ? slow.by : 0;
        return scale * (base[row]! + extra[row * stages + i]! + late);
      }),
    );
}

const anyRun = anyRepeatingShape.chain((shape) => anyStageCosts(shape).map((costs) => ({ shape, costs })));

function fullProgram(shape: PipelineShape, costs: Costs): Program | null {
  const compiled = compile(scheduleRow(shape.schedule)!.order(shape, costs));
  return compiled.ok ? compiled.program : null;
}

function ticksOf(program: Program, costs: Costs): Prices {
  return tickPrices(price(program.ops, costs, 1), program.occurrences);
}

test('a run drawn out is the full run: makespan, starts, ends, idle by cause, counts and peaks', () => {
  let told = 0;
  const seen = new Set<string>();
  const property = fc.property(anyRun, ({ shape, costs }) => {
    const full = fullProgram(shape, costs);
    if (full === null) return;
    const runs = shortRunsOf(shape, costs, ROOM);
    if (runs === null) return;
    assert.deepEqual(runs.program.occurrences, full.occurrences);
    assert.deepEqual(runs.program.peakActivations, full.peakActivations);
    const prices = ticksOf(full, costs);
    const timing = runs.timing(prices);
    if (timing === null) return;
    const whole = scanTiming(full, prices, makeEnds(full));
    assert.deepEqual(timing, whole);
    assert.equal(runs.makespan(prices), whole.makespan);
    told++;
    seen.add(shape.schedule);
  });
  fc.assert(property, { numRuns: 900 });
  assert.ok(told >= 500, `${told} runs were told`);
  assert.deepEqual([...seen].sort(), [...REPEATING].sort());
});

test('a long report is the report of the full run', () => {
  const cases: readonly (readonly [ScheduleId, number, number, number])[] = [
    ['1f1b', 16, 1, 4096],
    ['1f1b', 1, 1, 50_000],
    ['interleaved-1f1b', 4, 3, 6000],
    ['zb-h1', 8, 1, 5000],
    ['zb-h2', 8, 1, 5000],
    ['interleaved-zb', 4, 2, 4000],
    ['grouped-interleaved', 4, 2, 4001],
    ['dualpipev', 4, 2, 4001],
  ];
  for (const [schedule, pp, vpp, microbatches] of cases) {
    const shape = shapeOf(schedule, pp, microbatches, vpp);
    assert.ok(isLong(shape));
    for (const transfer of [0, 3]) {
      const costs = costsOf(stageCount(shape), (column, i) =>
        column === 'transfer'
          ? transfer
          : { forward: 10, backwardInput: 11, backwardWeight: 9 }[column] + (i === 1 ? 0.5 : 0),
      );
      const weighed = { ...costs, activationBytes: costs.forward.map((_, i) => 1000 + i) };
      const long = pipelineReport(shape, weighed);
      assert.ok(long.ok);
      // The equal stages of the waterfall have thirds: those are rounded to ticks.
      const full = reportOf(fullProgram(shape, weighed)!, weighed, 1);
      assert.deepEqual({ ...long.report, waterfall: null }, { ...full, waterfall: null });
      for (const part of ['schedule', 'imbalance', 'communication'] as const) {
        assert.ok(Math.abs(long.report.waterfall[part] - full.waterfall[part]) < 1e-9);
      }
    }
  }
});

test('times that are no multiples of a tick are rounded in the ninth digit', () => {
  const shape = shapeOf('1f1b', 8, 20_000);
  const costs = costsOf(8, (column, i) => (column === 'transfer' ? 0.408 : 10.419 + i / 7));
  const long = pipelineReport(shape, costs);
  assert.ok(long.ok);
  const full = reportOf(fullProgram(shape, costs)!, costs, 1);
  assert.ok(Math.abs(long.report.makespan - full.makespan) < 1e-8 * full.makespan);
  assert.ok(Math.abs(long.report.bubbleFraction - full.bubbleFraction) < 1e-8);
});

test('a hundred million microbatches have a report and no timeline', () => {
  for (const microbatches of [100_000, 1_000_000, 100_000_000]) {
    const shape = shapeOf('1f1b', 16, microbatches);
    const costs = equalCosts(shape, [1, 1, 1, 0]);
    const long = pipelineReport(shape, costs);
    assert.ok(long.ok);
    assert.equal(long.report.makespan, 3 * (microbatches + 15));
    assert.deepEqual(
      long.report.ranks.map((rank) => rank.peakActivations),
      Array.from({ length: 16 }, (_, rank) => 16 - rank),
    );
    assert.ok(long.report.ranks.every((rank) => rank.busy === 3 * microbatches));
    if (microbatches > 1_000_000) {
      assert.equal(long.timeline, null);
      assert.deepEqual(orderText(shape, costs), []);
    }
  }
  const interleaved = shapeOf('interleaved-1f1b', 8, 1_000_000, 2);
  const report = pipelineReport(interleaved, equalCosts(interleaved, [1, 1, 1, 0]));
  assert.ok(report.ok);
  assert.equal(report.report.makespan, 3 * (2 * 1_000_000 + 7));
});

test('what neither repeats nor fits is refused as before', () => {
  for (const schedule of ['gpipe', 'looped-bfs'] as const) {
    const shape = shapeOf(schedule, 16, 10_000_000);
    const refused = pipelineReport(shape, equalCosts(shape, [1, 1, 1, 0]));
    assert.ok(!refused.ok);
    assert.match(refused.reason, /320,000,000 actions are too many/);
  }
  const beyond = shapeOf('1f1b', 16, 1_000_000_000);
  const refused = pipelineReport(beyond, equalCosts(beyond, [1, 1, 1, 0]));
  assert.ok(!refused.ok);
});

test('the period of a steady state is not taken for one group', () => {
  // F 10, B 20 and transfers of 3 on 4 ranks repeat after 4 microbatches only, with 36, 30, 36, 36 between.
  const shape = shapeOf('1f1b', 4, 400);
  const costs = equalCosts(shape, [10, 10, 10, 3]);
  const runs = shortRunsOf(shape, costs, ROOM)!;
  const at = (microbatches: number) => {
    const program = fullProgram({ ...shape, microbatches }, costs)!;
    return scanTiming(program, price(program.ops, costs, 1), makeEnds(program)).makespan;
  };
  const increments = [1, 2, 3, 4, 5, 6, 7, 8].map((more) => at(200 + more) - at(199 + more));
  assert.deepEqual([...new Set(increments)].sort(), [30, 36]);
  assert.equal(runs.makespan(ticksOf(runs.program, costs)), at(400));
});

test('every schedule with a period is in the table, and repeats', () => {
  for (const schedule of REPEATING) {
    const shape = {
      ...shapeOf(schedule, 4, 40_000, fittingStages(schedule, 2)),
      variant: schedule === 'zbv' ? 'torch' : null,
    };
    assert.ok(isLong(shape), schedule);
    assert.ok(shortRunsOf(shape, equalCosts(shape, [1, 1, 1, 0]), ROOM) !== null, schedule);
  }
  const others = SCHEDULES.map((row) => row.id).filter((id) => !REPEATING.some((each) => each === id));
  for (const schedule of others) assert.ok(!isLong(shapeOf(schedule, 4, 40_000, fittingStages(schedule, 2))), schedule);
});
