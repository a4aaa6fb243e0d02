/**
 * "Open Example": the configs that ship with the extension. One is opened as an unsaved copy, so that it can be
 * edited and played with and the original stays.
 */

import * as vscode from 'vscode';
import { exampleSummary } from './example-summary.ts';
import { LANGUAGES, type Language } from './languages.ts';

const LANGUAGE_BY_EXTENSION: Readonly<Record<string, Language>> = {
  sh: 'shellscript',
  yaml: 'yaml',
  yml: 'yaml',
  toml: 'toml',
  json: 'json',
};

/** `name` is given by a test or a link; otherwise the user picks. */
export async function openExample(extensionUri: vscode.Uri, name: unknown): Promise<void> {
  const folder = vscode.Uri.joinPath(extensionUri, 'examples');
  const items = await examples(folder);
  const chosen =
    typeof name === 'string'
      ? items.find((item) => item.label === name)
      : await vscode.window.showQuickPick(items, { title: 'Open Example', matchOnDetail: true });
  if (chosen === undefined) return;
  const document = await openCopy(chosen.label, chosen.text);
  await vscode.window.showTextDocument(document);
}

interface Example extends vscode.QuickPickItem {
  readonly text: string;
}

async function examples(folder: vscode.Uri): Promise<readonly Example[]> {
  const entries = await vscode.workspace.fs.readDirectory(folder);
  const names = entries
    .filter(([name, type]) => type === vscode.FileType.File && languageOf(name) !== null)
    .map(([name]) => name)
    .sort();
  return Promise.all(
    names.map(async (label) => {
      const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(vscode.Uri.joinPath(folder, label)));
      return { label, detail: exampleSummary(text), text };
    }),
  );
}

/** An unsaved document; with the example's name where a folder is open, so that saving puts it there. */
async function openCopy(name: string, content: string): Promise<vscode.TextDocument> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const language = languageOf(name) ?? LANGUAGES[0];
  if (folder === undefined) return vscode.workspace.openTextDocument({ content, language });
  const uri = (await freeUri(folder, name)).with({ scheme: 'untitled' });
  const document = await vscode.workspace.openTextDocument(uri);
  const edit = new vscode.WorkspaceEdit();
  edit.insert(uri, new vscode.Position(0, 0), content);
  await vscode.workspace.applyEdit(edit);
  return document;
}

/** `name` in the folder, or `name-2` and so on (before the first dot) where that is taken, on disk or unsaved. */
async function freeUri(folder: vscode.Uri, name: string): Promise<vscode.Uri> {
  const dot = name.indexOf('.');
  for (let count = 1; ; count++) {
    const candidate = count === 1 ? name : `${name.slice(0, dot)}-${count}${name.slice(dot)}`;
    const uri = vscode.Uri.joinPath(folder, candidate);
    const open = vscode.workspace.textDocuments.some((each) => each.uri.path === uri.path);
    if (!open && !(await exists(uri))) return uri;
  }
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch {
    return false;
  }
}

function languageOf(name: string): Language | null {
  return LANGUAGE_BY_EXTENSION[name.slice(name.lastIndexOf('.') + 1)] ?? null;
}
