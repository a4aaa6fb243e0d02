/** Anchors follow the edits of the text around them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { movedOffset } from '../../src/editor/moved-range.ts';

test('an edit before the token moves it, one behind does not', () => {
  assert.equal(movedOffset(10, [{ rangeOffset: 2, rangeLength: 3, text: 'x' }]), 8);
  assert.equal(movedOffset(10, [{ rangeOffset: 10, rangeLength: 0, text: 'ab' }]), 12);
  assert.equal(movedOffset(10, [{ rangeOffset: 11, rangeLength: 4, text: '' }]), 10);
});

test('a token inside a replaced piece goes to its start', () => {
  assert.equal(movedOffset(10, [{ rangeOffset: 5, rangeLength: 20, text: 'new' }]), 5);
});

test('the character at the offset is the same one after any edits that leave it alone', () => {
  const edit = fc.record({ from: fc.nat(30), length: fc.nat(5), text: fc.string({ maxLength: 4 }) });
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 4 }), fc.nat(40), (edits, offset) => {
      const text = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP';
      const apart = edits
        .sort((a, b) => a.from - b.from)
        .filter(
          (each, i, all) => i === 0 || each.from >= Math.max(...all.slice(0, i).map((e) => e.from + e.length + 1)),
        );
      const kept = apart.filter((each) => offset < each.from || offset >= each.from + each.length);
      let after = text;
      for (const each of [...kept].reverse()) {
        after = after.slice(0, each.from) + each.text + after.slice(each.from + each.length);
      }
      const changes = kept.map((each) => ({ rangeOffset: each.from, rangeLength: each.length, text: each.text }));
      assert.equal(after[movedOffset(offset, changes)], text[offset]);
    }),
  );
});
