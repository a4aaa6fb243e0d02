/** The palette's commands in a real editor: timeline, report, trace, examples; and the companions of a config. */

import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { explainText } from '../../src/analysis.ts';
import type { ToWebview } from '../../src/model/protocol.ts';
import { api, closeAll, eventually, expected, folderUri, openConfig, replace, surfaces } from './editor-support.ts';
import type { HostTest } from './host-test.ts';

const PLAN = `bubblelens: 1
name: commanded
pipeline: { size: 4, schedule: 1f1b, microbatches: 8 }
model: { layers: 32 }
`;

/** The messages to the timeline of a config, as they are sent. */
async function timelineMessages(config: vscode.Uri): Promise<ToWebview[]> {
  const messages: ToWebview[] = [];
  (await api()).onDidPostToTimeline((post) => {
    if (post.config.toString() === config.toString()) messages.push(post.message);
  });
  return messages;
}

function headline(message: ToWebview | undefined): string | null {
  return message?.type === 'show' ? message.view.headline : null;
}

export const tests: readonly HostTest[] = [
  {
    name: 'the timeline opens beside, shows the same number, follows the text and keeps the last good picture',
    run: async () => {
      const editor = await openConfig('timeline.pipeline.yaml', PLAN);
      const { document } = editor;
      const messages = await timelineMessages(document.uri);
      await vscode.commands.executeCommand('bubblelens.showTimeline');
      const shows = async (what: string) => {
        const wanted = (await expected(document)).plans[0]?.texts.headline;
        assert.ok(wanted);
        await eventually(what, () => headline(messages.at(-1)) === wanted, 15_000);
      };
      await shows('the timeline shows the headline');
      const tab = vscode.window.tabGroups.all
        .flatMap((group) => group.tabs)
        .find((each) => each.label.includes('Timeline'));
      assert.ok(tab?.input instanceof vscode.TabInputWebview);
      assert.equal(vscode.window.activeTextEditor?.document, document, 'the focus stays in the editor');
      await replace(editor, 'microbatches: 8', 'microbatches: 16');
      await shows('the timeline follows');
      await replace(editor, 'microbatches: 16 }', 'microbatches: [ 16');
      assert.equal(messages.at(-1)?.type, 'stale');
      await replace(editor, 'microbatches: [ 16', 'microbatches: 16 }');
      await shows('the timeline is fresh again');
      const versions = messages.map((message) => message.version);
      assert.deepEqual(
        versions,
        [...versions].sort((a, b) => a - b),
      );
      await vscode.commands.executeCommand('bubblelens.showTimeline');
      const timelines = vscode.window.tabGroups.all
        .flatMap((group) => group.tabs)
        .filter((each) => each.input instanceof vscode.TabInputWebview);
      assert.equal(timelines.length, 1, 'one timeline for a document');
    },
  },
  {
    name: 'the report is read-only, says what explain says, and follows the text',
    run: async () => {
      const editor = await openConfig('reported.pipeline.yaml', PLAN);
      const { document } = editor;
      await vscode.commands.executeCommand('bubblelens.explainConfig');
      const report = vscode.workspace.textDocuments.find((each) => each.uri.scheme === 'bubblelens-report');
      assert.ok(report);
      const says = async () => explainText(await expected(document));
      assert.equal(report.getText(), await says());
      await replace(editor, 'microbatches: 8', 'microbatches: 64');
      const wanted = await says();
      await eventually('the report follows', () => report.getText() === wanted);
    },
  },
  {
    name: 'the timeline is written as a Chrome trace',
    run: async () => {
      const { document } = await openConfig('traced.pipeline.yaml', PLAN);
      const target = folderUri('traced.json');
      await vscode.commands.executeCommand('bubblelens.exportTrace', document.uri.toString(), undefined, target);
      const trace = JSON.parse(new TextDecoder().decode(await vscode.workspace.fs.readFile(target)));
      const slices: readonly { ph: string }[] = trace.traceEvents;
      assert.equal(slices.filter((event) => event.ph === 'X').length, 4 * 8 * 2);
    },
  },
  {
    name: 'an example opens as an unsaved copy that is analysed',
    run: async () => {
      await closeAll();
      await vscode.commands.executeCommand('bubblelens.openExample', 'measured.pipeline.yaml');
      const document = vscode.window.activeTextEditor?.document;
      assert.ok(document);
      assert.equal(document.uri.scheme, 'untitled');
      const shipped = vscode.extensions.getExtension('bubblelens.bubblelens')?.extensionUri;
      assert.ok(shipped);
      const original = vscode.Uri.joinPath(shipped, 'examples', 'measured.pipeline.yaml');
      assert.equal(document.getText(), new TextDecoder().decode(await vscode.workspace.fs.readFile(original)));
      await (await api()).settled(document);
      assert.equal((await surfaces(document)).hints.length, 1);
      await closeAll();
    },
  },
];
