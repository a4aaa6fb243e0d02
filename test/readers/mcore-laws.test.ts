/**
 * Laws of the readers that feed Megatron-core from YAML: a cut or spliced config never throws, ends fast and keeps its
 * ranges inside its files; a change that is offered reads back as that change and leaves the rest alone.
 */

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: OmegaConf text

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { applyEdits } from '../../src/analysis.ts';
import type { Plan } from '../../src/model/plan.ts';
import type { Reader, Texts } from '../../src/model/reading.ts';
import type { TextRange } from '../../src/model/source.ts';
import { loadParsers } from '../../src/readers/parsers.ts';
import { documentsOf, gathered, MCORE_READERS, rootOf } from './mcore-fixtures.ts';

before(() => loadParsers(['yaml', 'jsonc']));

const CHANGES = {
  'pipeline.size': 'pp',
  'pipeline.virtualStages': 'vpp',
  'pipeline.microbatches': 'microbatches',
  'pipeline.groupSize': 'groupSize',
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
  'pipeline.size': ['dp', 'groupSize', 'gpus', 'microbatches', 'globalBatchSize', 'vpp'],
  'pipeline.virtualStages': [],
  'pipeline.microbatches': ['globalBatchSize'],
  'pipeline.groupSize': [],
  'parallel.tensor': ['dp', 'gpus', 'microbatches', 'globalBatchSize'],
  'parallel.context': ['dp', 'gpus', 'microbatches', 'globalBatchSize'],
  'parallel.expert': ['microbatches', 'globalBatchSize'],
  'batch.micro': ['microbatches', 'globalBatchSize'],
  'batch.global': ['microbatches'],
  'model.sequence': [],
  'cluster.gpus': ['dp', 'microbatches', 'globalBatchSize'],
};

const WATCHED = [...new Set(Object.values(CHANGES)), 'dp', 'schedule'] as const;

function rangesIn(value: unknown): readonly TextRange[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = 'offset' in value && 'length' in value && 'file' in value ? [value as TextRange] : [];
  return [...own, ...Object.values(value).flatMap(rangesIn)];
}

function calm(reader: Reader, file: string, root: Texts, text: string): void {
  const started = performance.now();
  reader.claims(file, text);
  const { texts, reading } = gathered(reader, file, root, text);
  for (const range of rangesIn(reading)) {
    const size = texts[range.file]?.length ?? -1;
    assert.ok(range.offset >= 0 && range.length >= 0 && range.offset + range.length <= size, JSON.stringify(range));
  }
  for (const plan of reading.plans) {
    assert.equal(plan.anchor.file, file);
    for (const { value } of [plan.pp, plan.vpp, plan.microbatches, plan.dp, plan.gpus])
      assert.ok(value === null || (Number.isSafeInteger(value) && value >= 1), `${value}`);
    const layers = plan.stages.value?.reduce((sum, stage) => sum + stage.layers, 0);
    const wrong = plan.findings.some(({ severity }) => severity === 'error');
    assert.ok(
      layers === undefined || wrong || plan.model.layers.value === null || layers === plan.model.layers.value,
      `${layers} of ${plan.model.layers.value}`,
    );
    for (const key of Object.keys(CHANGES)) reader.edits(texts, plan, { key, value: 16 });
  }
  assert.ok(performance.now() - started < 3000, `${performance.now() - started} ms`);
}

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
  '&a *a',
  '<<: *a',
  '-1',
  '1e9',
  ':',
  '#',
  '${',
  '}',
  '${.x}',
  '${..a}',
  '${mul:${.x},2}',
  '${A:4}',
  'null',
  '__proto__',
  '\u{1F680}',
  'defaults: ',
  'extends: ',
  'megatron:d2p2',
  'list(range(0,4))',
];

function broken(texts: readonly string[]): fc.Arbitrary<string> {
  const fixture = fc.constantFrom(...texts);
  const at = fc.double({ min: 0, max: 1, noNaN: true });
  const other = fc.tuple(fixture, at, at).map(([text, from, to]) => text.slice(text.length * from, text.length * to));
  const added = fc.oneof(fc.constantFrom(...SPLICES), fc.string({ unit: 'binary', maxLength: 8 }), other);
  return fc.tuple(fixture, fc.array(fc.tuple(at, at, added), { minLength: 1, maxLength: 4 })).map(([text, cuts]) =>
    cuts.reduce((all, [start, length, more]) => {
      const from = Math.floor(all.length * start);
      return all.slice(0, from) + more + all.slice(from + Math.floor(length * length * 60));
    }, text),
  );
}

for (const reader of MCORE_READERS) {
  describe(`laws of ${reader.id}`, () => {
    const root = rootOf(reader);
    const documents = documentsOf(reader);
    const [first] = documents;

    it('a cut and spliced config stays calm', () => {
      const all = documents.map((file) => root[file]!);
      fc.assert(
        fc.property(broken(all), (text) => calm(reader, first!, root, text)),
        { numRuns: 150 },
      );
    });

    it('every prefix of a config stays calm', () => {
      const text = root[first!]!;
      for (let end = 0; end <= text.length; end += 3) calm(reader, first!, root, text.slice(0, end));
    });

    it('what is offered as a change reads back as that change and nothing else', () => {
      let offered = 0;
      for (const file of documents) {
        const { texts, reading } = gathered(reader, file, root);
        for (const plan of reading.plans) {
          for (const key of Object.keys(CHANGES) as ChangeKey[]) offered += changed(reader, file, texts, plan, key);
        }
      }
      assert.ok(offered >= 4, `${offered} changes`);
    });
  });
}

/** 1 when the change was offered. */
function changed(reader: Reader, file: string, texts: Texts, plan: Plan, key: ChangeKey): number {
  const before = plan[CHANGES[key]].value as number | null;
  const target = (before ?? 1) * 2;
  const edits = reader.edits(texts, plan, { key, value: target });
  if (edits === null) return 0;
  const after = reader.read(file, applyEdits(texts, edits), {}).plans.find((each) => each.id === plan.id);
  const where = `${file} ${plan.id} ${key}=${target} ${JSON.stringify(edits)}`;
  assert.ok(after !== undefined, where);
  const refused = after.findings.some(({ severity }) => severity === 'error');
  const value = after[CHANGES[key]].value;
  assert.ok(value === target || (value === null && refused), `${where}: ${value}`);
  for (const watched of WATCHED) {
    if (watched === CHANGES[key] || FOLLOWERS[key].includes(watched) || refused) continue;
    if (watched === 'schedule' && (key === 'pipeline.virtualStages' || key === 'pipeline.size')) continue;
    assert.equal(after[watched].value, plan[watched].value, `${where}: ${watched}`);
  }
  return 1;
}

const MEAN: Readonly<Record<string, string>> = {
  'a tower of references': `${Array.from({ length: 200 }, (_, i) => `  a${i}: \${.a${i + 1}}\${.a${i + 1}}`).join('\n')}\n  a200: "8"`,
  'a reference to itself': '  a0: ${.a0}',
  'a deep resolver': `  a0: ${'${mul:2,'.repeat(2000)}1${'}'.repeat(2000)}`,
  'many arguments': `  a0: \${add:${'1,'.repeat(1500)}1}`,
  'an open resolver': `  a0: ${'${'.repeat(2000)}`,
};

describe('mean references', () => {
  for (const [name, body] of Object.entries(MEAN)) {
    it(`survives ${name}`, () => {
      const text = `trainer: { devices: 8, num_nodes: 1 }\nmodel:\n  pipeline_model_parallel_size: \${.a0}\n${body}\n`;
      calm(MCORE_READERS[0]!, 'a.yaml', {}, text);
    });
  }
});
