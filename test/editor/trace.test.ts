/** The Chrome trace holds every action once, on its rank, at its time. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { analyse, prepare, readerFor, timelineOf } from '../../src/analysis.ts';
import { DEFAULT_ANALYSIS_SETTINGS } from '../../src/model/settings.ts';
import { chromeTrace } from '../../src/sim/chrome-trace.ts';

interface Event {
  readonly name: string;
  readonly ph: 'X' | 'M';
  readonly tid: number;
  readonly ts?: number;
  readonly dur?: number;
  readonly args: Readonly<Record<string, unknown>>;
}

test('a trace has one slice for each action and one thread for each rank', async () => {
  const file = 'a.pipeline.yaml';
  const text = 'bubblelens: 1\npipeline: { size: 2, schedule: 1f1b, microbatches: 3 }\nmodel: { layers: 2 }\n';
  const reader = readerFor(file, text);
  assert.ok(reader);
  await prepare(reader);
  const analysis = analyse({ file, texts: { [file]: text }, said: {}, settings: DEFAULT_ANALYSIS_SETTINGS });
  const timeline = analysis.plans[0] && timelineOf(analysis.plans[0]).timeline;
  assert.ok(timeline);
  const { traceEvents }: { traceEvents: readonly Event[] } = JSON.parse(chromeTrace(timeline));
  const slices = traceEvents.filter((event) => event.ph === 'X');
  assert.equal(slices.length, 2 * 3 * 2);
  assert.deepEqual(
    slices.filter((event) => event.tid === 1).map((event) => event.name),
    ['F1.0', 'B1.0', 'F1.1', 'B1.1', 'F1.2', 'B1.2'],
  );
  const end = Math.max(...slices.map((event) => (event.ts ?? 0) + (event.dur ?? 0)));
  assert.ok(Math.abs(end - timeline.makespan * 1000) < 1e-6 * end);
  assert.ok(slices.every((event) => (event.dur ?? 0) > 0 && (event.ts ?? -1) >= 0));
  const threads = traceEvents.filter((event) => event.name === 'thread_name').map((event) => event.args.name);
  assert.deepEqual(threads, ['rank 0', 'rank 1']);
});
