/**
 * Laws of the front ends: a config cut or spliced anywhere reads calmly, every range lies in its file and re-reads to
 * the value that it is the source of, and an applied change reads as exactly that change.
 */

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { applyEdits } from '../../src/analysis.ts';
import type { Change } from '../../src/model/finding.ts';
import type { Plan, PlanKey } from '../../src/model/plan.ts';
import type { Reading, Texts } from '../../src/model/reading.ts';
import type { Sourced, TextRange } from '../../src/model/source.ts';
import { loadParsers } from '../../src/readers/parsers.ts';
import { READERS } from '../../src/readers/table.ts';
import { FRONT_ENDS, type FrontEnd, fixtureTexts, saidIn } from './front-ends.ts';

before(() => loadParsers(['yaml', 'jsonc']));

const SPLICES = [
  '',
  '\0',
  '\r\n',
  '\t',
  '[',
  '{',
  '}',
  '"',
  "'",
  '$(',
  '${',
  ')',
  '\\\n',
  '-1',
  '1e9',
  '=',
  ':',
  '#',
  ' && ',
  '__proto__',
];

/** Every range in a value, however deep. */
function rangesIn(value: unknown): readonly TextRange[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = 'offset' in value && 'length' in value && 'file' in value ? [value as TextRange] : [];
  return [...own, ...Object.values(value).flatMap(rangesIn)];
}

const CHANGES: Readonly<Record<string, PlanKey>> = {
  'pipeline.size': 'pp',
  'pipeline.virtualStages': 'vpp',
  'pipeline.microbatches': 'microbatches',
  'batch.micro': 'microBatchSize',
  'batch.global': 'globalBatchSize',
  'parallel.tensor': 'tp',
  'parallel.data': 'dp',
  'cluster.gpus': 'gpus',
};

function calm({ reader }: FrontEnd, name: string, texts: Texts): void {
  const started = performance.now();
  for (const each of READERS) each.claims(name, texts[name]!);
  const reading: Reading = reader.read(name, texts, {});
  for (const { file, offset, length } of rangesIn(reading)) {
    const size = texts[file]?.length ?? -1;
    assert.ok(Number.isInteger(offset) && Number.isInteger(length), `${offset} ${length}`);
    assert.ok(offset >= 0 && length >= 0 && offset + length <= size, `${file} ${offset} + ${length} of ${size}`);
  }
  for (const plan of reading.plans) {
    assert.equal(plan.anchor.file, name);
    for (const key of Object.values(CHANGES)) {
      const { value } = plan[key];
      assert.ok(value === null || (Number.isSafeInteger(value) && (value as number) >= 1), `${key} ${String(value)}`);
    }
    for (const key of Object.keys(CHANGES)) reader.edits(texts, plan, { key, value: 16 });
  }
  assert.ok(performance.now() - started < 3000, `${performance.now() - started} ms`);
}

function numbersOf(plan: Plan): readonly (readonly [string, Sourced<number>])[] {
  const { model } = plan;
  const shape = { layers: model.layers, hidden: model.hidden, heads: model.heads, vocabulary: model.vocabulary };
  const keys = [
    'pp',
    'vpp',
    'tp',
    'cp',
    'ep',
    'dp',
    'gpus',
    'microbatches',
    'microBatchSize',
    'globalBatchSize',
    'sequenceLength',
  ] as const;
  return [...keys.map((key) => [key, plan[key]] as const), ...Object.entries(shape)];
}

/** A value that is written as it is, without a remark: the token is the number. */
function rereads(plan: Plan, texts: Texts): void {
  for (const [key, { value, source }] of numbersOf(plan)) {
    if (source.kind !== 'text' || source.note !== undefined) continue;
    const { file, offset, length } = source.range;
    const token = texts[file]!.slice(offset, offset + length);
    assert.equal(Number(token.replaceAll('_', '')), value, `${key} at ${file}:${offset} "${token}"`);
  }
}

/** Values that a change may move besides its own, where they are written. */
const MOVES: Readonly<Record<string, readonly string[]>> = {
  'pipeline.size': ['dp', 'gpus'],
  'pipeline.virtualStages': [],
  'pipeline.microbatches': ['globalBatchSize'],
  'batch.micro': ['microbatches', 'globalBatchSize'],
  'batch.global': ['microbatches'],
  'parallel.tensor': ['dp', 'gpus'],
  'parallel.data': ['gpus'],
  'cluster.gpus': ['dp'],
};

function changesExactly(frontEnd: FrontEnd, name: string, texts: Texts, plan: Plan, change: Change): boolean {
  const { reader } = frontEnd;
  const said = saidIn(texts[name]!);
  const edits = reader.edits(texts, plan, change);
  if (edits === null) return false;
  const after = applyEdits(texts, edits);
  const read = reader.read(name, after, said).plans.find((each) => each.id === plan.id);
  const at = `${frontEnd.folder}/${name} ${plan.id} ${change.key} = ${change.value}`;
  assert.ok(read !== undefined, at);
  const key = CHANGES[change.key]!;
  // What the framework then refuses leaves the value open, never another one.
  const got = read[key].value;
  if (got !== null || !['microbatches', 'vpp', 'gpus', 'dp'].includes(key)) assert.equal(got, change.value, at);
  const before = new Map(numbersOf(plan));
  for (const [other, { value, source }] of numbersOf(read)) {
    const old = before.get(other)!;
    if (other === key || MOVES[change.key]!.includes(other)) continue;
    if (old.source.kind === 'text' && source.kind === 'text') assert.equal(value, old.value, `${at}: ${other}`);
  }
  return true;
}

for (const frontEnd of FRONT_ENDS) {
  const { folder, isConfig, reader } = frontEnd;
  const texts = fixtureTexts(folder);
  const names = Object.keys(texts).filter(isConfig);

  describe(`laws of ${folder}`, () => {
    it('a cut or spliced config reads calmly', () => {
      const at = fc.double({ min: 0, max: 1, noNaN: true });
      const added = fc.oneof(
        fc.constantFrom(...SPLICES),
        fc.string({ unit: 'binary', maxLength: 8 }),
        fc.tuple(fc.constantFrom(...names), at, at).map(([name, from, to]) => {
          const text = texts[name]!;
          return text.slice(text.length * from, text.length * to);
        }),
      );
      fc.assert(
        fc.property(
          fc.constantFrom(...names),
          fc.array(fc.tuple(at, at, added), { minLength: 1, maxLength: 3 }),
          (name, cuts) => {
            const text = cuts.reduce((all, [start, length, more]) => {
              const from = Math.floor(all.length * start);
              return all.slice(0, from) + more + all.slice(from + Math.floor(length * length * 60));
            }, texts[name]!);
            calm(frontEnd, name, { ...texts, [name]: text });
          },
        ),
        { numRuns: 250 },
      );
    });

    it('a prefix of any length reads as calmly', () => {
      const name = names[0]!;
      const text = texts[name]!;
      for (let end = 0; end <= text.length; end += 3) calm(frontEnd, name, { ...texts, [name]: text.slice(0, end) });
    });

    it('every source re-reads to its value', () => {
      for (const name of names) {
        for (const plan of reader.read(name, texts, saidIn(texts[name]!)).plans) rereads(plan, texts);
      }
    });

    it('a change reads as exactly that change', () => {
      let made = 0;
      for (const name of names) {
        for (const plan of reader.read(name, texts, saidIn(texts[name]!)).plans) {
          for (const key of Object.keys(CHANGES)) {
            for (const value of [2, 8, 64]) made += Number(changesExactly(frontEnd, name, texts, plan, { key, value }));
          }
        }
      }
      assert.ok(made >= 10, `only ${made} changes could be written`);
    });

    it('line ends stay as they are', () => {
      for (const name of names) {
        const windows = Object.fromEntries(
          Object.entries(texts).map(([file, text]) => [file, text.replaceAll('\n', '\r\n')]),
        );
        for (const plan of reader.read(name, windows, {}).plans) {
          for (const key of Object.keys(CHANGES)) {
            const edits = reader.edits(windows, plan, { key, value: 8 });
            if (edits === null) continue;
            for (const text of Object.values(applyEdits(windows, edits))) {
              assert.doesNotMatch(text, /(?<!\r)\n/, `${folder}/${name} ${key}`);
            }
          }
        }
      }
    });
  });
}
