/**
 * The config that a command or the status concerns: the active editor's document, or the one that a click named. The
 * context key that shows and hides the commands follows the active editor.
 */

import * as vscode from 'vscode';
import type { AnalysisStore } from './analysis-store.ts';
import type { DocumentAnalysis } from './document-analysis.ts';
import { attempt, type Log } from './log.ts';
import { surfaceEnabled } from './settings.ts';
import { createStatusItem } from './status-item.ts';

const CONTEXT_KEY = 'bubblelens.hasConfig';

/** The document that a command is about: the named one, else the active editor's. */
export function documentFor(uri: unknown): vscode.TextDocument | null {
  const wanted = typeof uri === 'string' ? uri : uri instanceof vscode.Uri ? uri.toString() : null;
  if (wanted === null) return vscode.window.activeTextEditor?.document ?? null;
  return vscode.workspace.textDocuments.find((document) => document.uri.toString() === wanted) ?? null;
}

/** Keeps the context key and the language status with the active editor. */
export function followActiveEditor(
  store: AnalysisStore,
  log: Log,
): vscode.Disposable & { readonly update: () => void } {
  const status = createStatusItem();
  let said: boolean | null = null;
  const show = (document: vscode.TextDocument | null, result: DocumentAnalysis | null): void => {
    const hasConfig = result !== null;
    if (hasConfig !== said) {
      said = hasConfig;
      vscode.commands.executeCommand('setContext', CONTEXT_KEY, hasConfig);
    }
    const wanted = document !== null && surfaceEnabled('statusItem', document.uri);
    status.show(document, wanted ? result : null);
  };
  const update = (): void =>
    attempt(log, 'status', undefined, () => {
      const document = vscode.window.activeTextEditor?.document ?? null;
      show(document, document === null ? null : store.current(document));
    });
  const disposables = [
    status,
    vscode.window.onDidChangeActiveTextEditor(update),
    store.onDidAnalyse(update),
    store.onDidForget(update),
  ];
  return {
    update,
    dispose: () => {
      for (const disposable of disposables) disposable.dispose();
    },
  };
}
