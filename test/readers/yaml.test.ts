/** The YAML front end: exact ranges, tolerance, limits. */

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Finding } from '../../src/model/finding.ts';
import { unknown } from '../../src/model/source.ts';
import { loadParsers } from '../../src/readers/parsers.ts';
import { entryAt, nodeAt, type TreeNode } from '../../src/readers/tree.ts';
import { choiceAt, numberAt, parseNumber, WHOLE } from '../../src/readers/values.ts';
import { readYaml } from '../../src/readers/yaml/read.ts';

before(() => loadParsers(['yaml']));

const ABSENT = unknown('nothing said');

/** Every scalar's and key's range must spell its own text. */
function checkRanges(text: string, node: TreeNode): number {
  if (node.kind === 'missing') return 0;
  assert.ok(node.range.offset >= 0 && node.range.offset + node.range.length <= text.length);
  if (node.kind === 'scalar') return 1;
  const children = node.kind === 'list' ? node.items : [...node.entries.values()].map((entry) => entry.value);
  if (node.kind === 'map') {
    for (const { key, keyRange } of node.entries.values()) {
      const spelt = text.slice(keyRange.offset, keyRange.offset + keyRange.length);
      assert.ok(spelt === key || spelt === `"${key}"` || spelt === `'${key}'`, `${spelt} spells ${key}`);
    }
  }
  return children.reduce((sum, child) => sum + checkRanges(text, child), 0);
}

function slice(text: string, range: { offset: number; length: number }): string {
  return text.slice(range.offset, range.offset + range.length);
}

for (const [name, before, newline] of [
  ['LF', '', '\n'],
  ['CRLF', '', '\r\n'],
  ['BOM', '\uFEFF', '\n'],
  ['BOM and CRLF', '\uFEFF', '\r\n'],
  ['a surrogate pair before', '# \u{1F680} run\n', '\n'],
] as const) {
  test(`values have exact ranges with ${name}`, () => {
    const text =
      before +
      ['parallelism:', '  pp: 8  # stages', '  engine: "1f1b"', 'flow: { a: 1, b: [2, 3] }', 'last: 4'].join(newline);
    const { root, problems } = readYaml('a.yaml', text);
    assert.deepEqual(problems, []);
    const pp = nodeAt(root, 'parallelism.pp');
    assert.ok(pp.kind === 'scalar' && pp.value === 8);
    assert.equal(slice(text, pp.range), '8');
    const engine = nodeAt(root, 'parallelism.engine');
    assert.ok(engine.kind === 'scalar' && engine.value === '1f1b' && engine.quoted);
    assert.equal(slice(text, engine.range), '"1f1b"');
    assert.equal(slice(text, entryAt(root, 'flow.b')!.keyRange), 'b');
    assert.equal(checkRanges(text, root), 6);
  });
}

test('a missing path points at the nearest container', () => {
  const text = 'parallelism:\n  pp: 8\n';
  const { root } = readYaml('a.yaml', text);
  const node = nodeAt(root, 'parallelism.tp');
  assert.ok(node.kind === 'missing' && node.range !== null);
  assert.equal(slice(text, node.range), 'parallelism');
  assert.deepEqual(nodeAt(root, 'tokens.micro'), { kind: 'missing', range: null });
});

test('a key given twice is told and the last one counts', () => {
  const text = 'a: 1\nb: 2\na: 3\n';
  const { root, problems } = readYaml('a.yaml', text);
  assert.deepEqual(
    problems.map((p) => [p.code, p.range.offset, p.related[0]?.range.offset]),
    [['duplicate-key', 10, 0]],
  );
  assert.equal(numberAt(root, 'a', WHOLE, ABSENT, []).value, 3);
});

test('what could be read of a broken text is kept', () => {
  const text = 'parallelism:\n  pp: 8\n  tp: [1, 2\ntokens:\n  micro: 4\n';
  const { root, problems } = readYaml('a.yaml', text);
  assert.ok(problems.length > 0 && problems.every((p) => p.code === 'syntax-error'));
  assert.equal(numberAt(root, 'parallelism.pp', WHOLE, ABSENT, []).value, 8);
});

test('prototype keys are keys like any other', () => {
  const { root } = readYaml('a.yaml', '__proto__: { pp: 4 }\nconstructor: 5\ntoString: 6\n');
  assert.equal(numberAt(root, '__proto__.pp', WHOLE, ABSENT, []).value, 4);
  assert.equal(numberAt(root, 'constructor', WHOLE, ABSENT, []).value, 5);
  assert.equal(nodeAt(root, 'valueOf').kind, 'missing');
  assert.ok(!('pp' in {}));
});

test('merge keys and aliases resolve; an alias keeps its own place', () => {
  const text = 'base: &b { pp: 8, tp: 2 }\nn: &n 4\nrun:\n  <<: *b\n  tp: 1\n  dp: *n\n';
  const { root, problems } = readYaml('a.yaml', text);
  assert.deepEqual(problems, []);
  assert.equal(numberAt(root, 'run.pp', WHOLE, ABSENT, []).value, 8);
  assert.equal(numberAt(root, 'run.tp', WHOLE, ABSENT, []).value, 1);
  const dp = nodeAt(root, 'run.dp');
  assert.ok(dp.kind === 'scalar' && dp.value === 4);
  assert.equal(slice(text, dp.range), '*n');
});

test('hostile texts end soon with one clear problem', () => {
  const bomb = ['a0: &a0 [1,2,3,4,5,6,7,8,9]']
    .concat(Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(',')}]`))
    .join('\n');
  const merges = Array.from({ length: 300 }, (_, i) => `k${i}: 1`).join(', ');
  const texts: Readonly<Record<string, string>> = {
    bomb,
    'merge bomb': `m: &m { ${merges} }\n${Array.from({ length: 300 }, (_, i) => `n${i}: { <<: *m }`).join('\n')}`,
    cycle: 'a: &a\n  b: *a\n',
    'merge cycle': 'a: &a\n  <<: *a\n  pp: 8\n',
    'deep flow': '['.repeat(250_000),
    'deep braces': `pp: ${'{a: '.repeat(50_000)}`,
    'deep list': '- '.repeat(20_000),
    'deep block': Array.from({ length: 300 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
    large: 'pp: 8\n'.repeat(4_000_000),
    binary: 'pp: 8\n\0\0\u0001',
  };
  for (const [name, text] of Object.entries(texts)) {
    const started = performance.now();
    const { problems } = readYaml('a.yaml', text);
    assert.ok(performance.now() - started < 5000, `${name} took ${performance.now() - started} ms`);
    assert.ok(problems.length === 1, `${name}: ${problems.length} problems`);
    assert.ok(problems.every((p) => p.code === 'syntax-error' && !p.message.includes('\n')));
  }
  const merged = readYaml('a.yaml', texts['merge cycle']!);
  assert.equal(numberAt(merged.root, 'a.pp', WHOLE, ABSENT, []).value, 8);
});

test('values that are no whole numbers are refused by name', () => {
  const text = 'a: -1\nb: 2.5\nc: .nan\nd: "8"\ne: eight\nf: [8]\ng: 1_000\nh: null\ni: 99999999999999999999\nj: yes\n';
  const { root } = readYaml('a.yaml', text);
  const problems: Finding[] = [];
  const values = [...'abcdefghij'].map((key) => numberAt(root, key, WHOLE, ABSENT, problems).value);
  assert.deepEqual(values, [null, null, null, null, null, null, 1000, null, null, null]);
  assert.deepEqual(
    problems.map((p) => [p.code, slice(text, p.range)]),
    ['-1', '2.5', '.nan', '"8"', 'eight', '[8]', '99999999999999999999', 'yes'].map((t) => ['invalid-value', t]),
  );
  assert.equal(problems[3]!.message, 'd takes a whole number from 1, not "8"');
  assert.equal(choiceAt(root, 'e', ['eight', 'nine'], ABSENT, problems).value, 'eight');
});

test('numbers are read as Python writes them', () => {
  assert.deepEqual(['1_000', '1e3', '.5', '-4', '+2', '0x10', '1.2.3', '', 'nan', '8 '].map(parseNumber), [
    1000,
    1000,
    0.5,
    -4,
    2,
    null,
    null,
    null,
    null,
    null,
  ]);
});
