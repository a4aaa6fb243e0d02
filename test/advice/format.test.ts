/** How numbers are written: one way for every surface. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dollars, duration, number, oneLine, percent, printable } from '../../src/advice/format.ts';

test('percent has one decimal and no negative zero', () => {
  assert.equal(percent(0.2113), '21.1 %');
  assert.equal(percent(0), '0.0 %');
  assert.equal(percent(-0.0002), '0.0 %');
  assert.equal(percent(-0.012), '-1.2 %');
  assert.equal(percent(1), '100.0 %');
});

test('dollars are whole from ten on, with commas', () => {
  assert.equal(dollars(1204.4), '$1,204');
  assert.equal(dollars(9.5), '$9.50');
  assert.equal(dollars(2_000_000), '$2,000,000');
});

test('durations choose a unit that reads', () => {
  assert.equal(duration(12.345), '12.3 ms');
  assert.equal(duration(812.54), '813 ms');
  assert.equal(duration(1333), '1.33 s');
  assert.equal(duration(61_234), '61.2 s');
});

test('numbers', () => {
  assert.equal(number(27.77), '27.8');
  assert.equal(number(1536), '1,536');
});

test('what commands a terminal or turns the writing direction is left out', () => {
  assert.equal(printable('a\u001b[31mred\u202e\nb'), 'a[31mred\nb');
  assert.equal(oneLine(' two\r\n lines\u0000\u2028 '), 'two lines');
  assert.equal(oneLine('x'.repeat(500), 10), `${'x'.repeat(9)}…`);
});
