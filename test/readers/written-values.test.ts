/**
 * What is written and cannot be read is unknown in every reader: never the framework's default, and never a number
 * derived from the others. Each size that a fixture gives by a number in its text is written wrongly, in several ways,
 * and read again.
 */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { before, describe, it } from 'node:test';
import type { Plan } from '../../src/model/plan.ts';
import type { Reader, Texts } from '../../src/model/reading.ts';
import type { TextRange } from '../../src/model/source.ts';
import { loadParsers } from '../../src/readers/parsers.ts';
import { READERS } from '../../src/readers/table.ts';

const ROOT = join(process.cwd(), 'test/fixtures');
const KEYS = ['pp', 'vpp', 'tp', 'cp', 'ep', 'microbatches', 'microBatchSize', 'globalBatchSize'] as const;
/** Not one of them is a whole number from 1 in any of the formats. */
const WRONG = ['x', '-7', '1.5', '8x', '[4]', '"x"'];
/** Keys without a value; the native format's are absent by its own definition, but for the pipeline size. */
const EMPTY = '';

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}

interface Written {
  readonly reader: Reader;
  readonly file: string;
  readonly texts: Texts;
  readonly plan: Plan;
  readonly key: (typeof KEYS)[number];
  readonly range: TextRange;
}

/** Every size of a plan that a fixture gives by a plain number in its text; a folder of its own holds companions. */
function writtenIn(folder: string, file: string, files: readonly string[]): readonly Written[] {
  const text = readFileSync(join(folder, file), 'utf8');
  const reader = READERS.find((each) => each.claims(file, text));
  if (reader === undefined) return [];
  const beside = files.filter((each) => file.includes('/') && dirname(each) === dirname(file));
  const others = beside.map((each) => [each, readFileSync(join(folder, each), 'utf8')]);
  const texts = { ...Object.fromEntries(others), [file]: text };
  return reader.read(file, texts, {}).plans.flatMap((plan) =>
    KEYS.flatMap((key): readonly Written[] => {
      const { source } = plan[key];
      if (source.kind !== 'text' || source.range.file !== file) return [];
      const { range } = source;
      const token = text.slice(range.offset, range.offset + range.length);
      return /^\d+$/.test(token) ? [{ reader, file, texts, plan, key, range }] : [];
    }),
  );
}

function readWith({ reader, file, texts, plan, key, range }: Written, wrong: string): Plan['pp'] | null {
  const text = texts[file]!;
  const changed = text.slice(0, range.offset) + wrong + text.slice(range.offset + range.length);
  const after = reader.read(file, { ...texts, [file]: changed }, {}).plans.find((each) => each.id === plan.id);
  return after === undefined ? null : after[key];
}

/** `int(…)` of the file itself turns 1.5 into 1, and in AReaL's `d4p8t2` any letter starts the next size. */
function isLegal({ reader, texts, file, range }: Written, wrong: string): boolean {
  const line = texts[file]!.slice(texts[file]!.lastIndexOf('\n', range.offset) + 1, range.offset);
  return (wrong === '1.5' && /\bint\(/.test(line)) || (reader.id === 'areal' && wrong === 'x');
}

/** A fixture that gives the key twice still has the other one. */
function isGivenTwice({ file, texts, range }: Written): boolean {
  const text = texts[file]!;
  const key = /([\w-]+)["']?\s*[=:]\s*["']?$/.exec(text.slice(Math.max(0, range.offset - 80), range.offset))?.[1];
  return key !== undefined && text.split(new RegExp(`\\b${key}\\b`)).length > 2;
}

const folders = readdirSync(ROOT).filter((name) => statSync(join(ROOT, name)).isDirectory());

describe('what is written wrongly', () => {
  const covered = new Set<string>();
  before(() => loadParsers(['yaml', 'jsonc', 'toml', 'python']));

  for (const name of folders) {
    it(`is unknown in ${name}`, () => {
      const folder = join(ROOT, name);
      const files = filesBelow(folder)
        .map((path) => relative(folder, path).replaceAll('\\', '/'))
        .filter((file) => !/\.golden\.|\.md$/.test(file));
      for (const written of files.flatMap((file) => writtenIn(folder, file, files))) {
        const { reader, file, key } = written;
        covered.add(reader.id);
        for (const wrong of WRONG) {
          const value = readWith(written, wrong);
          if (value === null || isLegal(written, wrong)) continue;
          const number = isGivenTwice(written) && value.source.kind === 'text' ? null : value.value;
          assert.equal(number, null, `${file}: ${key} written as ${wrong} is ${JSON.stringify(value)}`);
        }
        const empty = readWith(written, EMPTY);
        if (empty === null || empty.source.kind === 'text') continue;
        if (reader.id === 'native' && key !== 'pp') continue;
        assert.equal(empty.value, null, `${file}: ${key} without a value is ${JSON.stringify(empty)}`);
      }
    });
  }

  it('covers every reader', () => {
    const missing = READERS.map((reader) => reader.id).filter((id) => !covered.has(id));
    assert.deepEqual(missing, []);
  });
});
