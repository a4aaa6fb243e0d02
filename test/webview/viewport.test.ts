/** The span in view stays inside the step, whatever is done to it, and zooming keeps what is under the pointer. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  carrySpan,
  clampSpan,
  panSpan,
  revealSpan,
  type Span,
  spanAround,
  timeToX,
  wholeSpan,
  xToTime,
  zoomSpan,
} from '../../webview/viewport.ts';

const MAKESPAN = 1000;
const spans = fc
  .tuple(fc.double({ min: 0, max: 990, noNaN: true }), fc.double({ min: 1, max: 1000, noNaN: true }))
  .map(([from, length]) => clampSpan({ from, to: from + length }, MAKESPAN));
const near = (a: number, b: number) => assert.ok(Math.abs(a - b) < 1e-6, `${a} is not ${b}`);

function isInside({ from, to }: Span): void {
  assert.ok(from >= -1e-9 && to <= MAKESPAN + 1e-9 && to > from, `${from} to ${to}`);
}

test('every move stays inside the step', () => {
  const moves = fc.oneof(
    fc
      .double({ min: 1e-9, max: 1e9, noNaN: true })
      .map((factor) => (span: Span) => zoomSpan(span, factor, 500, MAKESPAN)),
    fc.double({ min: -5000, max: 5000, noNaN: true }).map((delta) => (span: Span) => panSpan(span, delta, MAKESPAN)),
    fc.double({ min: 0, max: 999, noNaN: true }).map((at) => () => spanAround(at, at + 1, MAKESPAN)),
  );
  fc.assert(
    fc.property(fc.array(moves, { maxLength: 12 }), (list) => {
      let span = wholeSpan(MAKESPAN);
      for (const move of list) {
        span = move(span);
        isInside(span);
      }
    }),
  );
});

test('zooming in keeps the time at the pivot where it is', () => {
  fc.assert(
    fc.property(
      spans,
      fc.double({ min: 0.2, max: 0.99, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (span, factor, share) => {
        const pivot = span.from + (span.to - span.from) * share;
        const next = zoomSpan(span, factor, pivot, MAKESPAN);
        near(timeToX(next, 0, 800, pivot), timeToX(span, 0, 800, pivot));
      },
    ),
  );
});

test('panning keeps the length', () => {
  fc.assert(
    fc.property(spans, fc.double({ min: -2000, max: 2000, noNaN: true }), (span, delta) => {
      const next = panSpan(span, delta, MAKESPAN);
      near(next.to - next.from, span.to - span.from);
    }),
  );
});

test('what is revealed is in view, and a view that has it does not move', () => {
  fc.assert(
    fc.property(spans, fc.double({ min: 0, max: 1, noNaN: true }), (span, at) => {
      const length = (span.to - span.from) / 4;
      const from = at * (MAKESPAN - length);
      const next = revealSpan(span, from, from + length, MAKESPAN);
      assert.ok(next.from <= from + 1e-6 && next.to >= from + length - 1e-6);
    }),
  );
  const span = { from: 100, to: 200 };
  assert.deepEqual(revealSpan(span, 140, 150, MAKESPAN), span);
});

test('pixels and times are each other backwards', () => {
  const span = { from: 20, to: 70 };
  near(xToTime(span, 216, 800, timeToX(span, 216, 800, 33)), 33);
});

test('a changed timeline keeps the times in view, and the whole stays the whole', () => {
  assert.deepEqual(carrySpan({ from: 0, to: 100 }, 100, 250), { from: 0, to: 250 });
  assert.deepEqual(carrySpan({ from: 10, to: 30 }, 100, 250), { from: 10, to: 30 });
  assert.deepEqual(carrySpan({ from: 80, to: 100 }, 100, 90), { from: 70, to: 90 });
  assert.deepEqual(carrySpan({ from: 80, to: 100 }, 100, 50), { from: 0, to: 50 });
});
