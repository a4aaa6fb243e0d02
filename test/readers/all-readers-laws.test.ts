/**
 * Laws of every reader in the table, over every fixture that it claims: a config cut or spliced anywhere reads calmly,
 * every source re-reads to its value, and an applied change reads as exactly that change, with what is derived from
 * it. A reader that claims no fixture fails here. The laws of one framework are in its own test.
 */

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { applyEdits, readerFor } from '../../src/analysis.ts';
import type { Change } from '../../src/model/finding.ts';
import { PLAN_KEYS, type Plan, type PlanKey, type Said } from '../../src/model/plan.ts';
import type { Reader, Texts } from '../../src/model/reading.ts';
import type { Source, Sourced, TextRange } from '../../src/model/source.ts';
import { loadParsers } from '../../src/readers/parsers.ts';
import { saidInComments } from '../../src/readers/said-comments.ts';
import { READERS } from '../../src/readers/table.ts';
import { fixtureTexts, saidIn } from './front-ends.ts';

before(() => loadParsers(['yaml', 'jsonc', 'toml', 'python']));

interface Document {
  readonly at: string;
  readonly file: string;
  readonly texts: Texts;
  readonly said: Said;
}

/** Every fixture by the reader that claims it; each folder of fixtures is a root of its own. */
const DOCUMENTS: ReadonlyMap<string, readonly Document[]> = (() => {
  const found = new Map<string, Document[]>(READERS.map(({ id }) => [id, []]));
  for (const folder of readdirSync(join(process.cwd(), 'test/fixtures'))) {
    const texts = fixtureTexts(folder);
    for (const [file, text] of Object.entries(texts)) {
      const said = { ...saidInComments(file, text).said, ...saidIn(text) };
      const reader = readerFor(file, text);
      if (reader !== null) found.get(reader.id)!.push({ at: `${folder}/${file}`, file, texts, said });
    }
  }
  return found;
})();

const CHANGES = {
  'pipeline.size': 'pp',
  'pipeline.microbatches': 'microbatches',
  'pipeline.schedule': 'schedule',
  'pipeline.virtualStages': 'vpp',
  'batch.global': 'globalBatchSize',
  'batch.micro': 'microBatchSize',
  'cluster.gpus': 'gpus',
} as const satisfies Readonly<Record<string, PlanKey>>;

type ChangeKey = keyof typeof CHANGES;

const SPLICES = ['', '\0', '\r\n', '\t', '[', '{', '}', '"', "'", '$(', '${', ')', '\\\n', '-1', '1e9', '=', ':', '#'];

/** Every range in a value, however deep. */
function rangesIn(value: unknown): readonly TextRange[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = 'offset' in value && 'length' in value && 'file' in value ? [value as TextRange] : [];
  return [...own, ...Object.values(value).flatMap(rangesIn)];
}

/** Every value with its source in a plan, by the path to it. */
function sourcedIn(value: unknown, path = ''): readonly (readonly [string, { value: unknown; source: Source }])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  if ('source' in value && 'value' in value) return [[path, value as { value: unknown; source: Source }]];
  return Object.entries(value).flatMap(([key, each]) => sourcedIn(each, path === '' ? key : `${path}.${key}`));
}

function calm(reader: Reader, { file, texts, said }: Document, text: string): void {
  const all = { ...texts, [file]: text };
  for (const each of READERS) each.claims(file, text);
  const reading = reader.read(file, all, said);
  for (const range of rangesIn(reading)) {
    const size = all[range.file]?.length ?? -1;
    const whole = Number.isInteger(range.offset) && Number.isInteger(range.length);
    const inside = range.offset >= 0 && range.length >= 0 && range.offset + range.length <= size;
    assert.ok(whole && inside, `${JSON.stringify(range)} of ${size}`);
  }
  for (const plan of reading.plans) {
    for (const key of Object.keys(CHANGES)) reader.edits(all, plan, { key, value: 4 });
  }
}

/** A YAML alias stands for what its anchor marks. */
function resolved(token: string, text: string): string {
  if (!token.startsWith('*')) return token;
  return text.match(new RegExp(`&${token.slice(1)}\\s+(\\S+?)[,}\\]]*\\s`))?.[1] ?? token;
}

/** A number that is written as it is, without a remark, is its token; every other source is a token at least. */
function rereads(plan: Plan, { at, texts }: Document): number {
  let numbers = 0;
  for (const [path, { value, source }] of sourcedIn({ ...plan, findings: [] })) {
    if (source.kind !== 'text') continue;
    const { file, offset, length } = source.range;
    const token = texts[file]!.slice(offset, offset + length);
    const where = `${at} ${plan.id} ${path} "${token}"`;
    assert.ok(token.length > 0, where);
    if (typeof value !== 'number' || source.note !== undefined) continue;
    const written = resolved(token, texts[file]!).replace(/^(["'])(.*)\1$/, '$2');
    assert.equal(Number(written.replaceAll('_', '')), value, where);
    numbers++;
  }
  return numbers;
}

/** Whether a value of the plan follows from `key`, as its own sources say. */
function follows(plan: Plan, from: PlanKey, key: PlanKey, seen: ReadonlySet<string> = new Set()): boolean {
  const { source } = plan[from];
  if (source.kind !== 'derived' || seen.has(from)) return false;
  const known: readonly string[] = PLAN_KEYS;
  return source.from.some(
    (each) => each === key || (known.includes(each) && follows(plan, each as PlanKey, key, new Set([...seen, from]))),
  );
}

function targets(key: ChangeKey, plan: Plan): readonly (number | string)[] {
  if (key === 'pipeline.schedule') return ['gpipe', '1f1b', 'interleaved-1f1b', 'zb-h1', 'zbv'];
  const now = plan[CHANGES[key]].value;
  return typeof now === 'number' ? [now * 2, now * 3] : [2, 64];
}

/**
 * Values that the framework's own arithmetic or defaults tie to a change: the batch is micro batch × microbatches × data
 * parallel size, the GPUs are the product of the sizes, and a schedule has its own default of virtual stages. Whichever
 * of them the file does not write, or writes together with the changed one, moves; nothing else may.
 */
const MOVES: Readonly<Record<ChangeKey, readonly PlanKey[]>> = {
  'pipeline.size': ['dp', 'gpus', 'groupSize', 'microbatches', 'microBatchSize', 'stages', 'vpp'],
  'pipeline.microbatches': ['globalBatchSize', 'groupSize'],
  'pipeline.schedule': ['groupSize', 'microbatches', 'microBatchSize', 'stages', 'vpp'],
  'pipeline.virtualStages': ['groupSize', 'schedule'],
  'batch.global': ['groupSize', 'microbatches', 'microBatchSize'],
  'batch.micro': ['globalBatchSize', 'groupSize', 'microbatches'],
  'cluster.gpus': ['dp', 'globalBatchSize', 'groupSize', 'microbatches'],
};

/** Whether the GPUs are the product of the sizes, and the batch whole rounds of the microbatches, as far as known. */
function addsUp({ gpus, dp, tp, cp, pp, globalBatchSize, microBatchSize, microbatches }: Plan): boolean {
  const known = (...of: readonly Sourced<number>[]): readonly number[] | null =>
    of.some(({ value }) => value === null) ? null : of.map(({ value }) => value!);
  const world = known(gpus, dp, tp, cp, pp);
  const batch = known(globalBatchSize, microBatchSize, dp, microbatches);
  // verl rounds up what does not divide.
  const rounds = batch === null ? 0 : Math.ceil(batch[0]! / (batch[1]! * batch[2]!)) / batch[3]!;
  return (world === null || world[0] === world[1]! * world[2]! * world[3]! * world[4]!) && Number.isInteger(rounds);
}

/** What is wrong with an applied change: nothing where it cannot be written, or reads as itself. */
function changesExactly(reader: Reader, document: Document, plan: Plan, change: Change & { key: ChangeKey }) {
  const { at, file, texts, said } = document;
  const key = CHANGES[change.key];
  // What was said outside the file stands in front of whatever it is changed to.
  const tied = key === 'globalBatchSize' || key === 'microbatches' ? [key, 'microbatches' as const] : [key];
  if (tied.some((each) => plan[each].source.kind === 'assumed')) return [];
  const edits = reader.edits(texts, plan, change);
  if (edits === null) return [];
  const where = `${at} ${plan.id} ${change.key} = ${change.value}`;
  const read = reader.read(file, applyEdits(texts, edits), said).plans.find((each) => each.id === plan.id);
  if (read === undefined) return [`${where}: no plan`];
  const refused = read.findings.some(({ severity }) => severity === 'error');
  const broken: string[] = [];
  const { value } = read[key];
  if (value !== change.value && !(value === null && refused))
    broken.push(`${where}: reads ${JSON.stringify(read[key])} edits ${JSON.stringify(edits)}`);
  for (const other of PLAN_KEYS) {
    if (other === key || (refused && read[other].value === null)) continue;
    if (JSON.stringify(read[other].value) === JSON.stringify(plan[other].value)) continue;
    if (MOVES[change.key].includes(other) || follows(read, other, key) || follows(plan, other, key)) continue;
    broken.push(
      `${where}: ${other} ${JSON.stringify(plan[other]).slice(0, 200)} became ${JSON.stringify(read[other]).slice(0, 200)}`,
    );
  }
  for (const part of ['model', 'cluster', 'run'] as const) {
    const values = (of: Plan) =>
      JSON.stringify(
        sourcedIn(of[part])
          .filter(
            ([path, { source }]) =>
              source.kind !== 'derived' && !(change.key === 'cluster.gpus' && path === 'gpusPerNode'),
          )
          .map(([path, each]) => [path, each.value]),
      );
    if (values(read) !== values(plan)) broken.push(`${where}: ${part} ${values(read)} was ${values(plan)}`);
  }
  if (!refused && addsUp(plan) && !addsUp(read))
    broken.push(`${where}: sizes do not multiply to the batch or the GPUs`);
  return broken;
}

for (const reader of READERS) {
  describe(`laws of ${reader.id}`, () => {
    const documents = DOCUMENTS.get(reader.id)!;
    const plansOf = ({ file, texts, said }: Document): readonly Plan[] => reader.read(file, texts, said).plans;

    it('has a fixture with a plan', () => {
      assert.ok(documents.some((document) => plansOf(document).length > 0));
    });

    it('a cut or spliced config reads calmly', () => {
      const at = fc.double({ min: 0, max: 1, noNaN: true });
      const document = fc.constantFrom(...documents);
      const added = fc.oneof(
        fc.constantFrom(...SPLICES),
        fc.string({ unit: 'binary', maxLength: 8 }),
        fc.tuple(document, at, at).map(([{ file, texts }, from, to]) => {
          const text = texts[file]!;
          return text.slice(text.length * from, text.length * to);
        }),
      );
      fc.assert(
        fc.property(document, fc.array(fc.tuple(at, at, added), { minLength: 1, maxLength: 3 }), (each, cuts) => {
          const text = cuts.reduce((all, [start, length, more]) => {
            const from = Math.floor(all.length * start);
            return all.slice(0, from) + more + all.slice(from + Math.floor(length * length * 60));
          }, each.texts[each.file]!);
          calm(reader, each, text);
        }),
        { numRuns: 60 },
      );
    });

    it('every source re-reads to its value', () => {
      let numbers = 0;
      for (const document of documents) for (const plan of plansOf(document)) numbers += rereads(plan, document);
      assert.ok(numbers > 0);
    });

    it('can write another pipeline size, and more', () => {
      const written = (Object.keys(CHANGES) as ChangeKey[]).filter((key) =>
        documents.some((document) =>
          plansOf(document).some((plan) =>
            targets(key, plan).some((value) => reader.edits(document.texts, plan, { key, value }) !== null),
          ),
        ),
      );
      assert.ok(written.includes('pipeline.size') && written.length > 1, written.join(', '));
    });

    for (const key of Object.keys(CHANGES) as ChangeKey[]) {
      it(`${key} changes that and what follows from it`, () => {
        const broken: string[] = [];
        for (const document of documents) {
          for (const plan of plansOf(document)) {
            for (const value of targets(key, plan))
              broken.push(...changesExactly(reader, document, plan, { key, value }));
          }
        }
        assert.deepEqual(broken, []);
      });
    }
  });
}
