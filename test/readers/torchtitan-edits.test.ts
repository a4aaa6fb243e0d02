/** Changes written into torchtitan TOML: the value is the one asked for when read again, and the rest stays. */

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { applyEdits } from '../../src/analysis.ts';
import type { Change } from '../../src/model/finding.ts';
import type { Plan, Said } from '../../src/model/plan.ts';
import { loadParsers } from '../../src/readers/parsers.ts';
import { torchtitanReader } from '../../src/readers/torchtitan.ts';
import { fixtureText } from './golden-readings.ts';

before(() => loadParsers(['toml']));

const FILE = 'run.toml';

function plan(text: string, said: Said = {}): Plan {
  return torchtitanReader.read(FILE, { [FILE]: text }, said).plans[0]!;
}

/** The text after a change, or null. */
function changed(text: string, change: Change, said: Said = {}): string | null {
  const edits = torchtitanReader.edits({ [FILE]: text }, plan(text, said), change);
  return edits === null ? null : applyEdits({ [FILE]: text }, edits)[FILE]!;
}

/** The lines that differ, `-` before and `+` after. */
function difference(before: string, after: string | null): readonly string[] {
  const [a, b] = [before.split('\n'), (after ?? '').split('\n')];
  return [
    ...a.filter((line) => !b.includes(line)).map((line) => `-${line}`),
    ...b.filter((line) => !a.includes(line)).map((line) => `+${line}`),
  ];
}

const LOCAL = fixtureText('torchtitan', '2025-08-accumulation.toml');
const COUNT = fixtureText('torchtitan', '2024-05-defaults.toml');

test('a value is replaced in its place', () => {
  const cases: readonly [string, Change, readonly string[]][] = [
    [LOCAL, { key: 'pipeline.size', value: 16 }, ['-pipeline_parallel_degree = 8', '+pipeline_parallel_degree = 16']],
    [LOCAL, { key: 'pipeline.microbatches', value: 32 }, ['-local_batch_size = 16', '+local_batch_size = 32']],
    [LOCAL, { key: 'batch.global', value: 512 }, ['-global_batch_size = 256', '+global_batch_size = 512']],
    [
      LOCAL,
      { key: 'batch.micro', value: 2 },
      ['-pipeline_parallel_microbatch_size = 1', '+pipeline_parallel_microbatch_size = 2'],
    ],
    [
      LOCAL,
      { key: 'pipeline.schedule', value: 'interleaved-zb' },
      ['-pipeline_parallel_schedule = "Interleaved1F1B"', '+pipeline_parallel_schedule = "InterleavedZeroBubble"'],
    ],
    [
      LOCAL,
      { key: 'pipeline.virtualStages', value: 2 },
      ['-pipeline_parallel_layers_per_stage = 4', '+pipeline_parallel_layers_per_stage = 8'],
    ],
    [
      COUNT,
      { key: 'parallel.tensor', value: 4 },
      ['-tensor_parallel_degree = 8  # within a node', '+tensor_parallel_degree = 4  # within a node'],
    ],
    [COUNT, { key: 'model.sequence', value: 4096 }, ['-seq_len = 8192', '+seq_len = 4096']],
  ];
  for (const [text, change, expected] of cases) {
    assert.deepEqual(difference(text, changed(text, change)), expected, change.key);
  }
});

test('a key that is absent becomes a line of its section', () => {
  assert.deepEqual(difference(COUNT, changed(COUNT, { key: 'pipeline.microbatches', value: 16 })), [
    '-batch_size = 16',
    '+batch_size = 32',
    '+pipeline_parallel_microbatches = 16',
  ]);
  const bare = '[parallelism] # sizes\r\n[training]\r\n  steps = 10 # short\r\n';
  assert.equal(
    changed(bare, { key: 'pipeline.size', value: 4 }),
    '[parallelism] # sizes\r\npipeline_parallel_degree = 4\r\n[training]\r\n  steps = 10 # short\r\n',
  );
  assert.equal(
    changed(bare, { key: 'model.sequence', value: 64 }),
    '[parallelism] # sizes\r\n[training]\r\n  steps = 10 # short\r\n  seq_len = 64\r\n',
  );
  const without = '[training]\nlocal_batch_size = 8';
  assert.equal(
    changed(without, { key: 'pipeline.size', value: 4 }),
    `${without}\n\n[parallelism]\npipeline_parallel_degree = 4\n`,
  );
});

test('what reads back is what was asked for', () => {
  const cases: readonly [string, Change, (plan: Plan) => unknown][] = [
    [LOCAL, { key: 'pipeline.size', value: 16 }, (p) => p.pp.value],
    [LOCAL, { key: 'pipeline.microbatches', value: 32 }, (p) => p.microbatches.value],
    [LOCAL, { key: 'pipeline.virtualStages', value: 2 }, (p) => p.vpp.value],
    [LOCAL, { key: 'batch.micro', value: 4 }, (p) => p.microBatchSize.value],
    [LOCAL, { key: 'batch.global', value: 512 }, (p) => p.globalBatchSize.value],
    [LOCAL, { key: 'pipeline.schedule', value: 'looped-bfs' }, (p) => p.schedule.value],
    [COUNT, { key: 'pipeline.microbatches', value: 64 }, (p) => p.microbatches.value],
    [COUNT, { key: 'batch.micro', value: 4 }, (p) => p.microBatchSize.value],
    [COUNT, { key: 'pipeline.schedule', value: 'gpipe' }, (p) => p.schedule.value],
    [COUNT, { key: 'parallel.context', value: 2 }, (p) => p.cp.value],
  ];
  for (const [text, change, value] of cases) {
    const after = changed(text, change);
    assert.ok(after !== null, change.key);
    assert.equal(value(plan(after)), change.value, change.key);
  }
});

test('raising microbatches keeps the microbatch size, in every era', () => {
  for (const text of [LOCAL, COUNT]) {
    const after = changed(text, { key: 'pipeline.microbatches', value: 48 });
    assert.equal(plan(after!).microBatchSize.value, plan(text).microBatchSize.value);
  }
});

test('what the file cannot express is null', () => {
  const points = fixtureText('torchtitan', '2024-10-interleaved-points.toml');
  const said = { 'cluster.gpus': { value: 192, by: 'the test' } };
  for (const [text, change] of [
    [LOCAL, { key: 'pipeline.schedule', value: 'zb-h2' }],
    [LOCAL, { key: 'pipeline.schedule', value: 'none' }],
    [LOCAL, { key: 'pipeline.schedule', value: '__proto__' }],
    [LOCAL, { key: 'pipeline.size', value: 2.5 }],
    [LOCAL, { key: 'pipeline.size', value: '8' }],
    [LOCAL, { key: 'cluster.gpus', value: 8 }],
    [LOCAL, { key: 'constructor', value: 8 }],
    [COUNT, { key: 'batch.global', value: 64 }],
    [COUNT, { key: 'batch.micro', value: 3 }],
    [points, { key: 'pipeline.virtualStages', value: 4 }],
    [fixtureText('torchtitan', 'no-pipeline.toml'), { key: 'pipeline.microbatches', value: 4 }],
    [fixtureText('torchtitan', 'no-pipeline.toml'), { key: 'pipeline.schedule', value: '1f1b' }],
    [fixtureText('torchtitan', 'no-pipeline.toml'), { key: 'pipeline.virtualStages', value: 2 }],
    [fixtureText('torchtitan', 'schedule-csv.toml'), { key: 'pipeline.schedule', value: '1f1b' }],
  ] as const) {
    assert.equal(changed(text, change), null, `${change.key} ${change.value}`);
  }
  assert.equal(plan(changed(COUNT, { key: 'batch.global', value: 96 }, said)!, said).globalBatchSize.value, 96);
});

test('what is said stands before what the file says, and values derive from it', () => {
  const say = (key: string, value: number | string) => ({ [key]: { value, by: 'the test' } });
  const gpus = plan(LOCAL, say('cluster.gpus', 128));
  assert.deepEqual(gpus.gpus, { value: 128, source: { kind: 'assumed', by: 'the test' } });
  assert.equal(gpus.dp.value, 2);
  const too = plan(COUNT, { ...say('cluster.gpus', 192) });
  assert.deepEqual([too.dp.value, too.globalBatchSize.value], [3, 48]);
  assert.equal(plan(COUNT, say('pipeline.size', 4)).microbatches.value, 4);
  assert.equal(plan(COUNT, say('model.layers', 80)).stages.value?.at(-1)?.layers, 10);
  assert.equal(plan(LOCAL, say('batch.micro', 2)).microbatches.value, 8);
  assert.equal(plan(LOCAL, say('pipeline.microbatches', 64)).microbatches.value, 64);
  assert.equal(plan(LOCAL, say('pipeline.virtualStages', 2)).stages.value?.length, 16);
  assert.equal(plan(COUNT, say('parallel.data', 5)).globalBatchSize.value, 80);
  const schedule = plan(COUNT, say('pipeline.schedule', 'interleaved-1f1b'));
  assert.deepEqual([schedule.schedule.value, schedule.vpp.value], ['interleaved-1f1b', 2]);
});

test('claims torchtitan in every era, and no other TOML', () => {
  const claims = (text: string, path = FILE) => torchtitanReader.claims(path, text);
  assert.ok(claims('[experimental]\npipeline_parallel_degree = 2\n'));
  assert.ok(claims('\uFEFF[parallelism]\r\ntensor_parallel_degree = 2\r\n'));
  assert.ok(claims('[model]\nflavor = "8B"\n[training]\nsteps = 10\n'));
  for (const other of [
    '[project]\nname = "torchtitan"\n',
    '[package]\nname = "x"\n[dependencies]\nserde = "1"\n',
    '[tool.black]\nline-length = 100\n[training]\nsteps = 1\n',
    '[training]\nsteps = 10\nbatch_size = 4\n',
    '# [parallelism]\n# pipeline_parallel_degree = 2\n',
    'pipeline_parallel_degree = 2\n',
    '',
  ]) {
    assert.equal(claims(other), false, other);
  }
  assert.equal(claims('[parallelism]\npipeline_parallel_degree = 2\n', 'run.yaml'), false);
});

test('a GPU count in a comment counts only where it is the whole run', () => {
  const count = (comment: string) => plan(`${comment}\n[parallelism]\npipeline_parallel_degree = 2\n`).gpus.value;
  assert.equal(count('# NOTE: this toml config is a preset for 128 H100 GPUs.'), 128);
  assert.equal(count('# preset for 8 H100 GPUs (with 96GiB memory).'), 8);
  assert.equal(count('# 512 x H100-SXM GPUs'), 512);
  for (const other of [
    '# 4 nodes with 8 GPUs',
    '# 8 GPUs per node',
    '# 8 or 16 GPUs',
    '# needs at least 8 GPUs',
    '#',
  ]) {
    assert.equal(count(other), null, other);
  }
  assert.equal(count('# preset for 64 GPUs\n# tested on 128 GPUs'), null);
  assert.equal(plan('[parallelism] # 8 GPUs\npipeline_parallel_degree = 2\n').gpus.value, null);
});
