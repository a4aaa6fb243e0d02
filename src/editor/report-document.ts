/**
 * "Explain This Config": the whole explanation as a read-only text beside the config. It follows the config while it
 * is typed, and being text it can be searched, copied, compared and read aloud.
 */

import * as vscode from 'vscode';
import type { AnalysisStore } from './analysis-store.ts';
import { LAST_GOOD } from './last-good.ts';
import { baseName } from './paths.ts';
import { staleReason } from './surfaces.ts';
import type { Thread } from './thread.ts';

export const REPORT_SCHEME = 'bubblelens-report';

/** The report's address: a name to show in the tab, and the config that it explains. */
export function reportUri(config: vscode.Uri): vscode.Uri {
  return vscode.Uri.from({
    scheme: REPORT_SCHEME,
    path: `/${baseName(config.path)}.report.txt`,
    query: config.toString(),
  });
}

export function registerReports(store: AnalysisStore, thread: Thread): vscode.Disposable {
  const changed = new vscode.EventEmitter<vscode.Uri>();
  const shown = new Set<string>();
  /** The last explanation of a sound text, for while the text is broken. */
  const sound = new Map<string, string>();
  const tell = (config: vscode.Uri): void => {
    if (shown.has(config.toString())) changed.fire(reportUri(config));
  };
  const provider: vscode.TextDocumentContentProvider = {
    onDidChange: changed.event,
    provideTextDocumentContent: async (uri) => {
      const key = uri.query;
      shown.add(key);
      const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === key);
      if (document === undefined) return sound.get(key) ?? 'The config is closed: open it to see its report.\n';
      const result = store.current(document) ?? (await store.settled(document));
      if (result === null) return `${baseName(document.uri.path)} holds no pipeline config that Bubblelens reads.\n`;
      const explained = await thread.ask(`report of ${key}`, 'explanation', result.analysis);
      if (explained.status === 'cancelled') return sound.get(key) ?? '';
      if (explained.status !== 'done') return `${explained.reason}\n`;
      const text = explained.value;
      const { stale } = result.shown;
      if (stale !== null) return `${staleReason(stale)} ${LAST_GOOD}\n\n${sound.get(key) ?? text}`;
      sound.set(key, text);
      return text;
    },
  };
  const disposables = [
    changed,
    vscode.workspace.registerTextDocumentContentProvider(REPORT_SCHEME, provider),
    store.onDidAnalyse(({ place }) => tell(place.uri)),
    store.onDidForget(tell),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => {
      if (uri.scheme !== REPORT_SCHEME) return;
      shown.delete(uri.query);
      sound.delete(uri.query);
    }),
  ];
  return vscode.Disposable.from(...disposables);
}

export async function openReport(config: vscode.Uri): Promise<void> {
  const document = await vscode.workspace.openTextDocument(reportUri(config));
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
}
