/** The worker's thread as the editor asks it: where there is none, the work is done all the same, and told once. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyse, analyseIfLight, prepare, readerFor } from '../../src/analysis.ts';
import { createThread } from '../../src/editor/thread.ts';
import { DEFAULT_ANALYSIS_SETTINGS } from '../../src/model/settings.ts';

const FILE = 'a.pipeline.yaml';

function input(pipeline: string) {
  const text = `bubblelens: 1\npipeline: { ${pipeline} }\nmodel: { layers: 64 }\n`;
  return { file: FILE, texts: { [FILE]: text }, said: {}, settings: DEFAULT_ANALYSIS_SETTINGS };
}

test('without a worker the work is done in this thread, and a newer request still cancels an older one', async () => {
  const said: string[] = [];
  const failed: string[] = [];
  const log = {
    info: (message: string) => said.push(message),
    failed: (feature: string) => failed.push(feature),
    show: () => undefined,
    dispose: () => undefined,
  };
  const thread = createThread('/nowhere/worker.js', log);
  const asked = input('size: 4, schedule: 1f1b, microbatches: 8');
  const older = thread.ask('a', 'analysis', asked);
  const newer = thread.ask('a', 'analysis', asked);
  const other = thread.ask('b', 'completions', { file: FILE, text: 'bubblelens: 1\n', offset: 14 });
  assert.deepEqual(await older, { status: 'cancelled' });
  const outcome = await newer;
  assert.ok(outcome.status === 'done');
  assert.deepEqual(outcome.value.analysis, analyse(asked));
  assert.equal((await other).status, 'done');
  assert.ok(thread.isMissing());
  assert.equal(said.length, 1);
  assert.ok(failed.every((feature) => feature === 'worker'));
  const late = thread.ask('a', 'analysis', asked);
  thread.cancel('a');
  assert.deepEqual(await late, { status: 'cancelled' });
  thread.dispose();
});

test('only a file whose plans are simulated in a moment is light', async () => {
  const light = input('size: 4, schedule: 1f1b, microbatches: 8');
  await prepare(readerFor(FILE, light.texts[FILE] ?? '')!);
  assert.deepEqual(analyseIfLight(light), analyse(light));
  assert.equal(analyseIfLight(input('size: 64, schedule: 1f1b, microbatches: 1024')), null);
  assert.equal(analyseIfLight(input('size: 32, schedule: v-half, virtualStages: 2, microbatches: 256')), null);
  assert.ok(analyseIfLight(input('size: four')) !== null);
});
