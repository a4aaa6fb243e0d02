/** The Python front end: what expressions and statements come to, read and never run. */

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { loadParsers } from '../../src/readers/parsers.ts';
import { type Program, readProgram } from '../../src/readers/python/program.ts';
import { clearPythonTrees, parsePython } from '../../src/readers/python/syntax.ts';
import { type PyValue, partAt } from '../../src/readers/python/value.ts';

before(() => loadParsers(['python']));

function program(text: string): Program {
  const read = readProgram('a.py', text);
  assert.ok(read !== null);
  return read;
}

/** A value as short text: `8`, `"x"`, `[1, 2]`, `?args.pp`, `Call(a=1)`. */
function shown(value: PyValue | undefined): string {
  if (value === undefined) return 'nothing';
  if (value.kind === 'scalar') return JSON.stringify(value.value);
  if (value.kind === 'list') return `[${value.items.map(shown).join(', ')}]`;
  if (value.kind !== 'object') return value.name;
  if (value.shape === 'name' || (value.callee === '' && value.shape === 'call')) return `?${value.missing}`;
  const parts = [
    ...value.positional.map(shown),
    ...[...value.fields].map(([key, { value: of }]) => `${key}=${shown(of)}`),
  ];
  return `${value.callee}(${parts.join(', ')})`;
}

function x(text: string): string {
  return shown(program(text).globals.get('x'));
}

const VALUES: Readonly<Record<string, string>> = {
  'x = 1_000': '1000',
  'x = 0x10 + 2 ** 3 // 3': '18',
  'x = -7 // 2, 7 % -4': '[-4, -1]',
  'x = 8 * 2048': '16384',
  'x = \'a\' "b"': '"ab"',
  'x = r"""a\nb"""': '"a\\nb"',
  'x = f"{y}"': '?f"{y}"',
  'x = 1 / 0': '?1 / 0',
  'x = 9 ** 99': '?9 ** 99',
  'x = y.z.w * 2': '?y.z.w',
  'x = None if 1 > 2 else "b"': '"b"',
  'x = 1 if unknown else 2': '?which depends on unknown',
  'x = not None and 3': '3',
  'x = not (None and 3)': 'true',
  'x = not 1 and 2 or 3': '3',
  'x = [1] * 3 + [2]': '[1, 1, 1, 2]',
  'x = [[n, 0] for n in range(3)]': '[[0, 0], [1, 0], [2, 0]]',
  'x = {"a": 1, **{"b": 2}}["b"]': '2',
  'x = {(1, 2): "p"}[(1, 2)]': '"p"',
  'x = len([1, 2]) + max(3, 4) + int("5")': '11',
  'x = "|".join(["E", "t", "L"])': '"E|t|L"',
  'x = run.Config(llm.Model, 1, a=2)': 'llm.Model(1, a=2)',
  'x = Trainer.Config(a=B(c=1)).merge(overrides)': 'Trainer.Config(a=B(c=1))',
  'a = b = 4\nx = a + b': '8',
  'a, (b, c) = 1, 2\nx = a': '1',
  'x = 1\nx += 4': '5',
  'x: int = 4': '4',
  'x = os.environ.get("PP", 4)': '4',
  'x = os.environ.get("PP")': '?PP, which only the environment knows',
  'x = 1\nif unknown:\n    x = 2': '?x, which depends on unknown',
  'x = 1\nif unknown:\n    x = 1': '1',
  'if True:\n    x = 1\nelse:\n    x = 2': '1',
  'if a:\n    x = 1\nelif False:\n    x = 2\nelse:\n    x = 1': '?x, which depends on a',
  'for x in y:\n    x = 2': '?x, which depends on the loop "for x in y"',
  'try:\n    x = load()\nexcept E:\n    x = 2': '?x, which depends on whether an exception is raised',
  'def f(a):\n    if a > 1:\n        raise E\n    return a\ntry:\n    x = f(2)\nexcept E:\n    x = 3': '3',
  'with open(p) as f:\n    x = 4': '4',
  'def f(a, b=2, *c, d=4, **e):\n    return [a, b, d]\nx = f(1, d=5)': '[1, 2, 5]',
  'def f(**kw):\n    return g(**kw)\nx = f(a=1)': 'g(a=1)',
  'def f():\n    return f()\nx = f()': '?f()',
  'def f(a):\n    if a:\n        return 1\n    return 2\nx = f(y)': '?what f() returns, which depends on its branches',
  'class A:\n    p: int = 4\n    def q(self):\n        return self.p\nx = A().q()': '4',
  'class A:\n    p = 4\nclass B(A):\n    q = 5\nx = B(p=6)': 'B(p=6, q=5)',
  'import copy\na = C(b=1)\nx = copy.deepcopy(a)\na.b = 2': 'C(b=1)',
  'a = C()\nb = a\nb.c.d = 4\nx = a.c.d': '4',
  'a = {}\na["k"] = 4\nx = a["k"]': '4',
  'x = 4; x = 5': '5',
  'x = (': '[]',
  'def f(:\n  x = 4\nx = 5': '5',
};

describe('what Python comes to', () => {
  for (const [text, expected] of Object.entries(VALUES)) {
    it(JSON.stringify(text), () => assert.equal(x(text), expected));
  }

  it('reads the defaults of a command line, and decides nothing by them', () => {
    const text = `
parser = argparse.ArgumentParser()
parser.add_argument('-p', '--pipeline-size', dest='pp', type=int, default=4)
parser.add_argument('--plain', action='store_true')
args = parser.parse_args()
x = 1
if args.pp > 2:
    x = 2
`;
    assert.equal(x(text), '?x, which depends on args.pp > 2');
    const args = program(text).globals.get('args');
    assert.equal(shown(partAt(args, 'pp')), '4');
    const pp = partAt(args, 'pp');
    assert.ok(pp?.kind === 'scalar' && pp.source?.kind === 'text');
    assert.equal(text.slice(pp.source.range.offset, pp.source.range.offset + pp.source.range.length), '4');
    assert.match(pp.source.note ?? '', /--pipeline-size; the command line/);
  });

  it('counts in UTF-16 code units', () => {
    const text = '\uFEFFname = "\u{1F680}\u00E9"  # \u{1F680}\nx = 42\n';
    const value = program(text).globals.get('x');
    assert.ok(value?.kind === 'scalar');
    assert.equal(text.slice(value.range.offset, value.range.offset + value.range.length), '42');
  });
});

const BOMBS: Readonly<Record<string, string>> = {
  'deep parentheses': `x = ${'('.repeat(30_000)}1${')'.repeat(30_000)}`,
  'deep lists': `x = ${'['.repeat(30_000)}`,
  'a long sum': `x = ${'1+'.repeat(50_000)}1`,
  'a long negation': `x = not ${'a and '.repeat(50_000)}a`,
  'a long chain': `x${'.a'.repeat(50_000)} = 1`,
  'a tower of calls': `${Array.from({ length: 60 }, (_, i) => `def f${i}():\n    return [f${i + 1}(), f${i + 1}()]`).join('\n')}\nx = f0()`,
  'doubling lists': `a = [1]\n${'a = a + a\n'.repeat(60)}x = a`,
  'doubling texts': `a = "ab"\n${'a = a + a\n'.repeat(60)}x = a`,
  'repeated lists': `x = [0] * 10 ** 9`,
  'a wide range': `x = list(range(10 ** 9))`,
  'many copies': `a = C(${Array.from({ length: 500 }, (_, i) => `k${i}=${i}`).join(', ')})\n${'a.n = copy.deepcopy(a)\n'.repeat(200)}`,
  'itself in itself': `a = C()\na.b = a\nx = a`,
  'nested blocks': Array.from({ length: 900 }, (_, i) => `${' '.repeat(i)}if y${i}:\n`).join(''),
  'a file of functions': Array.from({ length: 3000 }, (_, i) => `def f${i}(a=${i}):\n    return f${i + 1}(a)\n`).join(
    '',
  ),
};

describe('hostile Python', () => {
  for (const [name, text] of Object.entries(BOMBS)) {
    it(`ends soon: ${name}`, () => {
      clearPythonTrees();
      const started = performance.now();
      const read = program(text);
      for (const fn of read.functions.slice(0, 400)) read.run(fn);
      assert.ok(performance.now() - started < 4000, `${performance.now() - started} ms`);
    });
  }

  it('does not read what is binary or too large', () => {
    assert.equal(readProgram('a.py', 'x = 1\0'), null);
    assert.equal(readProgram('a.py', `x = "${'a'.repeat(1 << 20)}"`), null);
  });
});

describe('parsing again', () => {
  it('gives the tree that a fresh parse gives, wherever the text changes', () => {
    const base = Array.from(
      { length: 60 },
      (_, i) => `def f${i}():\n    cfg.a.b = ${i}\n    return g(x=[1, "two"])\n\n`,
    ).join('');
    for (let at = 0; at < base.length; at += 37) {
      for (const added of ['x', '\n', '    ', '"', '(', 'def h():\n    return 1\n']) {
        const text = base.slice(0, at) + added + base.slice(at + (at % 3));
        clearPythonTrees();
        const fresh = parsePython('a.py', text)!.tree?.toString() ?? parsePython('a.py', text)!.toString();
        clearPythonTrees();
        parsePython('a.py', base);
        const again = parsePython('a.py', text)!.tree?.toString() ?? parsePython('a.py', text)!.toString();
        assert.equal(again, fresh, `${at} ${JSON.stringify(added)}`);
      }
    }
  });
});
