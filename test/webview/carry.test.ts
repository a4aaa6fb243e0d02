/** What is looked at survives an edit where it still makes sense, and a reload. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TimelineView } from '../../src/model/protocol.ts';
import type { Timeline } from '../../src/model/timeline.ts';
import { carry, keptOf, restore } from '../../webview/carry.ts';
import { actionItem, gapBefore } from '../../webview/items.ts';
import { timelineFrom } from './random-timeline.ts';

const row = (count: number, length: number) =>
  Array.from({ length: count }, (_, microbatch) => ({ gap: 1, length, kind: 0, stage: 0, microbatch, pair: false }));
const viewOf = (timeline: Timeline, planId = 'main'): TimelineView => ({
  planId,
  title: '',
  headline: '',
  waterfall: '',
  badge: 'relative',
  badgeText: '',
  timeline,
  ranks: [],
  pp: timeline.pp,
  vpp: 1,
  plans: [],
});
const before = viewOf(timelineFrom([row(8, 9)]));
const looking = {
  span: { from: 20, to: 40 },
  scroll: 12,
  focus: actionItem(before.timeline, 0, 3),
  range: { from: 25, to: 70 },
};

test('an edit keeps the times in view and the focused action', () => {
  const after = viewOf(timelineFrom([row(16, 4)]));
  assert.deepEqual(carry(before, looking, after), { ...looking, focus: actionItem(after.timeline, 0, 3) });
});

test('what an edit has taken away is let go', () => {
  const after = viewOf(timelineFrom([row(3, 9)]));
  assert.deepEqual(carry(before, looking, after), { span: { from: 11, to: 31 }, scroll: 12, focus: null, range: null });
  const gap = gapBefore(before.timeline, 0, 1);
  assert.equal(carry(before, { ...looking, focus: gap }, after).focus, null);
});

test('another plan or another unit of time begins anew', () => {
  const fresh = { span: { from: 0, to: before.timeline.makespan }, scroll: 0, focus: null, range: null };
  assert.deepEqual(carry(before, looking, viewOf(before.timeline, 'other')), fresh);
  assert.deepEqual(carry(before, looking, viewOf({ ...before.timeline, unit: 'layer' })), fresh);
});

test('what is kept comes back', () => {
  const kept = JSON.parse(JSON.stringify(keptOf(before, looking)));
  assert.deepEqual(restore(before, kept), { ...looking, range: null });
  const whole = { ...looking, span: { from: 0, to: before.timeline.makespan } };
  assert.equal(keptOf(before, whole).span, null);
  assert.deepEqual(restore(before, null).span, whole.span);
});
