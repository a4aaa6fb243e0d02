/** The level of detail tells the truth: its shares are those of a plain sum over all actions, at every zoom. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Timeline } from '../../src/model/timeline.ts';
import { buildCoverage, busyShare, columnShares, idleProfile } from '../../webview/coverage.ts';
import { pairedWith } from '../../webview/items.ts';
import { arbitraryTimeline, timelineFrom } from './random-timeline.ts';

function plainShare(timeline: Timeline, rank: number, kind: number | null, from: number, to: number): number {
  let sum = 0;
  for (let i = timeline.rankStart[rank]!; i < timeline.rankStart[rank + 1]!; i++) {
    if (kind !== null && timeline.kind[i] !== kind) continue;
    const inside = Math.min(timeline.end[i]!, to) - Math.max(timeline.start[i]!, from);
    sum += (Math.max(0, inside) / (to - from)) * (pairedWith(timeline, rank, i) < 0 ? 1 : 0.5);
  }
  return sum;
}

test('every column has the share of every kind that a plain sum gives', () => {
  const span = fc.tuple(fc.double({ min: 0, max: 0.9, noNaN: true }), fc.double({ min: 0.01, max: 1, noNaN: true }));
  fc.assert(
    fc.property(
      arbitraryTimeline({ pairs: true }),
      span,
      fc.integer({ min: 1, max: 30 }),
      fc.boolean(),
      (timeline, [at, part], columns, chunks) => {
        const coverage = buildCoverage(timeline, chunks ? 3 : 1);
        const from = at * timeline.makespan;
        const to = from + part * (timeline.makespan - from);
        const out = new Float32Array(columns * coverage.width);
        const step = coverage.tones ? 2 : 1;
        for (let rank = 0; rank < timeline.pp; rank++) {
          columnShares(coverage, rank, from, to, columns, out);
          for (let column = 0; column < columns; column++) {
            const left = from + ((to - from) * column) / columns;
            const right = from + ((to - from) * (column + 1)) / columns;
            coverage.kinds.forEach((kind, n) => {
              const share = out[column * coverage.width + n * step]!;
              const plain = plainShare(timeline, rank, kind, left, right);
              assert.ok(Math.abs(share - plain) < 1e-4, `rank ${rank} column ${column}: ${share}, not ${plain}`);
            });
          }
        }
      },
    ),
  );
});

test('busy share and idle profile are one minus the other', () => {
  fc.assert(
    fc.property(arbitraryTimeline({ pairs: true }), (timeline) => {
      const coverage = buildCoverage(timeline, 1);
      const busy = busyShare(coverage, 0, timeline.makespan);
      const profile = idleProfile(coverage, 16);
      const idle = profile.reduce((sum, share) => sum + share, 0) / profile.length;
      assert.ok(Math.abs(busy + idle - 1) < 1e-4);
      assert.ok(profile.every((share) => share >= 0 && share <= 1));
    }),
  );
});

test('a bubble narrower than a pixel keeps its share', () => {
  const row = Array.from({ length: 4000 }, () => ({
    gap: 1,
    length: 3,
    kind: 0,
    stage: 0,
    microbatch: 0,
    pair: false,
  }));
  const coverage = buildCoverage(timelineFrom([row]), 1);
  const out = new Float32Array(100 * coverage.width);
  columnShares(coverage, 0, 0, 16_000, 100, out);
  for (const share of out) assert.ok(Math.abs(share - 0.75) < 1e-3);
});

test('tones weigh the chunks, so that the mean colour of a column is right', () => {
  const row = [0, 1, 2].map((stage) => ({ gap: 0, length: 1, kind: 0, stage, microbatch: 0, pair: false }));
  const coverage = buildCoverage(timelineFrom([row]), 3);
  const out = new Float32Array(coverage.width);
  columnShares(coverage, 0, 0, 3, 1, out);
  assert.deepEqual(
    [...out].map((share) => Math.round(share * 1000) / 1000),
    [1, 0.5],
  );
});
