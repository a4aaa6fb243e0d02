/** The surfaces in a real editor: all of them show the same numbers, live, and the numbers are the facade's. */

import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { closeAll, eventually, expected, hoverOver, openConfig, replace, surfaces } from './editor-support.ts';
import type { HostTest } from './host-test.ts';

const PLAN = `bubblelens: 1
name: tried out
pipeline: { size: 4, schedule: 1f1b, microbatches: 8 }
parallel: { tensor: 1, data: 1 }
model: { layers: 32 }
`;

/** Every surface holds the numbers that the facade computes from the text as it stands. */
async function agree(document: vscode.TextDocument): Promise<string> {
  const analysis = await expected(document);
  const texts = analysis.plans[0]?.texts;
  assert.ok(texts);
  const shown = await surfaces(document);
  const findings = [...analysis.problems, ...analysis.plans.flatMap((plan) => plan.findings)];
  assert.deepEqual(shown.codes, findings.map((finding) => finding.code).sort());
  assert.deepEqual([...shown.messages].sort(), findings.map((finding) => finding.message).sort());
  assert.deepEqual(shown.hints, [texts.hint]);
  assert.equal(shown.lenses[0], texts.lens);
  const hover = await hoverOver(document, 'size: 4');
  assert.ok(hover.startsWith(texts.hover), hover);
  assert.ok(hover.split(/\n+/).length <= 12, hover);
  assert.ok(texts.hint.includes(texts.headline));
  return texts.headline;
}

export const tests: readonly HostTest[] = [
  {
    name: 'editing the microbatch count changes every surface alike, and undo restores them',
    run: async () => {
      const editor = await openConfig('tried.pipeline.yaml', PLAN);
      const { document } = editor;
      const before = await agree(document);
      await replace(editor, 'microbatches: 8', 'microbatches: 32');
      const after = await agree(document);
      assert.notEqual(after, before);
      await vscode.commands.executeCommand('undo');
      await eventually('undo is analysed', async () => document.getText() === PLAN);
      assert.equal(await agree(document), before);
      await closeAll();
    },
  },
];
