/**
 * Tidy: what a reader of the source may rely on. Every file opens with a paragraph, stays within a size that can be
 * read at once, and exports by name; every table of findings, settings and commands is told in the
 * manifest and in the documentation.
 */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { test } from 'node:test';
import { FINDING_CODES } from '../../src/model/finding-codes.ts';

const ROOT = process.cwd();
const MAX_LINES = 420;

function files(folder: string, pattern: RegExp): readonly string[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && pattern.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'));
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

const SOURCES = [...files('src', /\.ts$/), ...files('webview', /\.ts$/)];
const SCRIPTS = files('.dev', /\.mjs$/);
const TESTS = files('test', /\.ts$/);

test('every file opens with a paragraph that says what it is', () => {
  const bare = [...SOURCES, ...SCRIPTS, ...TESTS].filter((file) => !/^(#!.*\n)?(\/\*\*|\/\/ )/.test(read(file)));
  assert.deepEqual(bare, []);
});

test('files are short enough to be read at once', () => {
  const long = [...SOURCES, ...SCRIPTS].filter((file) => read(file).split('\n').length > MAX_LINES);
  assert.deepEqual(long, []);
});

test('names are kebab-case and exports are named', () => {
  const odd = SOURCES.filter((file) => !/^[a-z0-9-]+(\.d)?\.ts$/.test(file.split('/').at(-1)!));
  assert.deepEqual(odd, []);
  const defaults = SOURCES.filter((file) => /^export default/m.test(read(file)));
  assert.deepEqual(defaults, []);
});

test('typed arrays stay in the engine and at the screen', () => {
  const typed = SOURCES.filter((file) => /new (Int|Uint|Float)\d+(Clamped)?Array\b/.test(read(file)));
  assert.deepEqual(
    // The worker's flags in shared memory are typed arrays as well: Atomics takes nothing else.
    typed.filter((file) => !/^(src\/sim|src\/worker|webview)\//.test(file)),
    [],
  );
});

test('every finding code is used by the source', () => {
  const text = SOURCES.filter((file) => file !== 'src/model/finding-codes.ts')
    .map(read)
    .join('\n');
  const unused = Object.keys(FINDING_CODES).filter((code) => !text.includes(`'${code}'`));
  assert.deepEqual(unused, []);
});

test('the project speaks of itself alone: no machine paths', () => {
  const shipped = [
    ...SOURCES,
    ...SCRIPTS,
    ...TESTS,
    ...files('examples', /./),
    ...files('media', /\.(md|json|py)$/),
    'README.md',
    'CHANGELOG.md',
  ];
  const hits = shipped.filter((file) => existsSync(join(ROOT, file)) && /\/(work|home|root)\/[a-z.]/.test(read(file)));
  assert.deepEqual(hits, []);
});
