/**
 * Laws of reading: a fixture cut anywhere, two fixtures spliced, or characters of the shell thrown together never
 * throw, end fast, and every range lies inside its file.
 */

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell text

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Texts } from '../../src/model/reading.ts';
import { megatronLm } from '../../src/readers/megatron-lm.ts';

const FOLDER = join(process.cwd(), 'test/fixtures/megatron-lm');
const FIXTURES = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.sh'))
  .map((name) => readFileSync(join(FOLDER, name), 'utf8'));
const LIBRARY = readFileSync(join(FOLDER, 'lib/model.sh'), 'utf8');

/** Every object with file, offset and length in a reading. */
function ranges(value: unknown, found: { file: string; offset: number; length: number }[] = []) {
  if (typeof value !== 'object' || value === null) return found;
  if ('offset' in value && 'length' in value && 'file' in value) {
    found.push(value as { file: string; offset: number; length: number });
  }
  for (const each of Object.values(value)) ranges(each, found);
  return found;
}

/** A megabyte of hostile text takes a few hundred milliseconds on an idle machine; blow-ups take minutes. */
/** Far above what any text takes, on however busy a machine: what it catches is a reading that does not end. */
const LIMIT_MS = 60_000;

function hold(text: string): void {
  const texts: Texts = { 'a.sh': text, 'lib/model.sh': LIBRARY };
  const start = performance.now();
  const reading = megatronLm.read('a.sh', texts, {});
  const spent = performance.now() - start;
  assert.ok(spent < LIMIT_MS, `${spent} ms`);
  for (const { file, offset, length } of ranges(reading)) {
    const size = texts[file]?.length ?? -1;
    assert.ok(offset >= 0 && length >= 0 && offset + length <= size, `${file} ${offset}+${length} of ${size}`);
  }
  for (const plan of reading.plans) assert.equal(plan.anchor.file, 'a.sh');
}

const fixture = fc.constantFrom(...FIXTURES);
const fraction = fc.double({ min: 0, max: 1, noNaN: true });
const cut = (text: string, at: number): string => text.slice(0, Math.floor(text.length * at));

describe('laws of reading Megatron-LM scripts', () => {
  it('a cut fixture reads', () => {
    fc.assert(
      fc.property(fixture, fraction, (text, at) => hold(cut(text, at))),
      { numRuns: 400 },
    );
  });

  it('two spliced fixtures read', () => {
    fc.assert(
      fc.property(fixture, fraction, fixture, fraction, (a, x, b, y) =>
        hold(cut(a, x) + b.slice(Math.floor(b.length * y))),
      ),
      { numRuns: 400 },
    );
  });

  it('any mix of what the shell has reads', () => {
    const bits = fc.constantFrom(
      ...'\'"`$(){}[];&|<>#\\\n\r =+-*?!~'.split(''),
      '$((',
      '))',
      '${',
      '[[ ',
      ' ]]',
      '<<EOF\n',
      'EOF\n',
      'if ',
      ' then ',
      ' else ',
      ' fi\n',
      'for x in ',
      ' do ',
      ' done ',
      'case x in ',
      ' esac ',
      'f() {',
      'f ',
      'A=',
      'A+=(',
      '$A',
      '"${A[@]}"',
      '${A:-',
      'eval ',
      'bash -c ',
      'torchrun pretrain_gpt.py ',
      '--pipeline-model-parallel-size ',
      '8 ',
      '. lib/model.sh\n',
    );
    fc.assert(
      fc.property(fc.array(bits, { maxLength: 60 }), (parts) => hold(parts.join(''))),
      { numRuns: 1500 },
    );
  });

  const TAIL = '\ntorchrun pretrain_gpt.py --pipeline-model-parallel-size 2 $A\n';
  const MEAN: Readonly<Record<string, string>> = {
    'doubling variables': `A="x "\n${'A="$A$A"\n'.repeat(60)}`,
    'doubling arrays': `A=(x)\n${'A+=("${A[@]}")\n'.repeat(60)}`,
    'a million words': `A="${'x '.repeat(400_000)}"\n${'B="$B $A"\n'.repeat(50)}`,
    'deep substitutions': '$('.repeat(100_000),
    'deep arithmetic': 'A=$(('.repeat(50_000),
    'deep defaults': 'A=${A:-'.repeat(50_000),
    'deep groups': '{ ( '.repeat(50_000),
    'deep ifs': 'if [ $X ]; then A=1; '.repeat(20_000),
    'open branches in a row': 'if [ $X ]; then A="$A a"; B=1; fi\n'.repeat(10_000),
    'many variables and branches': `${Array.from({ length: 2000 }, (_, i) => `V${i}=${i}\n`).join('')}${'if [ $X ]; then A=1; fi\n'.repeat(5000)}`,
    'open quotes': "'\n".repeat(100_001),
    'open heredocs': "cat <<E\n'\n".repeat(50_000),
    'heredocs inside heredocs': Array.from({ length: 5000 }, (_, i) => `cat <<E${i}\n`).join(''),
    'functions that call each other': `${Array.from({ length: 500 }, (_, i) => `f${i}() { f${(i + 1) % 500}; f${(i + 7) % 500}; }\n`).join('')}f0\n`,
    'a long word': 'a'.repeat(900_000),
    'a long number': `A=$((${'9'.repeat(300_000)}))`,
    'many patterns': `case ${'a'.repeat(5000)} in ${`${'*a'.repeat(500)}b) ;; `.repeat(100)} esac`,
    'many launches': 'torchrun pretrain_gpt.py --pipeline-model-parallel-size 2\n'.repeat(15_000),
    'a long layout': `torchrun pretrain_gpt.py --pipeline-model-parallel-layout '${'(t)*9'.repeat(50_000)}'`,
    'a claim of many words': `. ${'CONFIG'.repeat(100_000)}\nPP=2\n`,
    'loops in loops': `${'for x in a b; do '.repeat(60)} A="$A$A" ${'; done'.repeat(60)}`,
    'sourced often': '. lib/model.sh\n'.repeat(60_000),
  };
  for (const [name, text] of Object.entries(MEAN)) {
    it(`survives ${name}`, () => {
      hold(text.slice(0, 1_000_000) + TAIL);
      const start = performance.now();
      megatronLm.claims('a.sh', text + TAIL);
      assert.ok(performance.now() - start < LIMIT_MS);
    });
  }
});
