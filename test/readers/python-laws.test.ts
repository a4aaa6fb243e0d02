/**
 * Laws of the Python readers: a cut or spliced recipe never throws, ends soon and keeps its ranges inside the file; a
 * change that is offered reads back as that change and leaves the rest of the plan alone.
 */

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { applyEdits } from '../../src/analysis.ts';
import type { Plan } from '../../src/model/plan.ts';
import type { Reader } from '../../src/model/reading.ts';
import type { TextRange } from '../../src/model/source.ts';
import { loadParsers } from '../../src/readers/parsers.ts';
import { READERS } from '../../src/readers/table.ts';
import { PYTHON_READERS, pythonFixtures } from './python-fixtures.ts';

before(() => loadParsers(['python', 'jsonc']));

const CHANGES = {
  'pipeline.size': 'pp',
  'pipeline.virtualStages': 'vpp',
  'pipeline.microbatches': 'microbatches',
  'pipeline.groupSize': 'groupSize',
  'pipeline.schedule': 'schedule',
  'parallel.tensor': 'tp',
  'parallel.context': 'cp',
  'parallel.expert': 'ep',
  'batch.micro': 'microBatchSize',
  'batch.global': 'globalBatchSize',
  'model.sequence': 'sequenceLength',
  'cluster.gpus': 'gpus',
} as const satisfies Readonly<Record<string, keyof Plan>>;

type ChangeKey = keyof typeof CHANGES;

/** Values that follow from the changed one by arithmetic; all others must stay. */
const FOLLOWERS: Readonly<Record<ChangeKey, readonly string[]>> = {
  'pipeline.size': ['dp', 'groupSize', 'gpus', 'microbatches', 'globalBatchSize', 'vpp', 'schedule'],
  'pipeline.virtualStages': ['schedule'],
  'pipeline.microbatches': ['globalBatchSize', 'groupSize'],
  'pipeline.groupSize': [],
  'pipeline.schedule': ['vpp', 'groupSize'],
  'parallel.tensor': ['dp', 'gpus', 'microbatches', 'globalBatchSize', 'groupSize'],
  'parallel.context': ['dp', 'gpus', 'microbatches', 'globalBatchSize', 'groupSize'],
  'parallel.expert': ['microbatches', 'globalBatchSize'],
  'batch.micro': ['microbatches', 'globalBatchSize', 'groupSize'],
  'batch.global': ['microbatches', 'groupSize'],
  'model.sequence': [],
  'cluster.gpus': ['dp', 'microbatches', 'globalBatchSize', 'groupSize'],
};

const WATCHED = [...new Set(Object.values(CHANGES)), 'dp'] as const;

function rangesIn(value: unknown): readonly TextRange[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = 'offset' in value && 'length' in value && 'file' in value ? [value as TextRange] : [];
  return [...own, ...Object.values(value).flatMap(rangesIn)];
}

function calm(reader: Reader, name: string, text: string): void {
  const started = performance.now();
  for (const each of READERS) each.claims(name, text);
  const reading = reader.read(name, { [name]: text }, {});
  for (const { file, offset, length } of rangesIn(reading)) {
    assert.ok(
      file === name && offset >= 0 && length >= 0 && offset + length <= text.length,
      `${file} ${offset} ${length}`,
    );
  }
  assert.equal(new Set(reading.plans.map(({ id }) => id)).size, reading.plans.length, 'ids are unique');
  for (const plan of reading.plans) {
    for (const { value } of [plan.pp, plan.vpp, plan.tp, plan.microbatches, plan.microBatchSize, plan.dp, plan.gpus])
      assert.ok(value === null || (Number.isSafeInteger(value) && value >= 1), `${value}`);
    const layers = plan.stages.value?.reduce((sum, stage) => sum + stage.layers, 0);
    const wrong = plan.findings.some(({ severity }) => severity === 'error');
    assert.ok(layers === undefined || wrong || plan.model.layers.value === null || layers === plan.model.layers.value);
    for (const key of Object.keys(CHANGES)) reader.edits({ [name]: text }, plan, { key, value: 16 });
  }
  assert.ok(performance.now() - started < 4000, `${performance.now() - started} ms`);
}

const SPLICES = [
  '',
  '\0',
  '\r\n',
  '\t',
  '    ',
  '(',
  ')',
  '[',
  '{',
  '"',
  "'",
  '"""',
  '=',
  ':',
  '#',
  ',',
  '.',
  '*',
  '**',
  '@',
  '\\\n',
];
const WORDS = [
  'def f():\n',
  'return ',
  'if ',
  'for x in ',
  'class ',
  'lambda',
  'not ',
  ' = None',
  '-1',
  '1e9',
  '__proto__',
  'constructor',
  '\u{1F680}',
];

function broken(texts: readonly string[]): fc.Arbitrary<string> {
  const at = fc.double({ min: 0, max: 1, noNaN: true });
  const fixture = fc.constantFrom(...texts);
  const other = fc.tuple(fixture, at, at).map(([text, from, to]) => text.slice(text.length * from, text.length * to));
  const added = fc.oneof(fc.constantFrom(...SPLICES, ...WORDS), fc.string({ unit: 'binary', maxLength: 8 }), other);
  return fc.tuple(fixture, fc.array(fc.tuple(at, at, added), { minLength: 1, maxLength: 4 })).map(([text, cuts]) =>
    cuts.reduce((all, [start, length, more]) => {
      const from = Math.floor(all.length * start);
      return all.slice(0, from) + more + all.slice(from + Math.floor(length * length * 60));
    }, text),
  );
}

for (const reader of PYTHON_READERS) {
  describe(`laws of ${reader.id}`, () => {
    const files = pythonFixtures(reader);
    const [first] = Object.keys(files);

    it('a cut and spliced recipe stays calm', () => {
      fc.assert(
        fc.property(broken(Object.values(files)), (text) => calm(reader, first!, text)),
        { numRuns: 150 },
      );
    });

    it('every prefix of a recipe stays calm', () => {
      const text = files[first!]!;
      for (let end = 0; end <= text.length; end += 7) calm(reader, first!, text.slice(0, end));
    });

    it('what is offered as a change reads back as that change and nothing else', () => {
      let offered = 0;
      for (const [name, text] of Object.entries(files)) {
        for (const breaks of [text, text.replaceAll('\n', '\r\n')]) {
          for (const plan of reader.read(name, { [name]: breaks }, {}).plans) {
            for (const key of Object.keys(CHANGES) as ChangeKey[]) offered += changed(reader, name, breaks, plan, key);
          }
        }
      }
      assert.ok(offered >= 8, `${offered} changes`);
    });
  });
}

/** 1 when the change was offered. */
function changed(reader: Reader, name: string, text: string, plan: Plan, key: ChangeKey): number {
  const before = plan[CHANGES[key]].value;
  const target = key === 'pipeline.schedule' ? 'gpipe' : ((before as number | null) ?? 1) * 2;
  const edits = reader.edits({ [name]: text }, plan, { key, value: target });
  if (edits === null) return 0;
  const texts = applyEdits({ [name]: text }, edits);
  const after = reader.read(name, texts, {}).plans.find((each) => each.id === plan.id);
  const where = `${name} ${plan.id} ${key}=${target} ${JSON.stringify(edits)}`;
  assert.ok(after !== undefined, where);
  const refused = after.findings.some(({ severity }) => severity === 'error');
  const { value } = after[CHANGES[key]];
  assert.ok(value === target || (value === null && refused), `${where}: ${value}`);
  for (const watched of WATCHED) {
    if (watched === CHANGES[key] || FOLLOWERS[key].includes(watched) || refused) continue;
    assert.equal(after[watched].value, plan[watched].value, `${where}: ${watched}`);
  }
  const lines = (all: string) => all.split(/\r?\n/).length;
  assert.ok(lines(texts[name]!) - lines(text) <= 1, where);
  return 1;
}
