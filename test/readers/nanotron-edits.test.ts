/** Changes written into nanotron YAML: the value is the one asked for when read again, and the rest stays. */

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { applyEdits } from '../../src/analysis.ts';
import type { Change } from '../../src/model/finding.ts';
import type { Plan, Said } from '../../src/model/plan.ts';
import { nanotronReader } from '../../src/readers/nanotron.ts';
import { loadParsers } from '../../src/readers/parsers.ts';
import { fixtureText } from './golden-readings.ts';

before(() => loadParsers(['yaml']));

const FILE = 'run.yaml';

function plan(text: string, said: Said = {}): Plan {
  return nanotronReader.read(FILE, { [FILE]: text }, said).plans[0]!;
}

function changed(text: string, change: Change): string | null {
  const edits = nanotronReader.edits({ [FILE]: text }, plan(text), change);
  return edits === null ? null : applyEdits({ [FILE]: text }, edits)[FILE]!;
}

const BASE = [
  'parallelism: # sizes',
  '    dp: 2 # replicas',
  '    pp: 4',
  '    tp: 1',
  'tokens:',
  '    micro_batch_size: 2',
  '    batch_accumulation_per_replica: 8 # M',
  '',
].join('\n');

test('values are replaced, and absent keys become a line of their map', () => {
  const at = (change: Change) => changed(BASE, change);
  assert.equal(at({ key: 'pipeline.size', value: 8 }), BASE.replace('pp: 4', 'pp: 8'));
  assert.equal(at({ key: 'pipeline.microbatches', value: 32 }), BASE.replace('replica: 8 # M', 'replica: 32 # M'));
  assert.equal(at({ key: 'batch.global', value: 64 }), BASE.replace('replica: 8 # M', 'replica: 16 # M'));
  assert.equal(at({ key: 'batch.micro', value: 1 }), BASE.replace('micro_batch_size: 2', 'micro_batch_size: 1'));
  assert.equal(at({ key: 'parallel.data', value: 4 }), BASE.replace('dp: 2 # replicas', 'dp: 4 # replicas'));
  assert.equal(
    at({ key: 'pipeline.schedule', value: '1f1b' }),
    BASE.replace('    tp: 1\n', '    tp: 1\n    pp_engine: 1f1b\n'),
  );
  assert.equal(
    changed(BASE.replaceAll('\n', '\r\n'), { key: 'model.sequence', value: 512 }),
    `${BASE.trimEnd()}\n    sequence_length: 512\n`.replaceAll('\n', '\r\n'),
  );
  const flow = 'parallelism: { dp: 1, pp: 2 }\ntokens: { micro_batch_size: 1 }\n';
  assert.equal(
    changed(flow, { key: 'pipeline.schedule', value: 'gpipe' }),
    'parallelism: { dp: 1, pp: 2, pp_engine: afab }\ntokens: { micro_batch_size: 1 }\n',
  );
  const open = 'parallelism:\n  dp: 1\n  pp:\n  tp: 1\ntokens:\n  micro_batch_size: 1\n';
  assert.equal(changed(open, { key: 'pipeline.size', value: 4 }), open.replace('pp:\n', 'pp: 4\n'));
});

test('an alias is replaced where it stands, not its anchor', () => {
  const text = fixtureText('nanotron', 'anchors-and-merges.yaml');
  assert.equal(changed(text, { key: 'pipeline.microbatches', value: 16 }), text.replace('replica: *m', 'replica: 16'));
});

test('what the file cannot express is null', () => {
  for (const change of [
    { key: 'pipeline.schedule', value: 'interleaved-1f1b' },
    { key: 'pipeline.schedule', value: 'toString' },
    { key: 'batch.global', value: 30 },
    { key: 'pipeline.virtualStages', value: 2 },
    { key: 'pipeline.size', value: 0 },
    { key: 'hasOwnProperty', value: 2 },
  ]) {
    assert.equal(changed(BASE, change), null, `${change.key} ${change.value}`);
  }
});

test('what is said stands before what the file says; a GPU count that does not fit is refused', () => {
  const say = (key: string, value: number | string) => ({ [key]: { value, by: 'the test' } });
  assert.equal(plan(BASE).gpus.value, 8);
  assert.equal(plan(BASE, say('pipeline.size', 8)).gpus.value, 16);
  assert.equal(plan(BASE, say('pipeline.microbatches', 32)).globalBatchSize.value, 128);
  assert.equal(plan(BASE, say('pipeline.schedule', '1f1b')).schedule.value, '1f1b');
  const refused = plan(BASE, say('cluster.gpus', 12)).findings.filter(
    ({ code }) => code === 'world-size-not-divisible',
  );
  assert.deepEqual(
    refused.map(({ message, range, related }) => [
      message,
      BASE.slice(range.offset, range.offset + range.length),
      related.map((place) => place.message),
    ]),
    [['TP*CP*DP*PP=1*1*2*4=8 != WORLD_SIZE=12', '4', ['tensor-parallel size', 'data-parallel size']]],
  );
  const sizes = fixtureText('nanotron', 'missing-keys.yaml');
  const codes = plan(sizes, say('parallel.data', 2)).findings.map(({ message }) => message);
  assert.ok(!codes.includes('nanotron needs parallelism.dp'));
});

test('claims nanotron, and no other YAML', () => {
  const claims = (text: string, path = FILE) => nanotronReader.claims(path, text);
  assert.ok(claims(BASE));
  assert.ok(claims('\uFEFFtokens: {}\nparallelism: { dp: 1, pp: 2 }\n'));
  assert.ok(claims('model: {}\nparallelism:\n  # sizes\n\n  pp_engine: 1f1b\n  pp: 2\n'));
  for (const other of [
    'parallelism: 4\ntokens: 8\n',
    'spec:\n  parallelism:\n    pp: 2\n  tokens: {}\n',
    'parallelism:\n  workers: 2\ntokens: {}\nother:\n  pp: 1\n',
    'tokens: {}\npp: 2\n',
    '',
  ]) {
    assert.equal(claims(other), false, other);
  }
  assert.equal(claims(BASE, 'run.toml'), false);
});
