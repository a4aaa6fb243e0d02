/** Completion in half-typed native files: `|` is the cursor. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import fc from 'fast-check';
import { completions } from '../../src/readers/native/completion.ts';
import { childNames, choiceValues, keyRow, NATIVE_KEYS } from '../../src/readers/native/keys.ts';
import { loadParsers } from '../../src/readers/parsers.ts';

before(() => loadParsers(['yaml', 'jsonc']));

function at(marked: string, path = 'a.pipeline.yaml') {
  const offset = marked.indexOf('|');
  const text = marked.slice(0, offset) + marked.slice(offset + 1);
  return { text, offset, items: completions(path, text, offset) };
}

const labels = (marked: string, path?: string) => at(marked, path).items.map((item) => item.label);

/** The text after choosing an item. */
function chosen(marked: string, label: string, path?: string): string {
  const { text, items } = at(marked, path);
  const item = items.find((each) => each.label === label);
  assert.ok(item, `${label} is not offered in ${JSON.stringify(marked)}`);
  return text.slice(0, item.offset) + item.insertText + text.slice(item.offset + item.length);
}

const without = (names: readonly string[], ...gone: readonly string[]) => names.filter((name) => !gone.includes(name));
const PIPELINE = childNames('pipeline');
const TOP = without(childNames(''), '$schema');
const ALL_SCHEDULES = (() => {
  const row = keyRow('pipeline.schedule');
  return row.type === 'choice' ? choiceValues(row) : [];
})();

test('YAML keys, by the place of the cursor', () => {
  assert.deepEqual(labels('|'), TOP);
  assert.deepEqual(labels('bubblelens: 1\n|\nbatch: { micro: 1 }\n'), without(TOP, 'bubblelens', 'batch'));
  assert.deepEqual(labels('pipeline:\n  |'), PIPELINE);
  assert.deepEqual(
    labels('pipeline:\n  size: 8\n  sch|\n  microbatches: 4\n'),
    without(PIPELINE, 'size', 'microbatches'),
  );
  assert.deepEqual(labels('pipeline:\n  size: 8\n\n|'), without(TOP, 'pipeline'));
  assert.deepEqual(labels('pipeline: { size: 8, |'), without(PIPELINE, 'size'));
  assert.deepEqual(
    labels('pipeline: { size: 8,\n            s|, microbatches: 4 }\n'),
    without(PIPELINE, 'size', 'microbatches'),
  );
  assert.deepEqual(labels('model:\n  layers: 4\n  experts: { count: 8, | }\n'), ['topK', 'ffn', 'shared']);
  assert.deepEqual(labels('model:\n  experts:\n    count: 8\n    |\n  layers: 3\n'), ['topK', 'ffn', 'shared']);
  assert.deepEqual(labels('\uFEFFpipeline:\r\n  size: 8\r\n  |\r\n'), without(PIPELINE, 'size'));
});

test('YAML keys of a stage: only those of the entry at the cursor are taken', () => {
  const stage = childNames('stages[]');
  assert.deepEqual(labels('stages:\n  - layers: 4\n  - forwardMs: 1\n    |'), without(stage, 'forwardMs'));
  assert.deepEqual(labels('stages:\n- layers: 4\n- |'), stage);
  assert.deepEqual(labels('stages:\n  - { layers: 4 }\n  - { forwardMs: 1, | }\n'), without(stage, 'forwardMs'));
  assert.deepEqual(labels('stages: [ { layers: 4 }, { | } ]'), stage);
});

test('YAML words', () => {
  assert.deepEqual(labels('pipeline:\n  schedule: |\n'), ALL_SCHEDULES);
  assert.deepEqual(labels('pipeline: { size: 8, schedule: 1f|, microbatches: 4 }'), ALL_SCHEDULES);
  assert.deepEqual(labels('model: { dtype: | }'), ['bf16', 'fp16', 'fp32', 'fp8']);
  assert.deepEqual(labels('model:\n  recompute: s|'), ['none', 'selective', 'full']);
  assert.deepEqual(labels('parallel:\n  sequenceParallel: |'), ['true', 'false']);
  assert.deepEqual(labels('bubblelens: |'), ['1']);
});

test('nothing where nothing fits', () => {
  for (const marked of [
    '# |',
    'pipeline: { size: 8 } # |',
    'pipeline:\n  size: 8 # siz|',
    'pipeline:\n  size: |',
    'pipeline:\n  size:\n    |',
    'nonsense:\n  |',
    'pipeline: [ | ]',
    'pipeline: { size: 8 } |',
  ]) {
    assert.deepEqual(labels(marked), [], marked);
  }
});

test('choosing an item gives text that reads on', () => {
  assert.equal(chosen('pipe|', 'pipeline'), 'pipeline:');
  assert.equal(chosen('pipeline:\n  si|', 'size'), 'pipeline:\n  size: ');
  assert.equal(chosen('pipeline:\n  si|: 8\n', 'size'), 'pipeline:\n  size: 8\n');
  assert.equal(chosen('pipeline: { si| }', 'size'), 'pipeline: { size:  }');
  assert.equal(chosen('pipeline: { schedule: 1f|1b, size: 2 }', 'gpipe'), 'pipeline: { schedule: gpipe, size: 2 }');
  assert.equal(chosen('model: { exp| }', 'experts'), 'model: { experts:  }');
  assert.equal(chosen('{ "pipeline": { "si|" } }', 'size', 'a.pipeline.json'), '{ "pipeline": { "size":  } }');
  assert.equal(chosen('{ "pipeline": { | } }', 'size', 'a.pipeline.json'), '{ "pipeline": { "size":  } }');
  assert.equal(
    chosen('{ "pipeline": { "schedule": "1f|" } }', 'gpipe', 'a.pipeline.json'),
    '{ "pipeline": { "schedule": "gpipe" } }',
  );
  assert.equal(
    chosen('{ "pipeline": { "schedule": | } }', 'gpipe', 'a.pipeline.json'),
    '{ "pipeline": { "schedule": "gpipe" } }',
  );
});

test('JSON keys and words', () => {
  const json = 'a.pipeline.json';
  assert.deepEqual(labels('{|}', json), childNames(''));
  assert.deepEqual(labels('{ "pipeline": { "size": 8, "|" } }', json), without(PIPELINE, 'size'));
  assert.deepEqual(labels('{ "stages": [ { "layers": 1 }, { "|" } ] }', json), childNames('stages[]'));
  assert.deepEqual(labels('{ "model": { "recompute": "|" } }', json), ['none', 'selective', 'full']);
  assert.deepEqual(labels('{ // |\n "pipeline": {} }', json), []);
});

test('every item is explained', () => {
  for (const marked of ['|', 'pipeline:\n  |', 'pipeline:\n  schedule: |', 'model:\n  |', 'stages:\n  - |']) {
    for (const item of at(marked).items) assert.ok(item.documentation.length > 10, `${marked} ${item.label}`);
  }
  assert.match(at('pipeline:\n  |').items[0]!.documentation, /whole number from 1 to 4096/);
});

test('never throws, and stays in the text, wherever a file is cut', () => {
  const sample = readFileSync('examples/measured.pipeline.yaml', 'utf8').replace(/^#.*\n/gm, '');
  const json = JSON.stringify(
    { pipeline: { size: 8, schedule: '1f1b' }, stages: [{ layers: 1 }, { layers: 2 }] },
    null,
    2,
  );
  const known = new Set(Object.keys(NATIVE_KEYS).flatMap((key) => key.split(/\.|\[\]/)));
  fc.assert(
    fc.property(fc.constantFrom(sample, json), fc.nat(), fc.nat(), fc.string({ maxLength: 4 }), (whole, a, b, junk) => {
      const cut = a % (whole.length + 1);
      const text = whole.slice(0, cut) + junk + whole.slice(cut + (b % 5));
      const path = whole === json ? 'a.pipeline.json' : 'a.pipeline.yaml';
      for (const item of completions(path, text, cut)) {
        assert.ok(item.offset >= 0 && item.length >= 0 && item.offset + item.length <= text.length);
        if (item.kind === 'key') assert.ok(known.has(item.label));
      }
    }),
    { numRuns: 500 },
  );
});
