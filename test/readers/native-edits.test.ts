/** Changes in native files: what is written where, and the law that a change comes true and nothing else moves. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import fc from 'fast-check';
import type { Change, TextEdit } from '../../src/model/finding.ts';
import { checkTree, type NativeValue } from '../../src/readers/native/check.ts';
import { choiceValues, isNativeKey, keyRow, NATIVE_KEYS } from '../../src/readers/native/keys.ts';
import { nativeTree } from '../../src/readers/native/tree.ts';
import { nativeReader } from '../../src/readers/native.ts';
import { loadParsers } from '../../src/readers/parsers.ts';

before(() => loadParsers(['yaml', 'jsonc']));

function apply(text: string, edits: readonly TextEdit[]): string {
  return [...edits]
    .sort((a, b) => b.offset - a.offset)
    .reduce(
      (result, { offset, length, text: put }) => result.slice(0, offset) + put + result.slice(offset + length),
      text,
    );
}

/** The text after the change; null where the file cannot express it. */
function changed(text: string, key: string, value: Change['value'], file = 'a.pipeline.yaml'): string | null {
  const plan = nativeReader.read(file, { [file]: text }, {}).plans[0];
  assert.ok(plan);
  const edits = nativeReader.edits({ [file]: text }, plan, { key, value });
  return edits === null ? null : apply(text, edits);
}

const BLOCK = `# head
pipeline:
  size: 8  # ranks
  schedule: '1f1b'

  # behind
batch: {micro: 1}
`;

test('a value is replaced in place, quotes and comments kept', () => {
  assert.equal(changed(BLOCK, 'pipeline.size', 4), BLOCK.replace('8', '4'));
  assert.equal(changed(BLOCK, 'pipeline.schedule', 'GPipe'), BLOCK.replace('1f1b', 'gpipe'));
  assert.equal(changed('{"pipeline":{"size":8}}', 'pipeline.size', 4, 'a.pipeline.json'), '{"pipeline":{"size":4}}');
});

test('a key is inserted beside its siblings, in their style', () => {
  const cases: readonly (readonly [string, string, Change['value'], string, string?])[] = [
    [BLOCK, 'pipeline.microbatches', 16, BLOCK.replace("'1f1b'\n", "'1f1b'\n  microbatches: 16\n")],
    [BLOCK, 'batch.global', 64, BLOCK.replace('{micro: 1}', '{micro: 1, global: 64}')],
    [BLOCK, 'cluster.gpus', 64, `${BLOCK}cluster: { gpus: 64 }\n`],
    [
      BLOCK.replaceAll('\n', '\r\n'),
      'cluster.gpu',
      'H100-SXM-80GB',
      `${BLOCK}cluster: { gpu: H100-SXM-80GB }\n`.replaceAll('\n', '\r\n'),
    ],
    ['pipeline: { size: 8 }', 'cluster.gpus', 64, 'pipeline: { size: 8 }\ncluster: { gpus: 64 }'],
    ['pipeline: { size: 8 }\ncluster:\n', 'cluster.gpus', 64, 'pipeline: { size: 8 }\ncluster: { gpus: 64 }\n'],
    ['pipeline: { size: 8 }\ncluster: {}\n', 'cluster.gpus', 64, 'pipeline: { size: 8 }\ncluster: { gpus: 64 }\n'],
    ['pipeline:\n  size: # none yet\n', 'pipeline.size', 8, 'pipeline:\n  size: 8 # none yet\n'],
    [
      'pipeline:\n  size: 8\nmodel:\n  experts:\n    count: 4 # c\n\nname: x\n',
      'model.layers',
      3,
      'pipeline:\n  size: 8\nmodel:\n  experts:\n    count: 4 # c\n  layers: 3\n\nname: x\n',
    ],
    [
      'pipeline: {\n  size: 8, # ranks\n  microbatches: 4 # few\n}\n',
      'pipeline.groupSize',
      2,
      'pipeline: {\n  size: 8, # ranks\n  microbatches: 4, groupSize: 2 # few\n}\n',
    ],
    [
      'pipeline: {\n  size: 8,\n  microbatches: 4\n}\n',
      'pipeline.groupSize',
      2,
      'pipeline: {\n  size: 8,\n  microbatches: 4,\n  groupSize: 2\n}\n',
    ],
    ['\uFEFFpipeline: { size: 8 }\n', 'name', 'yes', '\uFEFFpipeline: { size: 8 }\nname: "yes"\n'],
    [
      '{ "pipeline": { "size": 8 } }',
      'pipeline.schedule',
      'gpipe',
      '{ "pipeline": { "size": 8, "schedule": "gpipe" } }',
      'a.pipeline.json',
    ],
    [
      '{\n  "pipeline": {\n    "size": 8, // ranks\n  },\n}\n',
      'cluster.gpus',
      64,
      '{\n  "pipeline": {\n    "size": 8, // ranks\n  },\n  "cluster": { "gpus": 64 },\n}\n',
      'a.pipeline.json',
    ],
  ];
  for (const [text, key, value, expected, file] of cases) {
    assert.equal(changed(text, key, value, file), expected, `${key} in ${JSON.stringify(text)}`);
  }
});

test('an empty file gets its first key', () => {
  const file = 'a.pipeline.yaml';
  const plan = nativeReader.read(file, { [file]: 'pipeline: {}' }, {}).plans[0]!;
  const edits = nativeReader.edits({ [file]: '# nothing' }, plan, { key: 'pipeline.size', value: 4 });
  assert.equal(apply('# nothing', edits ?? []), '# nothing\npipeline: { size: 4 }\n');
});

test('what would contradict the change is changed with it', () => {
  const sizes =
    'pipeline: { size: 4, schedule: 1f1b, microbatches: 8 }\nparallel: { tensor: 2, context: 1, data: 4 }\nbatch: { micro: 1, global: 32 }\ncluster: { gpus: 32 }\n';
  const to = (key: string, value: Change['value']) => changed(sizes, key, value);
  assert.equal(
    to('pipeline.microbatches', 16),
    sizes.replace('microbatches: 8', 'microbatches: 16').replace('global: 32', 'global: 64'),
  );
  assert.equal(
    to('batch.global', 64),
    sizes.replace('microbatches: 8', 'microbatches: 16').replace('global: 32', 'global: 64'),
  );
  assert.equal(
    to('batch.micro', 2),
    sizes.replace('microbatches: 8', 'microbatches: 4').replace('micro: 1', 'micro: 2'),
  );
  assert.equal(
    to('pipeline.size', 8),
    sizes.replace('size: 4', 'size: 8').replace('data: 4', 'data: 2').replace('microbatches: 8', 'microbatches: 16'),
  );
  assert.equal(
    to('cluster.gpus', 64),
    sizes.replace('gpus: 32', 'gpus: 64').replace('data: 4', 'data: 8').replace('microbatches: 8', 'microbatches: 4'),
  );
  assert.equal(
    to('parallel.data', 8),
    sizes.replace('gpus: 32', 'gpus: 64').replace('data: 4', 'data: 8').replace('microbatches: 8', 'microbatches: 4'),
  );
  const derived = 'pipeline: { size: 4 }\nparallel: { data: 4 }\nbatch: { micro: 1, global: 32 }\n';
  assert.equal(changed(derived, 'pipeline.microbatches', 16), derived.replace('global: 32', 'global: 64'));
  const schedule = 'pipeline: { size: 4, schedule: interleaved-1f1b, virtualStages: 3, placement: loop }\n';
  assert.equal(
    changed(schedule, 'pipeline.schedule', 'zbv'),
    'pipeline: { size: 4, schedule: zbv, virtualStages: 2, placement: v }\n',
  );
  assert.equal(
    changed('pipeline: { size: 4, schedule: 1f1b }', 'pipeline.virtualStages', 2),
    'pipeline: { size: 4, schedule: interleaved-1f1b, virtualStages: 2 }',
  );
});

test('null for what the file cannot express', () => {
  const listed = 'pipeline: { size: 2, schedule: 1f1b }\nstages: [ { layers: 1 }, { layers: 1 } ]\n';
  assert.equal(changed(listed, 'pipeline.size', 4), null);
  assert.equal(changed(listed, 'pipeline.virtualStages', 2), null);
  assert.equal(changed(listed, 'pipeline.schedule', 'zbv'), null);
  assert.notEqual(changed(listed, 'pipeline.schedule', 'gpipe'), null);
  assert.equal(
    changed('pipeline: { size: 4 }\nparallel: { tensor: 1, context: 1 }\ncluster: { gpus: 32 }\n', 'pipeline.size', 5),
    null,
  );
  assert.equal(changed('pipeline: { size: 4 }\nbatch: 3\n', 'batch.micro', 5), null);
  for (const [key, value] of [
    ['pipeline.size', -1],
    ['pipeline.size', Number.NaN],
    ['pipeline.size', 1e9],
    ['pipeline.size', 2.5],
    ['pipeline.schedule', 'nonsense'],
    ['stages', 4],
    ['nonsense', 4],
    ['stages[].layers', 4],
  ] as const) {
    assert.equal(changed('pipeline: { size: 4 }\n', key, value), null, key);
  }
});

const FOLDER = join(process.cwd(), 'test/fixtures/native');
const TEXTS = readdirSync(FOLDER)
  .filter((name) => !name.endsWith('.golden.txt') && !name.startsWith('marked'))
  .map((name) => ({ name, text: readFileSync(join(FOLDER, name), 'utf8') }));
const VALUE_KEYS = Object.keys(NATIVE_KEYS).filter((key) => {
  if (!isNativeKey(key) || key.includes('[]')) return false;
  return keyRow(key).type !== 'map' && keyRow(key).type !== 'list';
});

function legalValueOf(key: string, seed: number): Change['value'] {
  const row = isNativeKey(key) ? keyRow(key) : null;
  switch (row?.type) {
    case 'integer':
      return Math.min(row.maximum, row.minimum + (seed % 64));
    case 'number':
      return row.minimum + ((seed % 999) + 1) / 8;
    case 'choice':
      return choiceValues(row)[seed % choiceValues(row).length]!;
    case 'boolean':
      return seed % 2 === 0 ? 'true' : 'false';
    default:
      return ['plain', 'two words', 'null', '12', 'a: b # c', 'it\'s "so"', '🫧'][seed % 7]!;
  }
}

function valuesIn(file: string, text: string): ReadonlyMap<string, NativeValue> {
  const { values } = checkTree(nativeTree(file, text).root);
  return new Map([...values].map(([key, token]) => [key, token.value]));
}

/** Keys that one of the two products of sizes or the schedule ties together. */
const TIED = [
  [
    'pipeline.size',
    'parallel.tensor',
    'parallel.context',
    'parallel.data',
    'cluster.gpus',
    'batch.micro',
    'batch.global',
    'pipeline.microbatches',
  ],
  ['pipeline.schedule', 'pipeline.virtualStages', 'pipeline.placement'],
];

test('law: a change comes true, nothing else moves, and nothing new is wrong', () => {
  let written = 0;
  fc.assert(
    fc.property(fc.constantFrom(...TEXTS), fc.constantFrom(...VALUE_KEYS), fc.nat(), ({ name, text }, key, seed) => {
      const before = nativeReader.read(name, { [name]: text }, {});
      const plan = before.plans[0];
      if (plan === undefined) return;
      const value = legalValueOf(key, seed);
      const edits = nativeReader.edits({ [name]: text }, plan, { key, value });
      if (edits === null) return;
      written++;
      const after = apply(text, edits);
      const reading = nativeReader.read(name, { [name]: after }, {});
      const label = `${name} ${key}=${value}\n${after}`;
      assert.ok(reading.problems.length <= before.problems.length, label);
      assert.ok(
        reading.plans[0]!.findings.filter((each) => each.code === 'options-conflict').length <=
          plan.findings.filter((each) => each.code === 'options-conflict').length,
        label,
      );
      const [was, now] = [valuesIn(name, text), valuesIn(name, after)];
      if (now.has(key)) assert.equal(String(now.get(key)), String(value), label);
      else assert.equal(reading.plans[0]!.microbatches.value, value, label);
      const tied = TIED.find((keys) => keys.includes(key)) ?? [key];
      for (const [other, token] of was) if (!tied.includes(other)) assert.equal(now.get(other), token, label);
      for (const other of now.keys()) assert.ok(was.has(other) || other === key || tied.includes(other), label);
      for (const comment of text.match(/(?:#|\/\/).*/g) ?? []) assert.ok(after.includes(comment), label);
    }),
    { numRuns: 3000 },
  );
  assert.ok(written > 1000);
});
