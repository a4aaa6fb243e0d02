/** Arguments: a number after an option is its value, whatever its sign; the parser's refusals in our words. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseArgs } from 'node:util';
import { prepared, refusalOf } from '../../src/cli/arguments.ts';

test('a negative number after an option becomes its value, and nothing else changes', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['--pp -1', '--pp=-1'],
    ['--p2p -.5 --json', '--p2p=-.5 --json'],
    ['--stage-scale -1,2 x', '--stage-scale=-1,2 x'],
    ['--forward -Infinity', '--forward=-Infinity'],
    ['--pp 4 -1', '--pp 4 -1'],
    ['--pp=4 -1', '--pp=4 -1'],
    ['--pp --vpp 2', '--pp --vpp 2'],
    ['--order -x', '--order -x'],
    ['a -- --pp -1', 'a -- --pp -1'],
    ['--pp', '--pp'],
    ['', ''],
  ];
  for (const [given, expected] of cases) assert.equal(prepared(given.split(' ')).join(' '), expected);
});

test('what the parser refuses is one clause that names the option', () => {
  const refusal = (...args: readonly string[]) => {
    try {
      parseArgs({ args: prepared(args), options: { pp: { type: 'string' }, json: { type: 'boolean' } } });
    } catch (error) {
      return refusalOf(error);
    }
    return null;
  };
  assert.equal(refusal('--pp', '-1'), null);
  assert.equal(refusal('--pp', '--json'), '--pp is given without a value');
  assert.equal(refusal('--pp'), '--pp is given without a value');
  assert.equal(refusal('--json', '-1'), "Option '--json' does not take an argument");
  assert.equal(refusal('--nonsense'), "Unknown option '--nonsense'");
});
