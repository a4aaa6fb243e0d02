/**
 * Runs inside a real VS Code for `npm run bench`: how long activation takes, and how long from hearing of a change to
 * its diagnostics being set, while a 500-line config is typed into. The figures go to a file, for the runner.
 */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { Api } from '../../src/extension.ts';
import { megatronConfig, nativeConfig } from './editor-configs.ts';

const EDITS = 200;
const WARM_UP = 20;
/** A brisk typist's pause between two keys. */
const PAUSE_MS = 60;

interface Subject {
  readonly what: string;
  readonly language: string;
  readonly text: string;
  /** The number that is typed over, and what is typed. */
  readonly number: RegExp;
  readonly typed: (edit: number) => string;
}

const SUBJECTS: readonly Subject[] = [
  {
    what: 'native YAML, a stage time',
    language: 'yaml',
    text: nativeConfig(256, 10.4),
    number: /(?<=forwardMs: )[\d.]+/,
    typed: (edit) => (10 + (edit % 50) / 10).toFixed(1),
  },
  {
    what: 'native YAML, the microbatch count',
    language: 'yaml',
    text: nativeConfig(256, 10.4),
    number: /(?<=microbatches: )\d+/,
    typed: (edit) => String(edit % 2 === 0 ? 240 : 256),
  },
  {
    what: 'Megatron-LM script, the batch size',
    language: 'shellscript',
    text: megatronConfig(256),
    number: /(?<=--global-batch-size )\d+/,
    typed: (edit) => String(edit % 2 === 0 ? 960 : 1024),
  },
];

export interface EditorFigures {
  readonly editor: string;
  /** Loading the code, and `activate()`: what the editor counts as the time of an activation is their sum. */
  readonly loadMs: number;
  readonly activateMs: number;
  readonly edits: readonly { readonly what: string; readonly times: readonly number[] }[];
}

export async function run(): Promise<void> {
  const extension = vscode.extensions.getExtension<Api>('bubblelens.bubblelens');
  assert.ok(extension && !extension.isActive, 'the extension starts cold');
  const started = performance.now();
  createRequire(path.join(extension.extensionPath, 'package.json'))(extension.packageJSON.main);
  const loadMs = performance.now() - started;
  const api = await extension.activate();
  const edits: { what: string; times: readonly number[] }[] = [];
  for (const subject of SUBJECTS) edits.push({ what: subject.what, times: await typeInto(subject, api) });
  const figures: EditorFigures = { editor: vscode.version, loadMs, activateMs: api.activationMs, edits };
  writeFileSync(process.env.BUBBLELENS_BENCH_RESULTS ?? '', JSON.stringify(figures));
}

async function typeInto({ language, text, number, typed }: Subject, api: Api): Promise<readonly number[]> {
  const document = await vscode.workspace.openTextDocument({ language, content: text });
  const editor = await vscode.window.showTextDocument(document);
  const first = await api.settled(document);
  assert.ok(first?.analysis.plans[0]?.report, 'the config is simulated');
  const before = api.changeToDiagnosticsMs.length;
  for (let edit = 0; edit < EDITS + WARM_UP; edit++) {
    const match = number.exec(document.getText());
    assert.ok(match);
    const start = document.positionAt(match.index);
    const range = new vscode.Range(start, document.positionAt(match.index + match[0].length));
    assert.ok(await editor.edit((builder) => builder.replace(range, typed(edit))));
    await api.settled(document);
    await sleep(PAUSE_MS);
  }
  const times = api.changeToDiagnosticsMs.slice(before);
  assert.equal(times.length, EDITS + WARM_UP, 'every edit was answered');
  return times.slice(WARM_UP);
}
