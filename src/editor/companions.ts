/**
 * The files that a config refers to: a sourced script, a parent file. They are read only below the workspace folder
 * (a link that leads out of it is refused), only up to a size, and are watched while somebody needs them. An open
 * document counts as it stands in the editor, saved or not.
 */

import * as vscode from 'vscode';
import { COMPANIONS_AT_MOST } from './gather.ts';
import { insideRoot, relativeTo, steps } from './paths.ts';

/** Larger companions are not read. */
export const COMPANION_BYTES_AT_MOST = 1024 * 1024;

export interface Companions extends vscode.Disposable {
  /** The companion's text as far as it is known: `undefined` before it was asked for, `null` where there is none. */
  readonly text: (root: vscode.Uri, path: string) => string | null | undefined;
  /** Reads what is not known yet. */
  readonly load: (root: vscode.Uri, paths: readonly string[]) => Promise<void>;
  /** Identity of a companion, to find out whom a change concerns. */
  readonly key: (root: vscode.Uri, path: string) => string | null;
  /** Stops watching what is not among these any more. */
  readonly retain: (keys: ReadonlySet<string>) => void;
  readonly onDidChange: vscode.Event<string>;
}

interface Entry {
  text: string | null;
  readonly watcher: vscode.FileSystemWatcher;
}

export function createCompanions(): Companions {
  const entries = new Map<string, Entry>();
  const changed = new vscode.EventEmitter<string>();

  const locate = (root: vscode.Uri, path: string): vscode.Uri | null => {
    const inside = insideRoot(path);
    return inside === null ? null : vscode.Uri.joinPath(root, inside);
  };
  const forget = (key: string): void => {
    entries.get(key)?.watcher.dispose();
    if (entries.delete(key)) changed.fire(key);
  };
  const watch = (root: vscode.Uri, path: string, key: string): vscode.FileSystemWatcher => {
    const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(root, path));
    for (const event of [watcher.onDidChange, watcher.onDidCreate, watcher.onDidDelete]) event(() => forget(key));
    return watcher;
  };
  const load = async (root: vscode.Uri, path: string): Promise<void> => {
    const uri = locate(root, path);
    if (uri === null || entries.has(uri.toString())) return;
    const key = uri.toString();
    const text = await readInside(root, insideRoot(path) ?? path);
    if (!entries.has(key)) entries.set(key, { text, watcher: watch(root, insideRoot(path) ?? path, key) });
  };

  const documents = [
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (contentChanges.length > 0 && entries.has(document.uri.toString())) changed.fire(document.uri.toString());
    }),
    vscode.workspace.onDidCloseTextDocument((document) => forget(document.uri.toString())),
  ];
  return {
    text: (root, path) => {
      const uri = locate(root, path);
      if (uri === null) return null;
      const entry = entries.get(uri.toString());
      return entry === undefined ? undefined : (openText(uri) ?? entry.text);
    },
    load: async (root, paths) => {
      await Promise.all(paths.slice(0, COMPANIONS_AT_MOST).map((path) => load(root, path)));
    },
    key: (root, path) => locate(root, path)?.toString() ?? null,
    retain: (keys) => {
      for (const [key, entry] of entries) {
        if (keys.has(key)) continue;
        entry.watcher.dispose();
        entries.delete(key);
      }
    },
    onDidChange: changed.event,
    dispose: () => {
      for (const disposable of documents) disposable.dispose();
      for (const { watcher } of entries.values()) watcher.dispose();
      entries.clear();
      changed.dispose();
    },
  };
}

function openText(uri: vscode.Uri): string | null {
  const wanted = uri.toString();
  return vscode.workspace.textDocuments.find((document) => document.uri.toString() === wanted)?.getText() ?? null;
}

/** The text of a file below the root; null where there is none, it is too large, or a link leads out of the root. */
async function readInside(root: vscode.Uri, path: string): Promise<string | null> {
  const uri = vscode.Uri.joinPath(root, path);
  try {
    const stat = await vscode.workspace.fs.stat(uri);
    if ((stat.type & vscode.FileType.File) === 0 || stat.size > COMPANION_BYTES_AT_MOST) return null;
    if (!(await staysInside(root, path))) return null;
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
  } catch {
    return null;
  }
}

async function staysInside(root: vscode.Uri, path: string): Promise<boolean> {
  const stats = await Promise.all(steps(path).map((step) => vscode.workspace.fs.stat(vscode.Uri.joinPath(root, step))));
  if (stats.every((stat) => (stat.type & vscode.FileType.SymbolicLink) === 0)) return true;
  if (root.scheme !== 'file') return false;
  const { realpath } = await import('node:fs/promises');
  const [realRoot, real] = await Promise.all([realpath(root.fsPath), realpath(vscode.Uri.joinPath(root, path).fsPath)]);
  return relativeTo(realRoot.replaceAll('\\', '/'), real.replaceAll('\\', '/')) !== null;
}
