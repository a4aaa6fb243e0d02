/**
 * Runs inside a real VS Code for `npm run bench`: how long activation takes, how long from hearing of a change to its
 * diagnostics being set, and how long the extension host's thread stands still, while configs are opened and typed
 * into. The figures go to a file, for the runner.
 */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { Api } from '../../src/extension.ts';
import { foreignConfig, megatronConfig, nativeConfig, searchedConfig } from './editor-configs.ts';
import { type Blocked, monitorLoop } from './loop-monitor.ts';

const WARM_UP = 20;
/** A brisk typist's pause between two keys. */
const PAUSE_MS = 60;
/** The typing is cut into so many parts: a block that is not in each of them is not the typing's. */
const ROUNDS = 3;

interface Subject {
  readonly what: string;
  readonly language: string;
  readonly text: string;
  readonly edits: number;
  /** The number that is typed over, and what is typed. */
  readonly number: RegExp;
  readonly typed: (edit: number) => string;
  /** The document is nobody's config. */
  readonly foreign?: true;
}

const microbatches = {
  number: /(?<=microbatches: )\d+/,
  typed: (edit: number) => String(edit % 2 === 0 ? 240 : 256),
};

const SUBJECTS: readonly Subject[] = [
  {
    what: 'a YAML that is nobody’s',
    language: 'yaml',
    text: foreignConfig(),
    edits: 100,
    number: /(?<=replicas: )\d+/,
    typed: (edit) => String(edit % 9),
    foreign: true,
  },
  {
    what: 'native YAML, a stage time',
    language: 'yaml',
    text: nativeConfig(256, 10.4),
    edits: 200,
    number: /(?<=forwardMs: )[\d.]+/,
    typed: (edit) => (10 + (edit % 50) / 10).toFixed(1),
  },
  {
    what: 'native YAML, the microbatch count',
    language: 'yaml',
    text: nativeConfig(256, 10.4),
    edits: 200,
    ...microbatches,
  },
  {
    what: 'Megatron-LM script, the batch size',
    language: 'shellscript',
    text: megatronConfig(256),
    edits: 200,
    number: /(?<=--global-batch-size )\d+/,
    typed: (edit) => String(edit % 2 === 0 ? 960 : 1024),
  },
  {
    what: 'searched v-half, pp 32, vpp 2, m 256',
    language: 'yaml',
    text: searchedConfig('v-half', 32, 2, 256),
    edits: 30,
    number: microbatches.number,
    typed: (edit) => String(200 + (edit % 50)),
  },
  {
    what: 'searched zb-2p, pp 16, m 256',
    language: 'yaml',
    text: searchedConfig('zb-2p', 16, 1, 256),
    edits: 30,
    number: microbatches.number,
    typed: (edit) => String(200 + (edit % 50)),
  },
];

export interface TypedInto {
  readonly what: string;
  /** Until the document is analysed; the first of all is the cold one. */
  readonly opening: Blocked;
  readonly typing: readonly Blocked[];
  /** From a change to its diagnostics, in ms. */
  readonly times: readonly number[];
}

export interface EditorFigures {
  readonly editor: string;
  /** Loading the code, and `activate()`: what the editor counts as the time of an activation is their sum. */
  readonly loadMs: number;
  readonly activateMs: number;
  readonly edits: readonly TypedInto[];
  /** A timeline of half a million actions, from the command until it is sent. */
  readonly drawing: Omit<TypedInto, 'opening'>;
}

export async function run(): Promise<void> {
  const extension = vscode.extensions.getExtension<Api>('bubblelens.bubblelens');
  assert.ok(extension && !extension.isActive, 'the extension starts cold');
  const started = performance.now();
  createRequire(path.join(extension.extensionPath, 'package.json'))(extension.packageJSON.main);
  const loadMs = performance.now() - started;
  const api = await extension.activate();
  const edits: TypedInto[] = [];
  for (const subject of SUBJECTS) edits.push(await typeInto(subject, api));
  const drawing = await draw(api);
  const figures: EditorFigures = { editor: vscode.version, loadMs, activateMs: api.activationMs, edits, drawing };
  writeFileSync(process.env.BUBBLELENS_BENCH_RESULTS ?? '', JSON.stringify(figures));
}

async function typeInto(
  { what, language, text, edits, number, typed, foreign }: Subject,
  api: Api,
): Promise<TypedInto> {
  const monitor = monitorLoop();
  const document = await vscode.workspace.openTextDocument({ language, content: text });
  const editor = await vscode.window.showTextDocument(document);
  const first = await api.settled(document);
  assert.ok(foreign || first?.analysis.plans[0]?.report, `${what} is simulated`);
  await sleep(PAUSE_MS);
  const opening = monitor.take();
  const before = api.changeToDiagnosticsMs.length;
  const typing: Blocked[] = [];
  for (let edit = 0; edit < edits + WARM_UP; edit++) {
    const match = number.exec(document.getText());
    assert.ok(match);
    const start = document.positionAt(match.index);
    const range = new vscode.Range(start, document.positionAt(match.index + match[0].length));
    assert.ok(await editor.edit((builder) => builder.replace(range, typed(edit))));
    await api.settled(document);
    await sleep(PAUSE_MS);
    const typedOn = edit + 1 - WARM_UP;
    if (typedOn === 0) monitor.take();
    if (typedOn > 0 && typedOn % Math.floor(edits / ROUNDS) === 0) typing.push(monitor.take());
  }
  monitor.stop();
  const times = api.changeToDiagnosticsMs.slice(before);
  assert.equal(times.length, foreign ? 0 : edits + WARM_UP, 'every edit was answered');
  return { what, opening, typing, times: times.slice(WARM_UP) };
}

async function draw(api: Api): Promise<EditorFigures['drawing']> {
  const text = searchedConfig('interleaved-1f1b', 64, 4, 1024);
  const document = await vscode.workspace.openTextDocument({ language: 'yaml', content: text });
  await vscode.window.showTextDocument(document);
  await api.settled(document);
  const monitor = monitorLoop();
  const times: number[] = [];
  const blocks: Blocked[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const started = performance.now();
    const sent = new Promise<void>((resolve) => {
      const listening = api.onDidPostToTimeline(({ message }) => {
        assert.equal(message.type, 'show');
        listening.dispose();
        resolve();
      });
    });
    await vscode.commands.executeCommand('bubblelens.showTimeline', document.uri.toString());
    await sent;
    times.push(performance.now() - started);
    await sleep(1000);
    blocks.push(monitor.take());
  }
  monitor.stop();
  // The first time the panel itself is made.
  return { what: 'the timeline of 524,288 actions', typing: blocks.slice(1), times: times.slice(1) };
}
