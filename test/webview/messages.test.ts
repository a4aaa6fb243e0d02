/** What the page takes for a message: the protocol's own, and nothing that only looks like it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readMessage, readState } from '../../webview/messages.ts';
import { arbitraryTimeline, timelineFrom } from './random-timeline.ts';

const row = { gap: 1, length: 2, kind: 0, stage: 0, microbatch: 3, pair: false };
const timeline = timelineFrom([
  [row, row],
  [row, row],
]);
const rank = (n: number) => ({
  rank: n,
  holds: 'layers 0-3',
  idleFraction: 0.2,
  warmupFraction: 0.1,
  cooldownFraction: 0.1,
  stallFraction: 0,
  peakActivations: 2,
});
const view = {
  planId: 'main',
  title: 'a run',
  headline: '20.0 % idle',
  waterfall: 'schedule 20.0 %',
  badge: 'relative',
  badgeText: 'relative costs',
  timeline,
  ranks: [rank(0), rank(1)],
  pp: 2,
  vpp: 1,
  plans: [{ id: 'main', name: 'a run' }],
};
const message = { type: 'show', version: 3, view };
const withView = (change: object) => ({ ...message, view: { ...view, ...change } });
const withTimeline = (change: object) => withView({ timeline: { ...timeline, ...change } });

test('the messages of the protocol pass', () => {
  assert.deepEqual(readMessage(message), message);
  assert.deepEqual(readMessage({ type: 'stale', version: 4, reason: 'broken' }), {
    type: 'stale',
    version: 4,
    reason: 'broken',
  });
  assert.deepEqual(readMessage({ type: 'empty', version: 0, reason: '' }), { type: 'empty', version: 0, reason: '' });
  const parts = { schedule: 0.3, imbalance: -0.01, communication: 0 };
  assert.deepEqual(readMessage(withView({ parts })), withView({ parts }));
});

test('columns pass as typed arrays and as the arrays that JSON makes of them', () => {
  const plain = JSON.parse(
    JSON.stringify({ ...timeline, start: [...Float64Array.from(timeline.start)] }),
    (_, value) =>
      typeof value === 'object' && value !== null && '0' in value && !Array.isArray(value)
        ? Object.values(value)
        : value,
  );
  assert.notEqual(readMessage(withView({ timeline: plain })), null);
  fc.assert(
    fc.property(arbitraryTimeline({ pairs: true }), (random) => {
      const ranks = Array.from({ length: random.pp }, (_, n) => rank(n));
      assert.notEqual(readMessage(withView({ timeline: random, pp: random.pp, ranks })), null);
    }),
  );
});

test('misshapen messages are dropped', () => {
  const bad: readonly (readonly [string, unknown])[] = [
    ['no object', 'show'],
    ['null', null],
    ['an array', [message]],
    ['no version', { type: 'empty', reason: 'x' }],
    ['a version that is no count', { ...message, version: 1.5 }],
    ['an unknown type', { ...message, type: 'paint' }],
    ['a prototype key as type', { ...message, type: 'constructor' }],
    ['a reason that is no text', { type: 'stale', version: 1, reason: 4 }],
    ['no view', { type: 'show', version: 1 }],
    ['a title that is no text', withView({ title: {} })],
    ['an unknown badge', withView({ badge: 'guessed' })],
    ['a prototype key as badge', withView({ badge: 'toString' })],
    ['another pp than the timeline', withView({ pp: 4 })],
    ['vpp 0', withView({ vpp: 0 })],
    ['too few ranks', withView({ ranks: [rank(0)] })],
    ['a rank without idle share', withView({ ranks: [rank(0), { ...rank(1), idleFraction: Number.NaN }] })],
    ['a plan without name', withView({ plans: [{ id: 'main' }] })],
    ['no timeline', withView({ timeline: null })],
    ['a makespan of zero', withTimeline({ makespan: 0 })],
    ['an endless makespan', withTimeline({ makespan: Number.POSITIVE_INFINITY })],
    ['a makespan before the last end', withTimeline({ makespan: 1 })],
    ['an unknown unit', withTimeline({ unit: 's' })],
    ['columns of different length', withTimeline({ end: new Float64Array(1) })],
    ['a column of texts', withTimeline({ start: ['0', '1', '2', '3'] })],
    ['a column that is a DataView', withTimeline({ kind: new DataView(new ArrayBuffer(4)) })],
    ['a time that is no number', withTimeline({ start: new Float64Array(4).fill(Number.NaN) })],
    ['actions over each other', withTimeline({ start: new Float64Array(4) })],
    ['ranks past the columns', withTimeline({ rankStart: [0, 2, 9] })],
    ['ranks backwards', withTimeline({ rankStart: [0, 5, 4] })],
    ['an unknown kind', withTimeline({ kind: new Uint8Array(4).fill(7) })],
    ['a negative stage', withTimeline({ stage: new Int32Array(4).fill(-1) })],
    ['a negative microbatch', withTimeline({ microbatch: new Int32Array(4).fill(-1) })],
    ['a wait for a rank that is not there', withTimeline({ waitedFor: new Int32Array(4).fill(2) })],
  ];
  for (const [what, data] of bad) assert.equal(readMessage(data), null, what);
});

test('any value at all is either a message or dropped', () => {
  fc.assert(fc.property(fc.anything(), (data) => readMessage(data) === null));
});

test('of a kept state only what fits is taken', () => {
  const nothing = { document: null, planId: null, span: null, scroll: 0, table: false, focus: null };
  assert.deepEqual(readState(undefined), nothing);
  assert.deepEqual(
    readState({ document: 4, planId: [], span: { from: 5, to: 5 }, scroll: -3, table: 'yes', focus: {} }),
    nothing,
  );
  const state = {
    document: 'file:///a.sh',
    planId: 'main',
    span: { from: 1, to: 2 },
    scroll: 40,
    table: true,
    focus: { rank: 1, kind: 3, stage: 1, microbatch: 2 },
  };
  assert.deepEqual(readState(JSON.parse(JSON.stringify(state))), state);
});
