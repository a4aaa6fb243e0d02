/** What the tests of the editor room share: configs in the window's folder, edits, and what each surface shows. */

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import { analyse, prepare, readerFor } from '../../src/analysis.ts';
import { placeOf } from '../../src/editor/places.ts';
import type { Api } from '../../src/extension.ts';
import type { Analysis } from '../../src/model/analysis.ts';
import type { Said } from '../../src/model/plan.ts';
import { type AnalysisSettings, DEFAULT_ANALYSIS_SETTINGS } from '../../src/model/settings.ts';

export const EXTENSION_ID = 'bubblelens.bubblelens';

export async function api(): Promise<Api> {
  const extension = vscode.extensions.getExtension<Api>(EXTENSION_ID);
  assert.ok(extension, `${EXTENSION_ID} is not installed`);
  return extension.activate();
}

export function folderUri(...path: readonly string[]): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0];
  assert.ok(folder, 'the window has no folder');
  return vscode.Uri.joinPath(folder.uri, ...path);
}

/** Writes a file into the window's folder and shows it; resolves when it is analysed. */
export async function openConfig(name: string, text: string): Promise<vscode.TextEditor> {
  await vscode.workspace.fs.writeFile(folderUri(name), new TextEncoder().encode(text));
  return openFile(name);
}

export async function openFile(name: string): Promise<vscode.TextEditor> {
  const { settled } = await api();
  const document = await vscode.workspace.openTextDocument(folderUri(name));
  const editor = await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
  await settled(document);
  return editor;
}

/** Closes every editor without saving. */
export async function closeAll(): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.files.revert');
  await vscode.commands.executeCommand('workbench.action.closeAllEditors');
}

/** Replaces the first occurrence of a text and waits for the analysis of the new version. */
export async function replace(editor: vscode.TextEditor, from: string, to: string): Promise<void> {
  const { document } = editor;
  const offset = document.getText().indexOf(from);
  assert.ok(offset >= 0, `"${from}" is not in the document`);
  const range = new vscode.Range(document.positionAt(offset), document.positionAt(offset + from.length));
  assert.ok(await editor.edit((edit) => edit.replace(range, to)));
  await (await api()).settled(document);
}

export interface Surfaces {
  readonly codes: readonly string[];
  readonly messages: readonly string[];
  readonly hints: readonly string[];
  readonly lenses: readonly string[];
  /** From 0, one for each plan. */
  readonly lensLines: readonly number[];
}

/** What the editor shows of a document, asked as the editor asks. */
export async function surfaces(document: vscode.TextDocument): Promise<Surfaces> {
  const ours = ourDiagnostics(document.uri);
  const whole = new vscode.Range(0, 0, document.lineCount, 0);
  const hints = await vscode.commands.executeCommand<vscode.InlayHint[]>(
    'vscode.executeInlayHintProvider',
    document.uri,
    whole,
  );
  const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
    'vscode.executeCodeLensProvider',
    document.uri,
    100,
  );
  return {
    codes: ours.map((each) => (typeof each.code === 'object' ? String(each.code.value) : '')).sort(),
    messages: ours.map((each) => each.message),
    hints: hints.map(({ label }) =>
      (typeof label === 'string' ? label : label.map((part) => part.value).join('')).trim(),
    ),
    lenses: lenses.flatMap((lens) => lens.command?.title ?? []),
    lensLines: [...new Set(lenses.map((lens) => lens.range.start.line))],
  };
}

export function ourDiagnostics(uri: vscode.Uri): readonly vscode.Diagnostic[] {
  return vscode.languages.getDiagnostics(uri).filter((each) => each.source === 'Bubblelens');
}

export async function fixTitles(document: vscode.TextDocument, range: vscode.Range): Promise<vscode.CodeAction[]> {
  const quickFix = vscode.CodeActionKind.QuickFix.value;
  const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
    'vscode.executeCodeActionProvider',
    document.uri,
    range,
    quickFix,
  );
  return actions.filter((each) => each.title.includes('idle'));
}

export async function completionLabels(
  document: vscode.TextDocument,
  position: vscode.Position,
): Promise<readonly string[]> {
  const list = await vscode.commands.executeCommand<vscode.CompletionList>(
    'vscode.executeCompletionItemProvider',
    document.uri,
    position,
  );
  return list.items.map(({ label }) => (typeof label === 'string' ? label : label.label));
}

export async function openUntitled(language: string, content: string): Promise<vscode.TextDocument> {
  const document = await vscode.workspace.openTextDocument({ language, content });
  await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
  await (await api()).settled(document);
  return document;
}

export async function setSetting(key: string, value: unknown): Promise<void> {
  await vscode.workspace.getConfiguration('bubblelens').update(key, value, vscode.ConfigurationTarget.Global);
}

/** The Markdown that hovers at so many characters from the first occurrence of a text. */
export async function hoverOver(document: vscode.TextDocument, token: string, further = 0): Promise<string> {
  const offset = document.getText().indexOf(token);
  assert.ok(offset >= 0, `"${token}" is not in the document`);
  const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
    'vscode.executeHoverProvider',
    document.uri,
    document.positionAt(offset + further),
  );
  const texts = hovers.flatMap(({ contents }) =>
    contents.map((each) => (typeof each === 'string' ? each : each.value)),
  );
  return texts.filter((text) => text.includes('bubblelens.')).join('\n');
}

/** What the facade says of the text as it stands: the numbers that `explain` prints. */
export async function expected(
  document: vscode.TextDocument,
  said: Said = {},
  settings: AnalysisSettings = DEFAULT_ANALYSIS_SETTINGS,
): Promise<Analysis> {
  const { file } = placeOf(document);
  const text = document.getText();
  const reader = readerFor(file, text);
  assert.ok(reader, `${file} is nobody's`);
  await prepare(reader);
  return analyse({ file, texts: { [file]: text }, said, settings });
}

/** Waits until a condition holds; fails with `what` when it does not within the time. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  timeoutMs = 5000,
): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > end) assert.fail(`not within ${timeoutMs} ms: ${what}`);
    await sleep(20);
  }
}
