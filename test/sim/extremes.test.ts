/** Times of any size: what no double holds is refused in one line, and nothing that is answered is not a number. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Costs } from '../../src/model/costs.ts';
import { variationOf, variationRefusal } from '../../src/sim/jitter.ts';
import { price } from '../../src/sim/ops.ts';
import { isLong } from '../../src/sim/periodic.ts';
import type { PipelineShape } from '../../src/sim/shape.ts';
import { orderText, pipelineReport, programOf } from '../../src/sim/simulate.ts';
import { anyShape, costsOf, equalCosts, shapeOf } from './shapes.ts';

const TOO_LARGE = /^the times of the run add up to more than a number can hold$/;

function reason(shape: PipelineShape, costs: Costs, overlapFactor?: number): string {
  const result = pipelineReport(shape, costs, overlapFactor === undefined ? {} : { overlapFactor });
  return result.ok ? '' : result.reason;
}

/** Every number below, as paths to those that are none. */
function unsound(value: unknown, path = ''): readonly string[] {
  if (typeof value === 'number') return Number.isFinite(value) ? [] : [`${path} is ${value}`];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => unsound(each, `${path}.${key}`));
}

const anyTime = fc.oneof(
  fc.double({ min: 0, max: Number.MAX_VALUE, noNaN: true }),
  fc.integer({ min: -323, max: 308 }).map((power) => 10 ** power),
);

test('a report holds finite numbers, or one line says why there is none', () => {
  fc.assert(
    fc.property(anyShape, fc.array(anyTime, { minLength: 4, maxLength: 4 }), (shape, [f, i, w, c]) => {
      const costs = equalCosts(shape, [f!, i!, w!, c!]);
      const result = pipelineReport(shape, costs);
      if (!result.ok) {
        assert.match(result.reason, TOO_LARGE);
        assert.deepEqual(orderText(shape, costs), []);
        return;
      }
      // All waiting and no work is an infinite bubble over the ideal, not an overflow.
      const { bubbleOverIdeal, ...rest } = result.report;
      assert.deepEqual(unsound(rest), []);
      assert.ok(Number.isFinite(bubbleOverIdeal) || rest.bubbleFraction === 1);
    }),
    { numRuns: 500 },
  );
});

test('runs of very many microbatches are the same whatever the unit of their times', () => {
  const shape = shapeOf('1f1b', 4, 1_000_000);
  assert.ok(isLong(shape));
  assert.match(reason(shape, equalCosts(shape, [1e303, 1, 1, 0])), TOO_LARGE);
  for (const unit of [2 ** -1070, 2 ** -1030, 1, 2 ** 900]) {
    const result = pipelineReport(shape, equalCosts(shape, [unit, unit, unit, 0]));
    assert.ok(result.ok);
    assert.equal(result.report.makespan / unit, 3 * (1_000_000 + 3));
  }
});

test('each kind of cost is refused where its sums are not finite', () => {
  const shape = shapeOf('1f1b', 4, 8);
  const fair = equalCosts(shape, [1, 1, 1, 0]);
  const with308 = (column: keyof Costs) => ({ ...fair, [column]: (fair[column] as number[]).map(() => 1e308) });
  for (const column of ['forward', 'backwardInput', 'backwardWeight', 'transfer'] as const) {
    assert.match(reason(shape, with308(column)), TOO_LARGE);
  }
  assert.match(
    reason(shape, with308('activationBytes')),
    /^the activation bytes add up to more than a number can hold$/,
  );
  assert.match(reason(shape, { ...fair, activationBytes: [1, -1, 1, 1] }), /^the activation bytes of a stage are -1;/);
  assert.match(reason(shape, fair, Number.NaN), /^the overlap factor is NaN;/);
  assert.match(reason(shape, fair, 1e308), TOO_LARGE);
  const odd = costsOf(4, (column, i) => (column === 'forward' && i === 2 ? Number.POSITIVE_INFINITY : 1));
  assert.match(reason(shape, odd), /^a forward time is Infinity;/);
});

function vary(shape: PipelineShape, costs: Costs, sigma: number, ranks: readonly number[] | null = null) {
  const compiled = programOf(shape, costs, {});
  assert.ok(compiled.ok);
  const factors = { ranks, microbatches: null };
  const prices = price(compiled.program.ops, costs, 1);
  const variation = variationOf(compiled.program, prices, { sigma, samples: 40, seed: 1, factors });
  assert.ok(variation !== null);
  return variation;
}

test('noise is the same whatever the unit of the times, though its samples are single floats', () => {
  const shape = shapeOf('zb-h1', 4, 8);
  const inUnit = (unit: number) => vary(shape, equalCosts(shape, [3 * unit, 2 * unit, unit, 0.5 * unit]), 0.2);
  const { makespan, bubbleFraction } = inUnit(1);
  for (const unit of [2 ** -900, 2 ** -200, 2 ** 200, 2 ** 900]) {
    const other = inUnit(unit);
    assert.deepEqual(other.bubbleFraction, bubbleFraction);
    assert.equal(other.makespan.p95 / unit, makespan.p95);
    assert.equal(other.makespan.mean / unit, makespan.mean);
  }
});

test('factors that make a varied run too long are told', () => {
  const shape = shapeOf('1f1b', 4, 8);
  const costs = equalCosts(shape, [10, 10, 10, 0]);
  for (const sigma of [0, 0.1]) {
    assert.equal(variationRefusal(vary(shape, costs, sigma)), null);
    assert.match(variationRefusal(vary(shape, costs, sigma, [1, 1e308, 1, 1]))!, /^the times of the varied run/);
  }
});
