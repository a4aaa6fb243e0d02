/** The worker: the same answers as in this thread, and none that nobody wants any more. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { buildSync } from 'esbuild';
import { variationOf } from '../../src/sim/jitter.ts';
import { price } from '../../src/sim/ops.ts';
import { pipelineReport, programOf } from '../../src/sim/simulate.ts';
import { workerClient } from '../../src/worker/client.ts';
import { runJob } from '../../src/worker/jobs.ts';
import type { Simulation } from '../../src/worker/protocol.ts';
import { equalCosts, shapeOf } from './shapes.ts';

const folder = mkdtempSync(join(tmpdir(), 'bubblelens-worker-'));
const file = join(folder, 'worker.js');
buildSync({
  entryPoints: [join(process.cwd(), 'src/worker/main.ts')],
  outfile: file,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
});
after(() => rmSync(folder, { recursive: true, force: true }));

function simulation(microbatches: number, pp = 4): Simulation {
  const shape = shapeOf('1f1b', pp, microbatches);
  return { shape, costs: equalCosts(shape, [1, 1.5, 0.5, 0.25]), options: {} };
}

const noise = { sigma: 0.1, samples: 50, seed: 3, factors: { ranks: null, microbatches: null } };

test('a worker answers as this thread does', async () => {
  const client = workerClient(file);
  try {
    const asked = simulation(24);
    const here = pipelineReport(asked.shape, asked.costs);
    assert.ok(here.ok && here.timeline !== null);
    assert.deepEqual(await client.ask('a', 'report', asked), { status: 'done', value: here.report });
    // Twice: what is sent away must not be missing the next time.
    for (let time = 0; time < 2; time++) {
      const there = await client.ask('a', 'timeline', asked);
      assert.deepEqual(there, { status: 'done', value: here.timeline });
    }
    const compiled = programOf(asked.shape, asked.costs, {});
    assert.ok(compiled.ok);
    const varied = variationOf(compiled.program, price(compiled.program.ops, asked.costs, 1), noise);
    assert.deepEqual(await client.ask('a', 'variation', { ...asked, noise }), { status: 'done', value: varied });
    const refused = await client.ask('a', 'report', { ...asked, shape: { ...asked.shape, pp: 0 } });
    assert.ok(refused.status === 'refused' && refused.reason.includes('pipeline size'));
  } finally {
    await client.dispose();
  }
});

test('a newer request about the same topic cancels the one before, and others go on', async () => {
  const client = workerClient(file);
  try {
    const long = { ...simulation(2000, 16), noise: { ...noise, samples: 1_000_000 } };
    const started = performance.now();
    const first = client.ask('panel', 'variation', long);
    const second = client.ask('panel', 'variation', long);
    const other = client.ask('other', 'report', simulation(8));
    const third = client.ask('panel', 'variation', { ...simulation(8), noise });
    assert.deepEqual(await first, { status: 'cancelled' });
    assert.deepEqual(await second, { status: 'cancelled' });
    assert.equal((await other).status, 'done');
    assert.equal((await third).status, 'done');
    // In full the first alone would take a minute.
    assert.ok(performance.now() - started < 20_000);
    const dropped = client.ask('panel', 'variation', long);
    client.cancel('panel');
    assert.deepEqual(await dropped, { status: 'cancelled' });
  } finally {
    await client.dispose();
  }
});

test('a running job stops when its flag is raised', () => {
  let asked = 0;
  const ask = { ...simulation(2000, 16), noise: { ...noise, samples: 100_000 } };
  const outcome = runJob({ kind: 'variation', ask }, () => ++asked > 2);
  assert.deepEqual(outcome, { status: 'cancelled' });
  assert.equal(asked, 3);
});

test('a worker that dies refuses what is open, and the next request starts another', async () => {
  const broken = join(folder, 'broken.js');
  writeFileSync(broken, "require('node:worker_threads').parentPort.on('message', () => { throw new Error('no'); });");
  const client = workerClient(broken);
  const outcome = await client.ask('a', 'report', simulation(4));
  assert.ok(outcome.status === 'refused' && outcome.reason === 'the worker failed: no');
  assert.equal((await client.ask('a', 'report', simulation(4))).status, 'refused');
  await client.dispose();
});
