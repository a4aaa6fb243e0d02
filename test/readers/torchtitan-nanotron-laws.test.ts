/** Laws of the torchtitan and nanotron readers: however a config is cut and spliced, reading it stays calm. */

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import fc from 'fast-check';
import type { Reader, Reading } from '../../src/model/reading.ts';
import type { TextRange } from '../../src/model/source.ts';
import { nanotronReader } from '../../src/readers/nanotron.ts';
import { loadParsers } from '../../src/readers/parsers.ts';
import { torchtitanReader } from '../../src/readers/torchtitan.ts';
import { fixtureNames, fixtureText } from './golden-readings.ts';

before(() => loadParsers(['yaml', 'toml']));

const CHANGES = ['pipeline.size', 'pipeline.microbatches', 'batch.micro', 'batch.global', 'pipeline.virtualStages'];
const SPLICES = [
  '',
  '\0',
  '\r\n',
  '\t',
  '[',
  ']',
  '{',
  '}',
  '"',
  "'",
  '"""',
  '&a *a',
  '<<: *a',
  '-1',
  '1e9',
  'nan',
  '=',
  ':',
  '#',
  '\u{1F680}',
  '__proto__',
];

function texts(folder: string): fc.Arbitrary<string> {
  const fixtures = fc.constantFrom(...fixtureNames(folder).map((name) => fixtureText(folder, name)));
  const at = fc.double({ min: 0, max: 1, noNaN: true });
  const splice = fc.oneof(fc.constantFrom(...SPLICES), fc.string({ unit: 'binary', maxLength: 8 }));
  const other = fc.tuple(fixtures, at, at).map(([text, from, to]) => text.slice(text.length * from, text.length * to));
  return fc
    .tuple(fixtures, fc.array(fc.tuple(at, at, fc.oneof(splice, other)), { minLength: 1, maxLength: 4 }))
    .map(([text, cuts]) =>
      cuts.reduce((all, [start, length, added]) => {
        const from = Math.floor(all.length * start);
        return all.slice(0, from) + added + all.slice(from + Math.floor(length * length * 60));
      }, text),
    );
}

/** Every range in a value, however deep. */
function rangesIn(value: unknown): readonly TextRange[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = 'offset' in value && 'length' in value && 'file' in value ? [value as TextRange] : [];
  return [...own, ...Object.values(value).flatMap(rangesIn)];
}

function calm(reader: Reader, file: string, text: string): void {
  const started = performance.now();
  reader.claims(file, text);
  const reading: Reading = reader.read(file, { [file]: text }, {});
  for (const { offset, length } of rangesIn(reading)) {
    assert.ok(Number.isInteger(offset) && Number.isInteger(length), `${offset} ${length}`);
    assert.ok(offset >= 0 && length >= 0 && offset + length <= text.length, `${offset} + ${length} of ${text.length}`);
  }
  for (const plan of reading.plans) {
    for (const value of [plan.pp.value, plan.vpp.value, plan.microbatches.value, plan.dp.value, plan.gpus.value]) {
      assert.ok(value === null || (Number.isSafeInteger(value) && value >= 1), `${value}`);
    }
    const layers = plan.stages.value?.reduce((sum, stage) => sum + stage.layers, 0);
    assert.ok(layers === undefined || layers === plan.model.layers.value, `${layers} of ${plan.model.layers.value}`);
    for (const key of CHANGES) reader.edits({ [file]: text }, plan, { key, value: 16 });
  }
  assert.ok(performance.now() - started < 3000, `${performance.now() - started} ms`);
}

test('torchtitan: nothing throws, ranges lie in the file, values are sound', () => {
  fc.assert(
    fc.property(texts('torchtitan'), (text) => calm(torchtitanReader, 'a.toml', text)),
    { numRuns: 400 },
  );
});

test('nanotron: nothing throws, ranges lie in the file, values are sound', () => {
  fc.assert(
    fc.property(texts('nanotron'), (text) => calm(nanotronReader, 'a.yaml', text)),
    { numRuns: 400 },
  );
});

test('a prefix of any length reads as calmly', () => {
  for (const [reader, folder, file] of [
    [torchtitanReader, 'torchtitan', 'a.toml'],
    [nanotronReader, 'nanotron', 'a.yaml'],
  ] as const) {
    const text = fixtureText(folder, fixtureNames(folder)[0]!);
    for (let end = 0; end <= text.length; end++) calm(reader, file, text.slice(0, end));
  }
});

test('an edit that is offered reads back as the value asked for', () => {
  for (const [reader, folder, file] of [
    [torchtitanReader, 'torchtitan', 'a.toml'],
    [nanotronReader, 'nanotron', 'a.yaml'],
  ] as const) {
    for (const name of fixtureNames(folder)) {
      const text = fixtureText(folder, name);
      const plan = reader.read(file, { [file]: text }, {}).plans[0]!;
      const edits = reader.edits({ [file]: text }, plan, { key: 'pipeline.size', value: 2 });
      if (edits === null) continue;
      assert.equal(edits.length, 1);
      const { offset, length, text: added } = edits[0]!;
      const after = text.slice(0, offset) + added + text.slice(offset + length);
      assert.equal(reader.read(file, { [file]: after }, {}).plans[0]!.pp.value, 2, name);
    }
  }
});
