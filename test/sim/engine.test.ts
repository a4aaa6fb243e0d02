/** The engine's edges: sizes that are legal though odd, sizes that are refused, orders that deadlock, cached orders. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SCHEDULE_IDS } from '../../src/model/schedule.ts';
import { parseOrder } from '../../src/sim/order-parse.ts';
import { orderLines } from '../../src/sim/order-text.ts';
import { compile } from '../../src/sim/program.ts';
import { legality, SCHEDULES, scheduleByAlias } from '../../src/sim/schedules/table.ts';
import { MAX_ACTIONS } from '../../src/sim/shape.ts';
import { orderText, pipelineReport } from '../../src/sim/simulate.ts';
import { costsOf, equalCosts, shapeOf } from './shapes.ts';

function reason(result: ReturnType<typeof pipelineReport>): string {
  return result.ok ? '' : result.reason;
}

test('no microbatches are a pipeline that does nothing', () => {
  const shape = shapeOf('1f1b', 4, 0);
  const result = pipelineReport(shape, equalCosts(shape, [1, 1, 1, 1]));
  assert.ok(result.ok);
  assert.equal(result.report.makespan, 0);
  assert.equal(result.report.bubbleFraction, 0);
  assert.deepEqual(result.report.waterfall, { schedule: 0, imbalance: 0, communication: 0 });
  assert.equal(result.timeline?.start.length, 0);
  assert.deepEqual(orderText(shape), ['', '', '', '']);
});

test('one rank has no bubble, not even a rounding error of one', () => {
  const shape = shapeOf('none', 1, 10);
  const result = pipelineReport(shape, equalCosts(shape, [0.1, 0.2, 0.3, 5]));
  assert.ok(result.ok);
  assert.equal(result.report.bubbleFraction, 0);
  assert.equal(result.report.ranks[0]?.idleFraction, 0);
});

test('stages without layers cost nothing and hold their place', () => {
  const shape = shapeOf('interleaved-1f1b', 4, 8, 4);
  const costs = costsOf(16, (column, i) => (column === 'transfer' ? 0 : i < 12 ? 1 : 0));
  const result = pipelineReport(shape, costs);
  assert.ok(result.ok);
  assert.equal(result.report.ranks[0]?.busy, 8 * 3 * 3);
});

test('sizes that are none, or too many, are refused in one line and at once', () => {
  const shape = shapeOf('1f1b', 4, 8);
  const costs = equalCosts(shape, [1, 1, 1, 0]);
  const refused = [
    { pp: 1e9 },
    { pp: -1 },
    { pp: 0 },
    { pp: 2.5 },
    { pp: Number.NaN },
    { vpp: 0 },
    { vpp: 1e9 },
    { microbatches: 1e9 },
    { microbatches: -3 },
    { microbatches: Number.POSITIVE_INFINITY },
    { groupSize: 0 },
    { vpp: 2 },
  ];
  for (const change of refused) {
    const text = reason(pipelineReport({ ...shape, ...change }, costs));
    assert.ok(text.length > 10 && !text.includes('\n'), JSON.stringify(change));
    assert.equal(legality({ ...shape, ...change }), text);
    assert.deepEqual(orderText({ ...shape, ...change }), []);
  }
  assert.match(
    reason(pipelineReport({ ...shape, microbatches: 1e9 }, costs)),
    /8,000,000,000 actions .*at most 8,000,000/,
  );
  assert.equal(legality({ ...shape, microbatches: MAX_ACTIONS / 8 }), null);
});

test('orders that are searched for or laid out in slots have limits of their own', () => {
  assert.match(legality(shapeOf('zb-1p', 8, 20_000))!, /480,000 actions are too many to search/);
  assert.match(legality(shapeOf('zbv', 600, 8, 2))!, /600 ranks are too many to search/);
  assert.equal(legality({ ...shapeOf('zbv', 600, 8, 2), variant: 'torch' }), null);
  assert.match(legality(shapeOf('1f1b-v', 600, 8, 2))!, /600 ranks are too many to lay out/);
  assert.match(legality(shapeOf('1f1b-v', 512, 600, 2))!, /1,228,800 actions on 512 ranks are too many/);
});

test('costs that do not fit the shape are refused', () => {
  const shape = shapeOf('1f1b', 4, 8);
  const costs = equalCosts(shape, [1, 1, 1, 0]);
  assert.match(reason(pipelineReport(shape, { ...costs, forward: [1, 1] })), /^2 forward times for 4 stages$/);
  assert.match(reason(pipelineReport(shape, { ...costs, transfer: [1, 1, Number.NaN] })), /transfer time is NaN/);
  assert.match(reason(pipelineReport(shape, { ...costs, backwardInput: [1, 1, 1, -1] })), /-1/);
});

test('an order that deadlocks is refused with the wait that never ends', () => {
  const lines = ['F0.0 B0.0 F0.1 B0.1', 'F1.0 F1.1 B1.0 B1.1'];
  const parsed = parseOrder(lines, { pp: 2, stages: 2, microbatches: 2, placement: 'loop' });
  assert.ok(parsed.ok);
  const compiled = compile(parsed.order);
  assert.deepEqual(compiled, {
    ok: false,
    reason:
      'the order deadlocks: rank 0 at B0.0 waits for the gradient of stage 1, microbatch 0, on rank 1; ' +
      'rank 1 at F1.1 waits for F0.1 on rank 0',
  });
});

test('a rank that runs an action before its own input deadlocks on itself', () => {
  const parsed = parseOrder(['W0.0 F0.0 I0.0'], { pp: 1, stages: 1, microbatches: 1, placement: 'loop' });
  assert.ok(parsed.ok);
  const compiled = compile(parsed.order);
  assert.ok(!compiled.ok);
  assert.match(compiled.reason, /rank 0 at W0\.0 waits for I0\.0 which it has not run yet/);
});

test('order text comes back as the same order, for every schedule', () => {
  for (const row of SCHEDULES) {
    const vpp = row.virtualStages === 'two' ? 2 : 1;
    const pp = row.id === 'none' ? 1 : 4;
    const shape = shapeOf(row.id, pp, 12, vpp);
    const order = row.order(shape, equalCosts(shape, [1, 1, 1, 0]));
    const parsed = parseOrder(orderLines(order), order);
    assert.ok(parsed.ok, row.id);
    assert.deepEqual(parsed.order.ids, order.ids, row.id);
    assert.deepEqual(parsed.order.rankStart, order.rankStart, row.id);
  }
});

test('an order text that is none is refused with what is wrong', () => {
  const sizes = { pp: 2, stages: 2, microbatches: 1, placement: 'loop' } as const;
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['F0.0 B0.0'], /1 line for 2 ranks/],
    [['F0.0 B0.0', 'F1.0'], /B1\.0 is missing/],
    [['F0.0 B0.0', 'F1.0 I1.0'], /W1\.0 is missing/],
    [['F0.0 F0.0 B0.0', 'F1.0 B1.0'], /F0\.0 stands in the order twice/],
    [['F0.0 B0.0', 'F1.0 B1.0 W1.0'], /W1\.0 stands in the order twice/],
    [['F1.0 B0.0', 'F1.0 B1.0'], /rank 0: F1\.0 belongs on rank 1/],
    [['F0.1 B0.0', 'F1.0 B1.0'], /names microbatch 1 of 1/],
    [['F7.0', ''], /names stage 7 of 2/],
    [['X0.0', ''], /"X0\.0" is not an action/],
  ];
  for (const [lines, expected] of cases) {
    const parsed = parseOrder(lines, sizes);
    assert.ok(!parsed.ok);
    assert.match(parsed.reason, expected);
  }
});

test('a re-timing of a cached order equals a first one', () => {
  const shape = shapeOf('interleaved-1f1b', 4, 8, 2);
  const dear = equalCosts(shape, [3, 2, 4, 1]);
  const first = pipelineReport(shape, dear);
  pipelineReport(shape, equalCosts(shape, [1, 1, 1, 0]));
  const again = pipelineReport({ ...shape }, dear);
  assert.ok(first.ok && again.ok);
  assert.deepEqual(first.report, again.report);
  assert.deepEqual(first.timeline, again.timeline);
});

test('an overlapped pair takes the overlap factor of the sum of its parts', () => {
  const shape = shapeOf('dualpipev', 2, 8, 2);
  const costs = equalCosts(shape, [10, 11, 7, 0]);
  const pairs = orderText(shape).join(' ').match(/O\(/g)!.length;
  const busy = (factor: number) => {
    const result = pipelineReport(shape, costs, { overlapFactor: factor });
    assert.ok(result.ok);
    return result.report.ranks.reduce((sum, rank) => sum + rank.busy, 0);
  };
  assert.equal(busy(1) - busy(0.5), 0.5 * pairs * 28);
});

test('every schedule answers to its id and its aliases, however they are spelt', () => {
  for (const row of SCHEDULES) {
    for (const alias of [row.id, ...row.aliases]) {
      assert.equal(scheduleByAlias(alias), row.id);
      assert.equal(scheduleByAlias(alias.toUpperCase().replaceAll('-', '_')), row.id);
    }
    assert.ok(SCHEDULE_IDS.includes(row.id));
  }
  assert.equal(scheduleByAlias('Interleaved1F1B'), 'interleaved-1f1b');
  assert.equal(scheduleByAlias('__proto__'), null);
});
