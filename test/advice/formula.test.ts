/** The closed formulas against published values: they are what the hover shows beside the simulated number. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bubbleFormula } from '../../src/advice/formula.ts';

test('1F1B: MT-NLG 530B, pp 35 and 160 microbatches, is 17.5 % idle', () => {
  assert.equal(bubbleFormula('1f1b', 35, 1, 160)?.value.toFixed(3), '0.175');
});

test('interleaving divides the bubble by the virtual stages', () => {
  const formula = bubbleFormula('interleaved-1f1b', 8, 2, 32);
  assert.equal(formula?.numbers, '7 / 71');
  assert.ok(formula !== null && Math.abs(formula.value - 7 / 71) < 1e-15);
});

test('schedules without a closed form have none', () => {
  assert.equal(bubbleFormula('zb-2p', 8, 1, 32), null);
});
