/** Pointing at things: the binary search finds what a walk over the whole rank finds. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Timeline } from '../../src/model/timeline.ts';
import {
  actionItem,
  findAction,
  type GapItem,
  gapBefore,
  identityOf,
  itemAbove,
  itemAt,
  neighbourAction,
  neighbourGap,
} from '../../webview/items.ts';
import { arbitraryTimeline, timelineFrom } from './random-timeline.ts';

const at = (gap: number, length: number, kind = 0, microbatch = 0) => ({
  gap,
  length,
  kind,
  stage: 0,
  microbatch,
  pair: false,
});
const small = timelineFrom([
  [at(0, 4), at(0, 4, 0, 1), at(8, 6, 3)],
  [at(4, 4), at(0, 6, 3)],
]);

function gapsOf(timeline: Timeline): GapItem[] {
  const gaps: GapItem[] = [];
  for (let rank = 0; rank < timeline.pp; rank++) {
    for (let i = timeline.rankStart[rank]!; i <= timeline.rankStart[rank + 1]!; i++) {
      const gap = gapBefore(timeline, rank, i);
      if (gap !== null) gaps.push(gap);
    }
  }
  return gaps;
}

test('an action or a gap lies under every time of the step', () => {
  fc.assert(
    fc.property(
      arbitraryTimeline({ pairs: true }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (timeline, share) => {
        const time = share * timeline.makespan;
        for (let rank = 0; rank < timeline.pp; rank++) {
          const item = itemAt(timeline, rank, time, 0);
          assert.ok(item !== null && item.rank === rank && item.start <= time && time <= item.end);
          const busy = Array.from({ length: timeline.rankStart[rank + 1]! - timeline.rankStart[rank]! }).some(
            (_, n) => {
              const i = timeline.rankStart[rank]! + n;
              return timeline.start[i]! <= time && time < timeline.end[i]!;
            },
          );
          assert.equal(item.type, busy ? 'action' : 'gap');
        }
      },
    ),
  );
});

test('gaps and actions together fill every row', () => {
  fc.assert(
    fc.property(arbitraryTimeline({ pairs: false }), (timeline) => {
      let sum = gapsOf(timeline).reduce((total, gap) => total + gap.end - gap.start, 0);
      for (let i = 0; i < timeline.start.length; i++) sum += timeline.end[i]! - timeline.start[i]!;
      assert.ok(Math.abs(sum - timeline.pp * timeline.makespan) < 1e-6);
    }),
  );
});

test('a gap is named by where it lies', () => {
  assert.deepEqual(
    gapsOf(small).map(({ rank, start, end, cause, waitedForRank }) => [rank, start, end, cause, waitedForRank]),
    [
      [0, 8, 16, 'stall', 1],
      [0, 22, 23, 'cooldown', -1],
      [1, 0, 4, 'warmup', 0],
      [1, 14, 23, 'cooldown', -1],
    ],
  );
});

test('an action thinner than the slack is hit beside it, but not through a gap that can be hit itself', () => {
  const thin = timelineFrom([[at(10, 0.001), at(10, 5)]]);
  assert.equal(itemAt(thin, 0, 10.4, 0.5)?.type, 'gap');
  const close = timelineFrom([[at(0.3, 5), at(0.3, 5)]]);
  assert.deepEqual(itemAt(close, 0, 0.1, 0.5), actionItem(close, 0, 0));
  assert.equal(itemAt(small, 0, -1, 0.5), null);
});

test('walking over the gaps visits each once, in both directions', () => {
  fc.assert(
    fc.property(arbitraryTimeline({ pairs: true }), (timeline) => {
      const all = gapsOf(timeline);
      const walked = (step: 1 | -1) => {
        const seen: GapItem[] = [];
        for (let gap = neighbourGap(timeline, null, step); gap !== null; gap = neighbourGap(timeline, gap, step)) {
          seen.push(gap);
          if (seen.length > all.length) break;
        }
        return seen;
      };
      assert.deepEqual(walked(1), all);
      assert.deepEqual(walked(-1), all.toReversed());
    }),
  );
});

test('walking over the actions of a rank, from a gap too', () => {
  const first = actionItem(small, 0, 0);
  assert.equal(neighbourAction(small, first, -1), null);
  assert.deepEqual(neighbourAction(small, first, 1), actionItem(small, 0, 1));
  const gap = gapBefore(small, 0, 2)!;
  assert.deepEqual(neighbourAction(small, gap, 1), actionItem(small, 0, 2));
  assert.deepEqual(neighbourAction(small, gap, -1), actionItem(small, 0, 1));
  assert.equal(neighbourAction(small, gapBefore(small, 0, 3)!, 1), null);
});

test('up and down keep the time', () => {
  const below = itemAbove(small, actionItem(small, 0, 1), 1)!;
  assert.deepEqual(below, actionItem(small, 1, 3));
  assert.equal(itemAbove(small, below, 1), null);
  assert.equal(itemAbove(small, actionItem(small, 0, 0), 1)?.type, 'gap');
});

test('an action is found again in another timeline by what it is', () => {
  const slower = timelineFrom([
    [at(0, 9), at(0, 9, 0, 1), at(8, 6, 3)],
    [at(9, 9), at(0, 6, 3)],
  ]);
  const identity = identityOf(small, actionItem(small, 0, 1));
  assert.deepEqual(findAction(slower, identity), actionItem(slower, 0, 1));
  assert.equal(findAction(slower, { ...identity, microbatch: 7 }), null);
  assert.equal(findAction(slower, { ...identity, rank: 9 }), null);
});
