/** Long work in a real editor: it is done in the worker's thread, what is out of date is dropped, a death is survived. */

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import { fittedHint } from '../../src/editor/surfaces.ts';
import type { ToWebview } from '../../src/model/protocol.ts';
import { api, eventually, expected, openConfig, ourDiagnostics, replace, surfaces } from './editor-support.ts';
import type { HostTest } from './host-test.ts';

/** Its order is searched for, which takes a second or more. */
const SLOW = `bubblelens: 1
name: searched
pipeline: { size: 128, schedule: zb-1p, microbatches: 1000 }
model: { layers: 256 }
transfer: { ms: 0.4 }
`;

const SMALL = `bubblelens: 1
pipeline: { size: 4, schedule: 1f1b, microbatches: 8 }
model: { layers: 32 }
`;

/** A search has begun, and has not ended. */
const AMID_MS = 220;

async function type(editor: vscode.TextEditor, from: string, to: string): Promise<void> {
  const { document } = editor;
  const offset = document.getText().indexOf(from);
  assert.ok(offset >= 0);
  const range = new vscode.Range(document.positionAt(offset), document.positionAt(offset + from.length));
  assert.ok(await editor.edit((edit) => edit.replace(range, to)));
}

/** Every surface holds the numbers of the text as it stands. */
async function agree(document: vscode.TextDocument): Promise<string> {
  const told = await expected(document);
  const texts = told.plans[0]?.texts;
  assert.ok(texts && told.plans[0]?.report);
  const shown = await surfaces(document);
  assert.deepEqual(shown.hints, [fittedHint(texts.hint, { stale: null })]);
  assert.equal(shown.lenses[0], texts.lens);
  assert.deepEqual(
    [...shown.messages].sort(),
    [...told.problems, ...told.plans.flatMap((plan) => plan.findings)].map((finding) => finding.message).sort(),
  );
  return texts.headline;
}

async function timelineOf(document: vscode.TextDocument): Promise<ToWebview[]> {
  const messages: ToWebview[] = [];
  (await api()).onDidPostToTimeline(({ config, message }) => {
    if (config.toString() === document.uri.toString()) messages.push(message);
  });
  await vscode.commands.executeCommand('bubblelens.showTimeline');
  return messages;
}

export const tests: readonly HostTest[] = [
  {
    name: 'a slow plan is analysed in the worker, reaches every surface, and is cancelled by further typing',
    timeoutMs: 90_000,
    run: async () => {
      const editor = await openConfig('slow.pipeline.yaml', SLOW);
      const { document } = editor;
      const { onDidAnalyse, settled } = await api();
      assert.equal((await settled(document))?.where, 'worker');
      await agree(document);
      const messages = await timelineOf(document);
      await eventually('the timeline is drawn', () => messages.at(-1)?.type === 'show', 15_000);
      const versions: number[] = [];
      const listening = onDidAnalyse(({ place, version }) => {
        if (place.uri.toString() === document.uri.toString()) versions.push(version);
      });
      await type(editor, 'microbatches: 1000', 'microbatches: 990');
      await sleep(AMID_MS);
      await type(editor, 'microbatches: 990', 'microbatches: 980');
      await sleep(AMID_MS);
      await type(editor, 'microbatches: 980', 'microbatches: 970');
      const result = await settled(document);
      listening.dispose();
      assert.deepEqual(versions, [document.version], 'only the last text was answered');
      assert.equal(result?.version, document.version);
      assert.equal(result?.where, 'worker');
      const headline = await agree(document);
      await eventually(
        'the timeline follows',
        () => {
          const last = messages.at(-1);
          return last?.type === 'show' && last.view.headline === headline;
        },
        15_000,
      );
    },
  },
  {
    name: 'the death of the worker is survived, whether it works or waits',
    timeoutMs: 90_000,
    run: async () => {
      const editor = await openConfig('dying.pipeline.yaml', SLOW);
      const { document } = editor;
      const { loseThread, settled } = await api();
      await type(editor, 'microbatches: 1000', 'microbatches: 990');
      await sleep(AMID_MS);
      await loseThread();
      const result = await settled(document);
      assert.equal(result?.version, document.version);
      await agree(document);
      await loseThread();
      await replace(editor, 'schedule: zb-1p', 'schedule: 1f1b');
      assert.equal((await settled(document))?.where, 'worker');
      await agree(document);
      assert.ok(ourDiagnostics(document.uri).every(({ message }) => !message.startsWith('Not analysed')));
    },
  },
  {
    name: 'a small document is analysed in the change event once it was tried in a quiet moment',
    timeoutMs: 120_000,
    run: async () => {
      const editor = await openConfig('small.pipeline.yaml', SMALL);
      const { document } = editor;
      const { settled } = await api();
      assert.equal((await settled(document))?.where, 'worker', 'the first time is a cold one');
      let count = 8;
      const next = async (): Promise<string | undefined> => {
        await replace(editor, `microbatches: ${count}`, `microbatches: ${count + 1}`);
        count++;
        return (await settled(document))?.where;
      };
      // A busy machine can make any one analysis slow, and the next one then goes to the worker again.
      let where = await next();
      for (let round = 0; round < 12 && where !== 'here'; round++) {
        for (let warm = 0; warm < 5; warm++) await next();
        await sleep(5000);
        where = await next();
      }
      assert.equal(where, 'here');
      await agree(document);
      await replace(editor, 'size: 4, schedule: 1f1b', 'size: 32, schedule: v-half, virtualStages: 2');
      assert.equal((await settled(document))?.where, 'worker', 'a long search is not begun in the editor');
    },
  },
  {
    name: 'a run too long to draw has its numbers, and the timeline says why it is empty',
    run: async () => {
      const { document } = await openConfig('long.pipeline.yaml', SMALL.replace('8 }', '10000000 }'));
      await agree(document);
      const messages = await timelineOf(document);
      await eventually('the page is told', () => messages.length > 0, 15_000);
      const last = messages.at(-1);
      assert.equal(last?.type, 'empty');
      assert.match(last?.type === 'empty' ? last.reason : '', /^too long to draw: 80,000,000 actions/);
    },
  },
];
