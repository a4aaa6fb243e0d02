/** The TOML front end: exact ranges, what is kept of a broken text, limits. */

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { unknown } from '../../src/model/source.ts';
import { loadParsers } from '../../src/readers/parsers.ts';
import { readToml } from '../../src/readers/toml/read.ts';
import { nodeAt, type TreeNode } from '../../src/readers/tree.ts';
import { numberAt, WHOLE } from '../../src/readers/values.ts';

before(() => loadParsers(['toml']));

function slice(text: string, range: { offset: number; length: number }): string {
  return text.slice(range.offset, range.offset + range.length);
}

/** All values as `path=text`, in file order. */
function flat(node: TreeNode, path = ''): readonly string[] {
  if (node.kind === 'scalar') return [`${path}=${node.text}`];
  if (node.kind === 'map') {
    return [...node.entries.values()].flatMap((e) => flat(e.value, path === '' ? e.key : `${path}.${e.key}`));
  }
  return node.kind === 'list' ? node.items.flatMap((item, i) => flat(item, `${path}[${i}]`)) : [];
}

function read(text: string) {
  const { root, problems } = readToml('a.toml', text);
  return {
    values: flat(root),
    problems: problems.map((p) => `${p.code}/${p.severity} ${JSON.stringify(slice(text, p.range))} ${p.message}`),
  };
}

for (const [name, before, newline] of [
  ['LF', '', '\n'],
  ['CRLF', '', '\r\n'],
  ['BOM and CRLF', '\uFEFF', '\r\n'],
  ['a surrogate pair before', '# \u{1F680}\n', '\n'],
] as const) {
  test(`values have exact ranges with ${name}`, () => {
    const lines = ['top = 1', '[parallelism]', 'pp = 8\t# stages', "name = '1F1B'", '[a.b]', 'x.y = [1, 2]', '[a]'];
    const text = before + [...lines, 'z = { k = true }', '[[d]]', 'q = 1', '[[d]]', 'q = 2'].join(newline);
    const { root, problems } = readToml('a.toml', text);
    assert.deepEqual(problems, []);
    assert.deepEqual(flat(root), [
      'top=1',
      'parallelism.pp=8',
      "parallelism.name='1F1B'",
      'a.b.x.y[0]=1',
      'a.b.x.y[1]=2',
      'a.z.k=true',
      'd[0].q=1',
      'd[1].q=2',
    ]);
    const pp = nodeAt(root, 'parallelism.pp');
    assert.ok(pp.kind === 'scalar');
    assert.equal(slice(text, pp.range), '8');
    const missing = nodeAt(root, 'parallelism.tp');
    assert.ok(missing.kind === 'missing' && slice(text, missing.range!) === 'parallelism');
  });
}

test('a half-typed statement costs only itself', () => {
  assert.deepEqual(read('[p]\na = 1\nb = \nc = 2\n'), {
    values: ['p.a=1', 'p.c=2'],
    problems: ['syntax-error/error "b =" TOML: a value is missing after ='],
  });
  assert.deepEqual(read('a = 1\nb\nc = 2'), {
    values: ['a=1', 'c=2'],
    problems: ['syntax-error/error "b" TOML: this is not complete'],
  });
  assert.deepEqual(read('a = 1\nb = "x\nc = 2').values, ['a=1', 'c=2']);
  assert.deepEqual(read('a = [1,\n2\nb = 3\nc = 4').values, ['b=3', 'c=4']);
  assert.deepEqual(read('a = [\n1,\nx,\n3]\nb = 3').values, ['a[0]=1', 'a[1]=3', 'b=3']);
  assert.deepEqual(read('a = """x\nb = 2\n[c]\nd = 1').values, ['b=2', 'c.d=1']);
  assert.deepEqual(read('a = 1 b = 2\nc = 3').values, ['c=3']);
  assert.deepEqual(read('a = 1\nb = 8x\n[c]\nd = ,\ne = 2'), {
    values: ['a=1', 'c.e=2'],
    problems: ['syntax-error/error "x" TOML: Must be a newline', 'syntax-error/error "," TOML: Unexpected token'],
  });
});

test('a broken header takes its section with it', () => {
  assert.deepEqual(read('[a]\nx = 1\n[b\nx = 2\ny = 3\n[c]\nz = 4'), {
    values: ['a.x=1', 'c.z=4'],
    problems: ['syntax-error/error "[b" TOML: this is not complete'],
  });
});

test('a key given twice is an error with the first place beside it', () => {
  const text = '[a]\nx = 1\nx = 2\n[b]\nx = 3\n[a]\ny = 4\n';
  const { problems } = readToml('a.toml', text);
  assert.deepEqual(read(text), {
    values: ['a.x=1', 'b.x=3'],
    problems: [
      'duplicate-key/error "x" "x" is given twice, which TOML refuses',
      'duplicate-key/error "a" "a" is given twice, which TOML refuses',
    ],
  });
  assert.deepEqual(
    problems.map((p) => p.related.map((r) => r.range.offset)),
    [[4], [1]],
  );
});

test('prototype keys are keys like any other', () => {
  const { root, problems } = readToml('a.toml', '[__proto__]\npp = 4\n[constructor]\npp = 5\n');
  assert.deepEqual(problems, []);
  assert.equal(numberAt(root, '__proto__.pp', WHOLE, unknown('x'), []).value, 4);
  assert.equal(numberAt(root, 'constructor.pp', WHOLE, unknown('x'), []).value, 5);
  assert.ok(!('pp' in {}));
});

test('hostile texts end soon with a bounded number of clear problems', () => {
  const texts: Readonly<Record<string, string>> = {
    'deep array': `a = ${'['.repeat(20_000)}${']'.repeat(20_000)}`,
    'open arrays': `a = ${'['.repeat(250_000)}`,
    'deep enough': `a = ${'['.repeat(100)}${']'.repeat(100)}`,
    'deep key': `${'a.'.repeat(5_000)}b = 1`,
    large: 'a = 8\n'.repeat(4_000_000),
    binary: 'a = 8\n\0',
    garbage: 'x y z {\n'.repeat(10_000),
    'open strings': 'a = "\n'.repeat(10_000),
    'long quotes': `a = """${'\n"""'.repeat(10_001)}`,
    headers: '[a\n'.repeat(10_000),
  };
  for (const [name, text] of Object.entries(texts)) {
    const started = performance.now();
    const { problems } = readToml('a.toml', text);
    assert.ok(performance.now() - started < 5000, `${name} took ${performance.now() - started} ms`);
    assert.ok(problems.length >= 1 && problems.length <= 25, `${name}: ${problems.length} problems`);
    assert.ok(problems.every((p) => p.message.length < 120 && !p.message.includes('\n')));
  }
});
