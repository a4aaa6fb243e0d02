/** The small decisions of the editor room: when to wait, what may be typed, what a page may send, what is named how. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleSummary } from '../../src/editor/example-summary.ts';
import { gpuCountProblem } from '../../src/editor/gpu-count-text.ts';
import { nameWithExtension } from '../../src/editor/languages.ts';
import { delayMs, remembered, typicalMs } from '../../src/editor/pace.ts';
import { documentOfState, planOfState, readFromWebview } from '../../src/editor/timeline-messages.ts';

test('without a worker a cheap analysis does not wait, a quick one takes half of the time, a dear one waits', () => {
  assert.equal(delayMs(0, 0, 'no worker'), 0);
  assert.equal(delayMs(5, 0, 'no worker'), 0);
  assert.equal(delayMs(20, 100, 'no worker'), 0);
  assert.equal(delayMs(20, 5, 'no worker'), 15);
  assert.equal(delayMs(50, 1000, 'no worker'), 0);
  assert.equal(delayMs(51, 1000, 'no worker'), 150);
});

test('the worker is asked at once, and for a dear analysis when the typing pauses', () => {
  assert.equal(delayMs(0, 0, 'worker'), 0);
  assert.equal(delayMs(20, 5, 'worker'), 0);
  assert.equal(delayMs(50, 0, 'worker'), 0);
  assert.equal(delayMs(51, 1000, 'worker'), 150);
  assert.equal(delayMs(5000, 1000, 'worker'), 150);
  assert.equal(delayMs(8, 0, 'here'), 0);
});

test('one slow run among quick ones does not slow down the next', () => {
  assert.equal(typicalMs([]), 0);
  assert.equal(typicalMs([8, 9, 400]), 9);
  const times = [1, 2, 3, 4, 5, 6, 7].reduce<readonly number[]>(remembered, []);
  assert.deepEqual(times, [3, 4, 5, 6, 7]);
});

test('a GPU count is a whole number, or nothing', () => {
  for (const good of ['', ' ', '1', ' 64 ', '1024', '10000000']) assert.equal(gpuCountProblem(good), null, good);
  for (const bad of ['0', '-1', '1.5', '1e3', 'many', '10000001', '0x10']) assert.ok(gpuCountProblem(bad), bad);
});

test('an example tells itself in its first comment that says something', () => {
  assert.equal(exampleSummary('#!/bin/bash\n#\n# A heavy last stage.\n# More.'), 'A heavy last stage.');
  assert.equal(exampleSummary('# Short\n'), 'Short');
  assert.equal(exampleSummary('{\n  "name": "Two ranks",\n'), 'Two ranks');
  assert.equal(exampleSummary(''), '');
});

test('a document without a file gets the extension of its language', () => {
  assert.equal(nameWithExtension('Untitled-1', 'shellscript'), 'Untitled-1.sh');
  assert.equal(nameWithExtension('a.pipeline.yaml', 'yaml'), 'a.pipeline.yaml');
  assert.equal(nameWithExtension('Untitled-1', 'plaintext'), 'Untitled-1');
});

test('what the page sends is taken as the protocol has it, or dropped', () => {
  const action = { type: 'revealAction', rank: 1, stage: 5, kind: 'F', microbatch: 0 };
  const gap = { type: 'revealGap', rank: 1, cause: 'stall', waitedForRank: -1 };
  assert.deepEqual(readFromWebview({ ...action, more: 1 }), action);
  assert.deepEqual(readFromWebview(gap), gap);
  assert.deepEqual(readFromWebview({ type: 'ready' }), { type: 'ready' });
  assert.deepEqual(readFromWebview({ type: 'choosePlan', planId: 'x' }), { type: 'choosePlan', planId: 'x' });
  const misshapen = [
    null,
    undefined,
    'ready',
    1,
    [],
    {},
    { type: 'run', command: 'x' },
    { type: 'choosePlan' },
    { ...action, stage: -1 },
    { ...action, rank: '1' },
    { ...action, microbatch: Number.NaN },
    { ...gap, cause: 'constructor' },
    { ...gap, waitedForRank: 0.5 },
  ];
  for (const each of misshapen) assert.equal(readFromWebview(each), null, JSON.stringify(each));
});

test('a restored page names its document, or nothing', () => {
  assert.equal(documentOfState({ document: 'file:///a' }), 'file:///a');
  assert.equal(planOfState({ planId: 'main' }), 'main');
  for (const state of [null, undefined, 1, {}, { document: 1, planId: null }]) {
    assert.equal(documentOfState(state), null);
    assert.equal(planOfState(state), null);
  }
});
