/** The worker: the same answers as in this thread, and none that nobody wants any more. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { buildSync } from 'esbuild';
import { analyse, explainText, prepare, readerFor, timelineView, withFixes } from '../../src/analysis.ts';
import { DEFAULT_ANALYSIS_SETTINGS } from '../../src/model/settings.ts';
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
  mainFields: ['module', 'main'],
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

test('a running job stops when its flag is raised', async () => {
  let asked = 0;
  const ask = { ...simulation(2000, 16), noise: { ...noise, samples: 100_000 } };
  const outcome = await runJob({ kind: 'variation', ask }, () => ++asked > 2);
  assert.deepEqual(outcome, { status: 'cancelled' });
  assert.equal(asked, 3);
});

/** A worker of a few lines: it lives, and does with each job what `act` says. */
function script(name: string, act: string): string {
  const path = join(folder, name);
  writeFileSync(
    path,
    `const { parentPort } = require('node:worker_threads');
     const fs = require('node:fs');
     parentPort.on('message', ({ sequence, job }) => {
       const answer = (value) => parentPort.postMessage({ sequence, outcome: { status: 'done', value } });
       ${act}
     });
     parentPort.postMessage({ alive: true });`,
  );
  return path;
}

test('a job that a worker dies of is tried twice, and those that wait are served by the next', async () => {
  const deaths: string[] = [];
  const act = "if (job.ask.shape.pp === 1) throw new Error('no\\nmore'); answer(job.ask.shape.pp);";
  const client = workerClient(script('dies.js', act), { onLost: (reason) => deaths.push(reason) });
  try {
    const bad = client.ask('bad', 'report', simulation(4, 1));
    const good = client.ask('good', 'report', simulation(4, 2));
    assert.deepEqual(await bad, { status: 'lost', reason: 'the worker failed: no', lived: true });
    assert.deepEqual(await good, { status: 'done', value: 2 });
    assert.deepEqual(deaths, ['the worker failed: no', 'the worker failed: no']);
  } finally {
    await client.dispose();
  }
});

test('a worker that dies once loses nothing', async () => {
  const once = join(folder, 'died');
  const act = `if (!fs.existsSync(${JSON.stringify(once)})) { fs.writeFileSync(${JSON.stringify(once)}, ''); process.exit(3); } answer(7);`;
  const client = workerClient(script('once.js', act));
  try {
    assert.deepEqual(await client.ask('a', 'report', simulation(4)), { status: 'done', value: 7 });
  } finally {
    await client.dispose();
  }
});

test('a worker that takes too much memory ends alone', async () => {
  const act =
    'if (job.ask.shape.pp === 2) return answer(2); const all = []; for (;;) all.push(new Array(1e5).fill(job));';
  const client = workerClient(script('hungry.js', act), { resourceLimits: { maxOldGenerationSizeMb: 32 } });
  try {
    const outcome = await client.ask('a', 'report', simulation(4));
    assert.ok(outcome.status === 'lost' && /memory/.test(outcome.reason), JSON.stringify(outcome));
    assert.equal((await client.ask('a', 'report', simulation(4, 2))).status, 'done');
  } finally {
    await client.dispose();
  }
});

test('a job that nobody wants is ended when others have waited long enough', async () => {
  const client = workerClient(script('endless.js', 'if (job.ask.shape.pp === 2) return answer(2); for (;;);'), {
    patienceMs: 50,
  });
  try {
    const endless = client.ask('a', 'report', simulation(4));
    const newer = client.ask('a', 'report', simulation(4, 2));
    assert.deepEqual(await endless, { status: 'cancelled' });
    assert.deepEqual(await newer, { status: 'done', value: 2 });
  } finally {
    await client.dispose();
  }
});

test('a worker that never lived says so', async () => {
  const client = workerClient(join(folder, 'missing.js'));
  const outcome = await client.ask('a', 'report', simulation(4));
  assert.ok(outcome.status === 'lost' && !outcome.lived);
  await client.dispose();
});

test('a file is analysed, explained and drawn in a worker as in this thread', async () => {
  const client = workerClient(file);
  try {
    const name = 'a.pipeline.yaml';
    const text = 'bubblelens: 1\npipeline: { size: 4, schedule: 1f1b, microbatches: 4 }\nmodel: { layers: 32 }\n';
    const input = { file: name, texts: { [name]: text }, said: {}, settings: DEFAULT_ANALYSIS_SETTINGS };
    await prepare(readerFor(name, text)!);
    const here = analyse(input);
    const there = await client.ask('a', 'analysis', input);
    assert.ok(there.status === 'done');
    assert.deepEqual(there.value.analysis, here);
    const { analysis } = there.value;
    const [plan] = analysis.plans;
    assert.ok(plan);
    const fixed = withFixes(input, here);
    assert.ok(fixed.plans[0]!.findings.some((finding) => finding.fixes.length > 0));
    assert.deepEqual(await client.ask('a', 'fixes', { input, analysis }), { status: 'done', value: fixed });
    // Twice: what is sent away must not be missing the next time.
    for (let time = 0; time < 2; time++) {
      const value = timelineView(here, '');
      assert.deepEqual(await client.ask('a', 'view', { analysis, planId: '' }), { status: 'done', value });
    }
    const trace = await client.ask('a', 'trace', plan);
    assert.ok(trace.status === 'done');
    assert.equal(JSON.parse(new TextDecoder().decode(trace.value)).traceEvents.length, 4 + 4 * 4 * 2);
    const explained = await client.ask('a', 'explanation', analysis);
    assert.deepEqual(explained, { status: 'done', value: explainText(here) });
    const completed = await client.ask('a', 'completions', { file: name, text, offset: text.length });
    assert.ok(completed.status === 'done' && completed.value.some((each) => each.label === 'cluster'));
    const nobodys = { ...input, file: 'a.txt', texts: { 'a.txt': '' } };
    const none = await client.ask('a', 'analysis', nobodys);
    assert.ok(none.status === 'done' && none.value.analysis.reader === null);
  } finally {
    await client.dispose();
  }
});
