/** Numbers in sentences. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counted, grouped } from '../../src/model/counted.ts';

test('thousands are apart, before the decimal point alone', () => {
  const cases = [
    [0, '0'],
    [999, '999'],
    [1000, '1,000'],
    [-1000, '-1,000'],
    [-100, '-100'],
    [8_000_000, '8,000,000'],
    [1234.5678, '1,234.5678'],
    [0.00012345, '0.00012345'],
    [1e21, '1e+21'],
  ] as const;
  for (const [value, text] of cases) assert.equal(grouped(value), text);
});

test('what is counted is singular for one alone', () => {
  assert.equal(counted(1, 'stage'), '1 stage');
  assert.equal(counted(0, 'stage'), '0 stages');
  assert.equal(counted(8_000_000, 'action'), '8,000,000 actions');
  assert.deepEqual([counted(1, 'microbatch'), counted(2, 'microbatch')], ['1 microbatch', '2 microbatches']);
});
