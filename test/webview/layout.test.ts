/** Where things stand: rows fill the height within limits, and what does not fit can be scrolled to. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { barTop, clampScroll, layoutFor, rankAt, scrollToRank, visibleRanks } from '../../webview/layout.ts';

const layouts = fc
  .tuple(fc.integer({ min: 0, max: 2000 }), fc.integer({ min: 0, max: 1500 }), fc.integer({ min: 1, max: 300 }))
  .map(([width, height, rows]) => layoutFor({ width, height }, rows));

test('a rank is found where its bar is drawn', () => {
  fc.assert(
    fc.property(layouts, fc.double({ min: 0, max: 1, noNaN: true }), (layout, share) => {
      const scroll = share * layout.maxScroll;
      const { first, last } = visibleRanks(layout, scroll);
      for (let rank = first; rank <= last; rank++) {
        const y = barTop(layout, scroll, rank) + layout.barHeight / 2;
        const seen = y >= layout.rowsTop && y < layout.rowsTop + layout.rowsHeight;
        assert.equal(rankAt(layout, scroll, y), seen ? rank : null);
      }
    }),
  );
});

test('scrolling to a rank shows its row, and moves no further than it must', () => {
  const layout = layoutFor({ width: 900, height: 300 }, 64);
  assert.ok(layout.maxScroll > 0);
  const down = scrollToRank(layout, 0, 63);
  assert.equal(down, layout.maxScroll);
  assert.ok(visibleRanks(layout, down).last === 63);
  assert.equal(scrollToRank(layout, down, 63), down);
  assert.equal(scrollToRank(layout, down, 0), 0);
  assert.equal(clampScroll(layout, 1e9), layout.maxScroll);
});

test('few ranks grow, many shrink, and a small panel gives up the minimap first', () => {
  assert.ok(layoutFor({ width: 900, height: 700 }, 4).barHeight > layoutFor({ width: 900, height: 700 }, 16).barHeight);
  assert.equal(layoutFor({ width: 900, height: 700 }, 4).maxScroll, 0);
  assert.ok(layoutFor({ width: 900, height: 700 }, 1000).barHeight >= 14);
  assert.equal(layoutFor({ width: 900, height: 150 }, 4).minimapHeight, 0);
  assert.ok(layoutFor({ width: 400, height: 700 }, 4).plotLeft < layoutFor({ width: 1200, height: 700 }, 4).plotLeft);
});
