/**
 * Laws of a timing that hold for every schedule of the table: what no list of actions can beat, what scaling does, and
 * that nothing depends on what was simulated before.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Costs } from '../../src/model/costs.ts';
import { KIND_NAMES } from '../../src/model/timeline.ts';
import { clearPrograms } from '../../src/sim/cache.ts';
import { orderText, pipelineReport } from '../../src/sim/simulate.ts';
import { anyCase } from './shapes.ts';

const RUNS = { numRuns: 300 };

function simulated(...args: Parameters<typeof pipelineReport>) {
  const result = pipelineReport(...args);
  if (!result.ok) throw new Error(result.reason);
  return result;
}

const sum = (times: readonly number[]) => times.reduce((total, time) => total + time, 0);

test('on a rank no two actions overlap, but those of an overlapped pair, which share their time', () => {
  fc.assert(
    fc.property(anyCase, ({ shape, costs }) => {
      const { timeline } = simulated(shape, costs);
      assert.ok(timeline !== null);
      for (let rank = 0; rank < timeline.pp; rank++) {
        for (let i = timeline.rankStart[rank]! + 1; i < timeline.rankStart[rank + 1]!; i++) {
          const isPair = timeline.start[i] === timeline.start[i - 1] && timeline.end[i] === timeline.end[i - 1];
          assert.ok(
            isPair || timeline.start[i]! >= timeline.end[i - 1]!,
            `${KIND_NAMES[timeline.kind[i]!]} on ${rank}`,
          );
        }
      }
    }),
    RUNS,
  );
});

test('the makespan is at least one microbatch through the whole pipeline, and at least the busiest rank', () => {
  fc.assert(
    fc.property(anyCase, ({ shape, costs }) => {
      const { report } = simulated(shape, costs);
      const through = shape.microbatches === 0 ? 0 : sum(costs.forward) + sum(costs.backwardInput);
      assert.ok(report.makespan >= through, `${report.makespan} and ${through}`);
      for (const rank of report.ranks) assert.ok(report.makespan >= rank.busy);
    }),
    RUNS,
  );
});

test('scaling every time scales every result and no share', () => {
  const scaled = (costs: Costs, by: number): Costs => ({
    ...costs,
    forward: costs.forward.map((time) => time * by),
    backwardInput: costs.backwardInput.map((time) => time * by),
    backwardWeight: costs.backwardWeight.map((time) => time * by),
    transfer: costs.transfer.map((time) => time * by),
  });
  fc.assert(
    fc.property(anyCase, fc.constantFrom(0.25, 2, 1024), ({ shape, costs }, by) => {
      const one = simulated(shape, costs).report;
      const other = simulated(shape, scaled(costs, by)).report;
      assert.equal(other.makespan, one.makespan * by);
      assert.equal(other.bubbleFraction, one.bubbleFraction);
      assert.deepEqual(
        other.ranks.map((rank) => [rank.busy, rank.end, rank.peakActivations]),
        one.ranks.map((rank) => [rank.busy * by, rank.end * by, rank.peakActivations]),
      );
    }),
    RUNS,
  );
});

test('the same input gives the same bytes, whatever was simulated before', () => {
  fc.assert(
    fc.property(anyCase, anyCase, (first, second) => {
      const bytes = () =>
        JSON.stringify([simulated(first.shape, first.costs).report, orderText(first.shape, first.costs)]);
      clearPrograms();
      const fresh = bytes();
      simulated(second.shape, second.costs);
      assert.equal(bytes(), fresh);
    }),
    RUNS,
  );
});
