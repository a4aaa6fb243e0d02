/** Numbers and items in words: what the tooltip, the foot and the screen reader say. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { percent } from '../../src/advice/format.ts';
import { describeItem, spoken } from '../../webview/describe.ts';
import { actionItem, gapBefore } from '../../webview/items.ts';
import { formatDuration, formatShare, formatTime, roundStep, ticksOf } from '../../webview/ticks.ts';
import { timelineFrom } from './random-timeline.ts';

const at = (gap: number, length: number, kind: number, stage = 0) => ({
  gap,
  length,
  kind,
  stage,
  microbatch: 3,
  pair: false,
});
const timeline = timelineFrom([[at(0, 10, 0), at(15, 20.25, 3, 1)], [at(10, 10, 1)]]);

test('an action says what, when, how long and what it waited for', () => {
  assert.deepEqual(describeItem(timeline, 2, actionItem(timeline, 0, 1)), {
    title: 'B2.3 backward',
    lines: [
      'rank 0, stage 2, chunk 1, microbatch 3',
      '20.25 ms, from 25 to 45.25',
      'after 15 ms of waiting for rank 1',
    ],
  });
  assert.equal(
    spoken(describeItem(timeline, 1, actionItem(timeline, 1, 2))),
    'I1.3 backward of the input, rank 1, stage 1, microbatch 3, 10 ms, from 10 to 20',
  );
});

test('a gap says which, why and how much of the step', () => {
  const { makespan } = timeline;
  assert.deepEqual(describeItem(timeline, 2, gapBefore(timeline, 0, 1)!), {
    title: 'Idle: stall',
    lines: ['rank 0, waiting for rank 1', '15 ms, from 10 to 25', `${percent(15 / makespan)} of the step on this rank`],
  });
  assert.equal(describeItem(timeline, 2, gapBefore(timeline, 1, 2)!).title, 'Idle: warm-up');
  assert.deepEqual(describeItem(timeline, 2, gapBefore(timeline, 1, 3)!).lines[0], 'rank 1, done until every rank is');
});

test('shares read as on every other surface', () => {
  fc.assert(fc.property(fc.double({ min: -1, max: 2, noNaN: true }), (share) => formatShare(share) === percent(share)));
});

test('times keep four significant digits and say their unit', () => {
  assert.equal(formatTime(0), '0');
  assert.equal(formatTime(12.34567), '12.35');
  assert.equal(formatTime(0.0123456), '0.01235');
  assert.equal(formatTime(1234567.8), '1,234,568');
  assert.equal(formatTime(100), '100');
  assert.equal(formatDuration(1, 'layer'), '1 layer time');
  assert.equal(formatDuration(2.5, 'layer'), '2.5 layer times');
  assert.equal(formatDuration(842, 'ms'), '842 ms');
});

test('ticks stand at round times inside the span, never too many, never alike', () => {
  const spans = fc.tuple(fc.double({ min: 0, max: 1e6, noNaN: true }), fc.double({ min: 1e-3, max: 1e6, noNaN: true }));
  fc.assert(
    fc.property(spans, fc.integer({ min: 2, max: 20 }), ([from, length], most) => {
      const ticks = ticksOf({ from, to: from + length }, most);
      assert.ok(ticks.length <= most + 1);
      assert.ok(ticks.every(({ time }) => time >= from - length * 1e-6 && time <= from + length * (1 + 1e-6)));
      assert.equal(new Set(ticks.map(({ label }) => label)).size, ticks.length);
    }),
  );
  assert.deepEqual(
    ticksOf({ from: 0, to: 1000 }, 5).map(({ label }) => label),
    ['0', '200', '400', '600', '800', '1,000'],
  );
  assert.deepEqual(
    ticksOf({ from: 1.1, to: 1.16 }, 3).map(({ label }) => label),
    ['1.10', '1.12', '1.14', '1.16'],
  );
  assert.equal(roundStep(100, 5), 20);
  assert.deepEqual(ticksOf({ from: 3, to: 3 }, 5), []);
});
