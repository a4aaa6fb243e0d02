/** The native reader against golden files (UPDATE=1 rewrites them), and what the goldens do not show. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { SCHEDULE_IDS } from '../../src/model/schedule.ts';
import { keyRow } from '../../src/readers/native/keys.ts';
import { SCHEDULE_FACTS } from '../../src/readers/native/schedule-facts.ts';
import { nativeReader } from '../../src/readers/native.ts';
import { loadParsers } from '../../src/readers/parsers.ts';
import { scheduleByAlias, scheduleRow } from '../../src/sim/schedules/table.ts';
import { dumpReading } from './native-dump.ts';

const FOLDER = join(process.cwd(), 'test/fixtures/native');

before(() => loadParsers(['yaml', 'jsonc']));

function read(file: string, text: string, said = {}) {
  return nativeReader.read(file, { [file]: text }, said);
}

for (const file of readdirSync(FOLDER).filter((name) => !name.endsWith('.golden.txt'))) {
  test(`reads ${file} as its golden says`, () => {
    const text = readFileSync(join(FOLDER, file), 'utf8');
    assert.ok(nativeReader.claims(file, text));
    const golden = join(FOLDER, `${file}.golden.txt`);
    const dump = dumpReading(read(file, text), text);
    if (process.env.UPDATE === '1') writeFileSync(golden, dump);
    assert.equal(dump, readFileSync(golden, 'utf8'));
  });
}

test('claims by name, and by the mark of the format in other YAML and JSON', () => {
  const { claims } = nativeReader;
  for (const path of ['a.pipeline.yaml', 'x/y/a.pipeline.yml', 'a.pipeline.json', 'A.PIPELINE.YAML']) {
    assert.ok(claims(path, ''), path);
  }
  assert.ok(claims('a.yml', '# c\nname: x\nbubblelens: 1\n'));
  assert.ok(claims('a.yaml', '{ bubblelens: 1, pipeline: { size: 2 } }'));
  assert.ok(claims('a.json', '{\n  "bubblelens" : 1 }'));
  for (const [path, text] of [
    ['a.yaml', 'pipeline: { size: 8 }'],
    ['a.yaml', '# see bubblelens: 1\nx: 1'],
    ['a.yaml', 'x:\n  y: "bubblelens: 1"'],
    ['a.yaml', 'x:\n  bubblelens: 1'],
    ['a.json', '{ "name": "bubblelens" }'],
    ['a.toml', 'bubblelens: 1'],
    ['pipeline.yaml', ''],
  ] as const) {
    assert.equal(claims(path, text), false, `${path} ${text}`);
  }
});

test('what is said stands before what the file says, and values derive from it', () => {
  const text =
    'pipeline: { size: 4, schedule: 1f1b }\nparallel: { tensor: 2, context: 1 }\nbatch: { micro: 1, global: 64 }\n';
  assert.equal(read('a.pipeline.yaml', text).plans[0]!.microbatches.value, null);
  const said = { 'cluster.gpus': { value: 64, by: 'the test' }, 'batch.global': { value: '128', by: 'the test' } };
  const plan = read('a.pipeline.yaml', text, said).plans[0]!;
  assert.deepEqual(plan.gpus, { value: 64, source: { kind: 'assumed', by: 'the test' } });
  assert.deepEqual([plan.dp.value, plan.globalBatchSize.value, plan.microbatches.value], [8, 128, 16]);
  const wrong = read('a.pipeline.yaml', text, { 'cluster.gpus': { value: -1, by: '--gpus' } });
  assert.equal(wrong.plans[0]!.gpus.value, null);
  assert.deepEqual(
    wrong.problems.map(({ code, message }) => [code, message]),
    [['invalid-value', 'cluster.gpus takes a whole number from 1 to 1e7, not -1 (--gpus)']],
  );
});

test('placements and spellings of schedules agree with the simulator', () => {
  const row = keyRow('pipeline.schedule');
  assert.ok(row.type === 'choice');
  for (const id of SCHEDULE_IDS) {
    const simulated = scheduleRow(id);
    if (simulated !== null) assert.equal(SCHEDULE_FACTS[id].placement, simulated.placement, id);
    const spellings: readonly string[] = [...(simulated?.aliases ?? []), ...Object.keys(row.spellings), id];
    for (const spelling of spellings) {
      const plan = read('a.pipeline.yaml', `pipeline: { size: 2, schedule: "${spelling}" }`).plans[0]!;
      const meant = scheduleByAlias(spelling);
      if (plan.schedule.value !== null && meant !== null) assert.equal(plan.schedule.value, meant, spelling);
    }
  }
});

test('a file that is too large, binary or missing is one clear problem', () => {
  const large = read('a.pipeline.yaml', `pipeline: { size: 8 }\n${'#'.repeat(20 << 20)}`);
  const binary = read('a.pipeline.json', '{"pipeline":\0}');
  for (const reading of [large, binary]) {
    assert.deepEqual(reading.plans, []);
    assert.deepEqual(
      reading.problems.map((problem) => problem.code),
      ['syntax-error'],
    );
  }
  assert.deepEqual(nativeReader.read('a.pipeline.yaml', {}, {}), {
    plans: [],
    problems: [],
    needs: ['a.pipeline.yaml'],
  });
});

test('alias bombs and deep nesting cost no more than the text', () => {
  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i < 12; i++)
    bomb.push(`${'abcdefghijkl'[i]}: &${'abcdefghijkl'[i]} [${`*${'abcdefghijkl'[i - 1]}, `.repeat(9)}1]`);
  bomb.push('stages: *l', 'pipeline: { size: 2 }');
  const deepJson = `{"pipeline":${'['.repeat(20_000)}`;
  const deepYaml = `pipeline: ${'['.repeat(5_000)}`;
  for (const [file, text] of [
    ['a.pipeline.yaml', bomb.join('\n')],
    ['a.pipeline.json', deepJson],
    ['b.pipeline.yaml', deepYaml],
    ['c.pipeline.yaml', 'pipeline: &a\n  <<: *a\n  size: 2\n'],
  ] as const) {
    const start = process.hrtime.bigint();
    assert.ok(read(file, text).problems.length > 0, file);
    assert.ok(Number(process.hrtime.bigint() - start) < 3e9, file);
  }
});
