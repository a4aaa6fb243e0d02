/** The memory curve: its largest value is the report's peak, it begins and ends at nothing, and it is in order of time. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { COMMUNICATION_MODES } from '../../src/model/schedule.ts';
import { memoryCurve } from '../../src/sim/memory-curve.ts';
import { stageCount } from '../../src/sim/schedules/table.ts';
import { pipelineReport } from '../../src/sim/simulate.ts';
import { anyCase, equalCosts, shapeOf } from './shapes.ts';

const anyRun = anyCase.chain((base) =>
  fc.record({
    base: fc.constant(base),
    communication: fc.constantFrom(...COMMUNICATION_MODES),
    bytes: fc.array(fc.integer({ min: 1, max: 9 }), {
      minLength: stageCount(base.shape),
      maxLength: stageCount(base.shape),
    }),
  }),
);

test('freed at the weight gradient, a rank’s largest value is its peak, in microbatches and in bytes', () => {
  fc.assert(
    fc.property(anyRun, ({ base: { shape, costs }, communication, bytes }) => {
      const result = pipelineReport(shape, { ...costs, activationBytes: bytes }, { communication });
      if (!result.ok) return;
      const { ranks } = memoryCurve(result.timeline!, bytes);
      const early = memoryCurve(result.timeline!, bytes, 'I').ranks;
      for (const [rank, memory] of ranks.entries()) {
        const [time, live, size] = [memory.time, memory.live, memory.bytes!].map((column) => Array.from(column));
        assert.equal(Math.max(...live!), result.report.ranks[rank]!.peakActivations);
        assert.equal(Math.max(...size!), result.report.ranks[rank]!.peakBytes);
        assert.deepEqual([live![0], size![0], live!.at(-1), size!.at(-1)], [0, 0, 0, 0]);
        assert.ok(time!.every((at, i) => i === 0 || at >= time![i - 1]!));
        assert.ok(Math.max(...Array.from(early[rank]!.live)) <= Math.max(...live!));
      }
    }),
    { numRuns: 500 },
  );
});

test('a split backward lets go at either of its gradients, and unknown sizes stay unknown', () => {
  const shape = shapeOf('zb-h1', 2, 2);
  const result = pipelineReport(shape, equalCosts(shape, [1, 1, 1, 0]));
  assert.ok(result.ok);
  const [last] = memoryCurve(result.timeline!, [null, 8], 'W').ranks.slice(1);
  const [early] = memoryCurve(result.timeline!, [null, 8], 'I').ranks.slice(1);
  assert.equal(memoryCurve(result.timeline!, [null, 8]).ranks[0]!.bytes, null);
  assert.deepEqual(Array.from(early!.live), [0, 1, 0, 1, 0]);
  assert.deepEqual(Array.from(early!.bytes!), [0, 8, 0, 8, 0]);
  assert.ok(Array.from(last!.time).at(-1)! > Array.from(early!.time).at(-1)!);
});
