/** Laws over broken native files: however a file is cut, spliced or mutated, reading gives an answer inside the text. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import fc from 'fast-check';
import type { Reading } from '../../src/model/reading.ts';
import type { Source, TextRange } from '../../src/model/source.ts';
import { nativeReader } from '../../src/readers/native.ts';
import { loadParsers } from '../../src/readers/parsers.ts';

before(() => loadParsers(['yaml', 'jsonc']));

const FOLDER = join(process.cwd(), 'test/fixtures/native');
const TEXTS = readdirSync(FOLDER)
  .filter((name) => !name.endsWith('.golden.txt'))
  .map((name) => readFileSync(join(FOLDER, name), 'utf8'));
const JUNK = [
  '\0',
  '\uFEFF',
  '\r\n',
  '\t',
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  '"',
  "'",
  '#',
  '&a',
  '*a',
  '<<: *a',
  '- ',
  '|',
  '\ud83e',
  '1e999',
  '-',
  '.nan',
  '__proto__',
  '? ',
];

/** Every range and number in a reading. */
function parts(value: unknown, ranges: TextRange[], numbers: number[]): void {
  if (typeof value === 'number') numbers.push(value);
  if (value === null || typeof value !== 'object') return;
  if ('file' in value && 'offset' in value && 'length' in value) ranges.push(value as TextRange);
  for (const child of Object.values(value)) parts(child, ranges, numbers);
}

function check(file: string, text: string): Reading {
  const reading = nativeReader.read(file, { [file]: text }, {});
  const ranges: TextRange[] = [];
  const numbers: number[] = [];
  parts(reading, ranges, numbers);
  for (const range of ranges) {
    assert.equal(range.file, file);
    assert.ok(
      range.offset >= 0 && range.length >= 0 && range.offset + range.length <= text.length,
      JSON.stringify(range),
    );
  }
  for (const number of numbers) assert.ok(Number.isFinite(number) && number >= 0, String(number));
  for (const plan of reading.plans) {
    for (const [name, value] of Object.entries(plan)) {
      if (value === null || typeof value !== 'object' || !('source' in value)) continue;
      const { value: known, source } = value as { value: unknown; source: Source };
      assert.equal(known === null, source.kind === 'unknown', name);
    }
  }
  assert.ok(reading.problems.length <= 45);
  return reading;
}

const file = fc.constantFrom('a.pipeline.yaml', 'a.pipeline.json');
const text = fc.constantFrom(...TEXTS);

test('law: cut anywhere', () => {
  for (const whole of TEXTS) {
    for (let cut = 0; cut <= whole.length; cut += 7) check('a.pipeline.yaml', whole.slice(0, cut));
    for (let cut = 0; cut <= whole.length; cut += 7) check('a.pipeline.json', whole.slice(0, cut));
  }
});

test('law: spliced with another file and with junk', () => {
  fc.assert(
    fc.property(file, text, text, fc.nat(), fc.nat(), fc.constantFrom(...JUNK), (path, a, b, i, j, junk) => {
      check(path, a.slice(0, i % (a.length + 1)) + junk + b.slice(j % (b.length + 1)));
    }),
    { numRuns: 1500 },
  );
});

test('law: any text at all', () => {
  fc.assert(
    fc.property(file, fc.string({ unit: 'binary', maxLength: 60 }), (path, any) => void check(path, any)),
    { numRuns: 500 },
  );
});

test('law: one token mutated', () => {
  const tokens = [
    '-1',
    '0',
    '1e9',
    '1e308',
    '.inf',
    '-.inf',
    '.nan',
    'null',
    'true',
    '""',
    '[]',
    '{}',
    '2.5',
    '9007199254740993',
    '4097',
    '"8"',
    'x',
  ];
  fc.assert(
    fc.property(text, fc.nat(), fc.constantFrom(...tokens), (whole, at, token) => {
      const numbers = [...whole.matchAll(/\b\d[\d.]*\b/g)];
      const chosen = numbers[at % Math.max(1, numbers.length)];
      if (chosen === undefined) return;
      const mutated = whole.slice(0, chosen.index) + token + whole.slice(chosen.index + chosen[0].length);
      for (const path of ['a.pipeline.yaml', 'a.pipeline.json']) check(path, mutated);
    }),
    { numRuns: 1500 },
  );
});
