/** The surfaces in a real editor: all of them show the same numbers, live, and the numbers are the facade's. */

import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { fittedHint } from '../../src/editor/surfaces.ts';
import type { Analysis } from '../../src/model/analysis.ts';
import { DEFAULT_ANALYSIS_SETTINGS } from '../../src/model/settings.ts';
import {
  api,
  closeAll,
  completionLabels,
  eventually,
  expected,
  fixTitles,
  folderUri,
  hoverOver,
  openConfig,
  openUntitled,
  ourDiagnostics,
  replace,
  setSetting,
  surfaces,
} from './editor-support.ts';
import type { HostTest } from './host-test.ts';

const PLAN = `bubblelens: 1
name: tried out
pipeline: { size: 4, schedule: 1f1b, microbatches: 8 }
parallel: { tensor: 1, data: 1 }
model: { layers: 32 }
`;

const TIMED = `bubblelens: 1
pipeline: { size: 2, schedule: 1f1b, microbatches: 8 }
stages:
  - { forwardMs: 10, backwardMs: 20 }
  - { forwardMs: 10, backwardMs: 20 }
`;

/** Every surface holds the numbers that the facade computes from the text as it stands; returns the headline. */
async function agree(document: vscode.TextDocument, analysis?: Analysis): Promise<string> {
  const told = analysis ?? (await expected(document));
  const texts = told.plans[0]?.texts;
  assert.ok(texts);
  const shown = await surfaces(document);
  const findings = [...told.problems, ...told.plans.flatMap((plan) => plan.findings)];
  assert.deepEqual(shown.codes, findings.map((finding) => finding.code).sort());
  assert.deepEqual([...shown.messages].sort(), findings.map((finding) => finding.message).sort());
  assert.deepEqual(shown.hints, [fittedHint(texts.hint, { stale: null })]);
  assert.deepEqual(shown.lenses, [texts.lens, ...(texts.lensAsk === null ? [] : [texts.lensAsk.title])]);
  const hover = await hoverOver(document, 'size:', 6);
  assert.ok(hover.startsWith(texts.hover.replaceAll('\n\n', '  \n')), hover);
  assert.ok(hover.split(/\n+/).length <= 12, hover);
  assert.ok(texts.hint.startsWith(texts.headline) && texts.lens.includes(texts.headline));
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
      await eventually('the undo arrives', () => document.getText() === PLAN);
      await (await api()).settled(document);
      assert.equal(await agree(document), before);
    },
  },
  {
    name: 'a squiggle covers the token, links to its page and goes when the file is read as something else',
    run: async () => {
      const editor = await openConfig('squiggle.pipeline.yaml', PLAN.replace('1f1b', '2f2b'));
      const { document } = editor;
      const [diagnostic] = ourDiagnostics(document.uri);
      assert.ok(diagnostic);
      assert.equal(document.getText(diagnostic.range), '2f2b');
      assert.equal(diagnostic.severity, vscode.DiagnosticSeverity.Error);
      assert.ok(typeof diagnostic.code === 'object');
      assert.equal(diagnostic.code.value, 'unknown-schedule');
      const page = await vscode.workspace.fs.readFile(diagnostic.code.target);
      assert.ok(page.length > 0);
      await vscode.languages.setTextDocumentLanguage(document, 'plaintext');
      await eventually('the squiggle goes with the language', () => ourDiagnostics(document.uri).length === 0);
    },
  },
  {
    name: 'squiggles go when the file is closed',
    run: async () => {
      const uri = folderUri('closed.pipeline.yaml');
      await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(PLAN));
      await vscode.commands.executeCommand('vscode.open', uri);
      await eventually('there is a squiggle', () => ourDiagnostics(uri).length > 0);
      await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
      await eventually('the squiggle goes', () => ourDiagnostics(uri).length === 0, 15_000);
    },
  },
  {
    name: 'a broken text keeps the last good numbers, marked, and shows what is broken',
    run: async () => {
      const editor = await openConfig('broken.pipeline.yaml', PLAN);
      const { document } = editor;
      const { hints, lenses } = await surfaces(document);
      await replace(editor, 'bubblelens: 1', '# a line more\nbubblelens: 1');
      await replace(editor, 'microbatches: 8 }', 'microbatches: [ 8');
      const broken = await surfaces(document);
      assert.ok(broken.codes.includes('syntax-error'), broken.codes.join());
      assert.deepEqual(broken.hints, [fittedHint(hints[0] ?? '', { stale: 'broken' })]);
      assert.match(broken.hints[0] ?? '', /idle.* \(last good\)$/);
      assert.deepEqual(broken.lenses, [`${lenses[0]} (last good)`]);
      assert.deepEqual(broken.lensLines, [3]);
      assert.match(await hoverOver(document, 'size:', 6), /Last good numbers/);
      await replace(editor, 'microbatches: [ 8', 'microbatches: 8 }');
      await agree(document);
    },
  },
  {
    name: 'each surface can be switched off and on again without a reload',
    run: async () => {
      const { document } = await openConfig('switched.pipeline.yaml', PLAN);
      await agree(document);
      const off: readonly [string, (shown: Awaited<ReturnType<typeof surfaces>>) => readonly string[]][] = [
        ['diagnostics', ({ codes }) => codes],
        ['inlayHints', ({ hints }) => hints],
        ['codeLens', ({ lenses }) => lenses],
      ];
      for (const [surface, of] of off) {
        await setSetting(`${surface}.enabled`, false);
        await eventually(`${surface} goes`, async () => of(await surfaces(document)).length === 0);
        await setSetting(`${surface}.enabled`, undefined);
        await eventually(`${surface} is back`, async () => of(await surfaces(document)).length > 0);
      }
      await setSetting('hover.enabled', false);
      await eventually('hover goes', async () => (await hoverOver(document, 'size:', 6)) === '');
      await setSetting('hover.enabled', undefined);
      await agree(document);
    },
  },
  {
    name: 'price and thresholds apply at once',
    run: async () => {
      const { document } = await openConfig('priced.pipeline.yaml', `${TIMED}cluster: { gpus: 16 }\n`);
      const settled = async () => (await api()).settled(document);
      await setSetting('price.usdPerGpuHour', 2);
      const priced = { ...DEFAULT_ANALYSIS_SETTINGS, usdPerGpuHour: 2 };
      await eventually('the price arrives', async () => (await settled())?.input.settings.usdPerGpuHour === 2);
      const told = await expected(document, {}, priced);
      assert.match(told.plans[0]?.texts.hint ?? '', /\$\d/);
      await agree(document, told);
      await setSetting('price.usdPerGpuHour', undefined);
      assert.ok((await surfaces(document)).codes.length > 0);
      await setSetting('thresholds.idleShare', 0.9);
      await eventually('the warning goes', async () => (await surfaces(document)).codes.length === 0);
      await setSetting('thresholds.idleShare', undefined);
      await eventually('the warning is back', async () => (await surfaces(document)).codes.length > 0);
    },
  },
  {
    name: 'the GPU count is asked for, remembered for the file, and forgotten again',
    run: async () => {
      const { document } = await openConfig(
        'counted.pipeline.yaml',
        PLAN.replace('parallel: { tensor: 1, data: 1 }\n', ''),
      );
      const asked = await surfaces(document);
      assert.match(asked.lenses[1] ?? '', /GPU count/);
      await vscode.commands.executeCommand('bubblelens.setGpuCount', document.uri.toString(), undefined, 64);
      await agree(document, await expected(document, { 'cluster.gpus': { value: 64, by: 'Set GPU Count' } }));
      const result = await (await api()).settled(document);
      assert.equal(result?.analysis.plans[0]?.plan.gpus.value, 64);
      assert.equal((await surfaces(document)).lenses.length, 1);
      await vscode.commands.executeCommand('bubblelens.setGpuCount', document.uri.toString(), undefined, null);
      assert.deepEqual((await surfaces(document)).lenses, asked.lenses);
    },
  },
  {
    name: 'the light bulb offers simulated edits that keep their promise',
    run: async () => {
      const editor = await openConfig('mended.pipeline.yaml', PLAN);
      const { document } = editor;
      const [diagnostic] = ourDiagnostics(document.uri);
      assert.ok(diagnostic);
      const actions = await fixTitles(document, diagnostic.range);
      const [action] = actions;
      assert.ok(action?.edit, 'there is a fix');
      const promised = /to ([\d.]+ %)/.exec(action.title)?.[1];
      assert.ok(promised, action.title);
      assert.ok(await vscode.workspace.applyEdit(action.edit));
      await (await api()).settled(document);
      assert.ok((await agree(document)).startsWith(promised));
      await vscode.commands.executeCommand('undo');
      await eventually('one undo takes it back', () => document.getText() === PLAN);
    },
  },
  {
    name: 'native files are completed',
    run: async () => {
      const editor = await openConfig('typed.pipeline.yaml', 'bubblelens: 1\npipeline:\n  size: 4\n  schedule: \n');
      const { document } = editor;
      const words = await completionLabels(document, new vscode.Position(3, 12));
      assert.ok(words.includes('1f1b') && words.includes('interleaved-1f1b'), words.join());
      const keys = await completionLabels(document, new vscode.Position(4, 0));
      assert.ok(keys.includes('cluster') && !keys.includes('pipeline'), keys.join());
    },
  },
  {
    name: 'a document without a file is read too, and a file of somebody else is left alone',
    run: async () => {
      const untitled = await openUntitled('yaml', PLAN);
      await agree(untitled);
      const { document } = await openConfig('compose.yaml', 'services:\n  web: { image: nginx, pipeline: 4 }\n');
      const shown = await surfaces(document);
      assert.deepEqual([shown.codes, shown.hints, shown.lenses], [[], [], []]);
      assert.equal(await hoverOver(document, 'pipeline', 0), '');
    },
  },
  {
    name: 'a byte order mark and CRLF leave every range on its token',
    run: async () => {
      const text = `\uFEFF${PLAN.replace('microbatches: 8', 'microbatches: 0')}`.replaceAll('\n', '\r\n');
      const { document } = await openConfig('marked.pipeline.yaml', text);
      const [diagnostic] = ourDiagnostics(document.uri);
      assert.ok(diagnostic);
      assert.equal(document.getText(diagnostic.range), '0');
      assert.deepEqual((await surfaces(document)).lensLines, [2]);
    },
  },
  {
    name: 'bad text is answered with a squiggle or with nothing, and the document lives on',
    run: async () => {
      const bad = ['', '\0\0\0', '{'.repeat(5000), PLAN.replace('size: 4', 'size: 1e9'), PLAN.replace('4', '-1')];
      bad.push('a: &a [*a, *a]\nbubblelens: 1\n', `${PLAN}pipeline: { size: 2 }\n`, `${PLAN}__proto__: { size: 2 }\n`);
      const editor = await openConfig('bad.pipeline.yaml', PLAN);
      const { document } = editor;
      for (const text of bad) {
        const whole = new vscode.Range(0, 0, document.lineCount, 0);
        assert.ok(await editor.edit((edit) => edit.replace(whole, text)));
        const result = await (await api()).settled(document);
        assert.equal(result?.analysis.reader, 'native', JSON.stringify(text.slice(0, 40)));
        await surfaces(document);
      }
      await editor.edit((edit) => edit.replace(new vscode.Range(0, 0, document.lineCount, 0), PLAN));
      await (await api()).settled(document);
      await agree(document);
    },
  },
  {
    name: 'a file of 20 MB is refused in one line',
    timeoutMs: 90_000,
    run: async () => {
      const text = `${PLAN}${'# a comment that goes on for eighty characters, more or less, as they do ......\n'.repeat(260_000)}`;
      assert.ok(text.length > 20e6);
      const { document } = await openConfig('large.pipeline.yaml', text);
      const found = ourDiagnostics(document.uri);
      assert.equal(found.length, 1);
      assert.match(found[0]?.message ?? '', /^Not read: the file has [^\n]+ characters, more than [^\n]+$/);
      assert.deepEqual((await surfaces(document)).hints, []);
      await closeAll();
      await vscode.workspace.fs.delete(document.uri);
    },
  },
];
