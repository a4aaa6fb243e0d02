/** Variation: laws of seeded noise, and its distribution against a plain simulator with noise of its own. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Costs } from '../../src/model/costs.ts';
import type { Spread, Variation } from '../../src/model/variation.ts';
import { type VariationOptions, variationOf } from '../../src/sim/jitter.ts';
import { factorRows, ROWS } from '../../src/sim/noise.ts';
import { plainNoisyScan } from '../../src/sim/noisy-scan.ts';
import { price } from '../../src/sim/ops.ts';
import { randomFrom } from '../../src/sim/random.ts';
import { stageCount } from '../../src/sim/schedules/table.ts';
import type { PipelineShape } from '../../src/sim/shape.ts';
import { orderText, pipelineReport, programOf } from '../../src/sim/simulate.ts';
import { type ReferenceCosts, referenceRun } from './reference.ts';
import { anyCase, anyShape, equalCosts, shapeOf } from './shapes.ts';

const RUNS = { numRuns: 200 };

function vary(shape: PipelineShape, costs: Costs, options: Partial<VariationOptions>): Variation {
  const compiled = programOf(shape, costs, {});
  assert.ok(compiled.ok);
  const prices = price(compiled.program.ops, costs, 1);
  const variation = variationOf(compiled.program, prices, { sigma: 0.1, samples: 40, seed: 1, ...options });
  assert.ok(variation !== null);
  return variation;
}

const spreads = ({ makespan, bubbleFraction }: Variation) => [makespan, bubbleFraction];

const anyNoise = fc.record({
  sigma: fc.double({ min: 0.001, max: 0.6, noNaN: true }),
  samples: fc.integer({ min: 1, max: 70 }),
  seed: fc.integer(),
});

test('the same seed gives the same bytes, by the kernel and by the plain loop', () => {
  fc.assert(
    fc.property(anyCase, anyNoise, ({ shape, costs }, noise) => {
      const first = vary(shape, costs, noise);
      assert.equal(JSON.stringify(first), JSON.stringify(vary(shape, costs, noise)));
      assert.equal(JSON.stringify(first), JSON.stringify(vary(shape, costs, { ...noise, scan: plainNoisyScan })));
      assert.equal(first.samples, noise.samples);
      assert.equal(first.seed, noise.seed);
    }),
    RUNS,
  );
});

test('without noise every percentile is the deterministic run', () => {
  fc.assert(
    fc.property(anyCase, ({ shape, costs }) => {
      const result = pipelineReport(shape, costs);
      assert.ok(result.ok);
      const { makespan, bubbleFraction } = result.report;
      const same = (value: number): Spread => ({ p5: value, p50: value, p95: value, mean: value });
      const variation = vary(shape, costs, { sigma: 0 });
      assert.deepEqual(variation.makespan, same(makespan));
      assert.deepEqual(variation.bubbleFraction, same(bubbleFraction));
    }),
    RUNS,
  );
});

test('vanishing noise comes near the deterministic run', () => {
  fc.assert(
    fc.property(anyCase, ({ shape, costs }) => {
      const [exact, noisy] = [0, 1e-7].map((sigma) => vary(shape, costs, { sigma }));
      for (const at of ['p5', 'p50', 'p95', 'mean'] as const) {
        assert.ok(Math.abs(noisy!.makespan[at] - exact!.makespan[at]) <= 1e-4 * exact!.makespan[at]);
        assert.ok(Math.abs(noisy!.bubbleFraction[at] - exact!.bubbleFraction[at]) <= 1e-4);
      }
    }),
    RUNS,
  );
});

test('percentiles are in order, and the bubble is a fraction', () => {
  fc.assert(
    fc.property(anyCase, anyNoise, ({ shape, costs }, noise) => {
      const variation = vary(shape, costs, noise);
      for (const { p5, p50, p95 } of spreads(variation)) assert.ok(p5 <= p50 && p50 <= p95);
      const { p5, p95 } = variation.bubbleFraction;
      assert.ok(p5 >= 0 && p95 <= 1);
    }),
    RUNS,
  );
});

test('a straggler never makes a percentile of the step time lower', () => {
  fc.assert(
    fc.property(anyCase, anyNoise, fc.nat(), fc.double({ min: 1, max: 3, noNaN: true }), (base, noise, at, factor) => {
      const { shape, costs } = base;
      const ranks = Array.from({ length: shape.pp }, (_, rank) => (rank === at % shape.pp ? factor : 1));
      const before = vary(shape, costs, noise).makespan;
      const after = vary(shape, costs, { ...noise, factors: { ranks, microbatches: null } }).makespan;
      for (const each of ['p5', 'p50', 'p95', 'mean'] as const) assert.ok(after[each] >= before[each]);
    }),
    RUNS,
  );
});

test('slow ranks and long microbatches take as long as the plain simulator says', () => {
  const factors = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(anyCase, factors, factors, ({ shape, costs }, ranks, lengths) => {
      const lines = orderText(shape, costs);
      const run = referenceRun(
        lines,
        stageCount(shape),
        costs,
        (action, rank) => ranks[rank]! * lengths[action.microbatch]!,
      );
      const { makespan } = vary(shape, costs, { sigma: 0, factors: { ranks, microbatches: lengths } });
      assert.ok(run !== null);
      assert.ok(Math.abs(makespan.p50 - run.makespan) <= 1e-9 * run.makespan);
    }),
    RUNS,
  );
});

test('the distribution is that of a plain simulator with independent noise', () => {
  const cases = [
    [shapeOf('1f1b', 4, 16), 0.1],
    [shapeOf('interleaved-1f1b', 4, 8, 2), 0.3],
    [shapeOf('zb-h1', 3, 9), 0.2],
  ] as const;
  for (const [shape, sigma] of cases) {
    const costs = equalCosts(shape, [10, 11, 7, 1]);
    const random = randomFrom(99);
    const noise = () => Math.exp(sigma * random.normal() - (sigma * sigma) / 2);
    const plain: ReferenceCosts = costs;
    const lines = orderText(shape, costs);
    const times = Array.from({ length: 1500 }, () => referenceRun(lines, stageCount(shape), plain, noise)!.makespan);
    times.sort((a, b) => a - b);
    const { makespan } = vary(shape, costs, { sigma, samples: 20_000, seed: 5 });
    const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
    const deviation = Math.sqrt(times.reduce((sum, time) => sum + (time - mean) ** 2, 0) / times.length);
    const near = (a: number, b: number, deviations: number) =>
      assert.ok(Math.abs(a - b) < deviations * deviation, `${shape.schedule}: ${a} and ${b} of ${deviation}`);
    near(makespan.mean, mean, 0.1);
    near(makespan.p5, times[75]!, 0.2);
    near(makespan.p50, times[750]!, 0.15);
    near(makespan.p95, times[1425]!, 0.2);
  }
});

test('schedules that run the same actions meet the same noise', () => {
  const costs = equalCosts(shapeOf('1f1b', 1, 24), [10, 11, 7, 0]);
  const of = (schedule: '1f1b' | 'gpipe', seed: number) =>
    vary(shapeOf(schedule, 1, 24), costs, { samples: 16, seed }).makespan.p95;
  assert.ok(Math.abs(of('1f1b', 3) - of('gpipe', 3)) < 1e-3);
  assert.ok(Math.abs(of('1f1b', 3) - of('gpipe', 4)) > 1e-2);
});

test('every lane of the rows holds factors of mean 1 and the asked spread', () => {
  for (const sigma of [0.01, 0.1, 0.5]) {
    const rows = factorRows(randomFrom(7), sigma);
    for (let lane = 0; lane < 16; lane++) {
      const factors = Array.from({ length: ROWS }, (_, row) => rows[16 * row + lane]!);
      const mean = factors.reduce((sum, factor) => sum + factor, 0) / ROWS;
      const logs = factors.map(Math.log);
      const middle = logs.reduce((sum, log) => sum + log, 0) / ROWS;
      const spread = Math.sqrt(logs.reduce((sum, log) => sum + (log - middle) ** 2, 0) / ROWS);
      assert.ok(Math.abs(mean - 1) < 1e-6);
      assert.ok(Math.abs(spread - sigma) < 1e-6 * sigma + 1e-7);
    }
  }
});

test('the work ends when it is asked to', () => {
  const shape = shapeOf('1f1b', 16, 512);
  const costs = equalCosts(shape, [1, 1, 1, 0]);
  const compiled = programOf(shape, costs, {});
  assert.ok(compiled.ok);
  let asked = 0;
  const isCancelled = () => ++asked === 3;
  const options = { sigma: 0.1, samples: 100_000, seed: 1, isCancelled };
  assert.equal(variationOf(compiled.program, price(compiled.program.ops, costs, 1), options), null);
  assert.equal(asked, 3);
});

test('seeds of any size give streams of their own', () => {
  const seeds = [0, 1, -1, 2 ** 31, 2 ** 32, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER];
  const streams = seeds.map((seed) => {
    const random = randomFrom(seed);
    return [random.bits(), random.bits(), random.bits()].join();
  });
  assert.equal(new Set(streams).size, seeds.length);
  fc.assert(
    fc.property(anyShape, fc.maxSafeInteger(), (shape, seed) => {
      const costs = equalCosts(shape, [1, 1, 1, 1]);
      assert.equal(vary(shape, costs, { seed }).seed, seed);
    }),
    { numRuns: 30 },
  );
});
