/**
 * The extension's entry: wiring only. Activation registers and returns; the worker's thread starts with the first
 * document.
 */

import * as vscode from 'vscode';
import { followActiveEditor } from './editor/active-config.ts';
import { createAnalysisStore } from './editor/analysis-store.ts';
import { registerCommands } from './editor/commands.ts';
import { createCompanions } from './editor/companions.ts';
import { registerCompletion } from './editor/completion.ts';
import { createDiagnostics } from './editor/diagnostics.ts';
import type { DocumentAnalysis } from './editor/document-analysis.ts';
import { attempt, createLog } from './editor/log.ts';
import { registerProviders } from './editor/providers.ts';
import { registerReports } from './editor/report-document.ts';
import { createSayings } from './editor/said.ts';
import { surfaceEnabled } from './editor/settings.ts';
import { createThread } from './editor/thread.ts';
import { createTimelinePanels, type TimelinePanels } from './editor/timeline-panels.ts';

/** What the tests and the measurements look at. */
export interface Api {
  readonly activationMs: number;
  readonly onDidAnalyse: vscode.Event<DocumentAnalysis>;
  readonly settled: (document: vscode.TextDocument) => Promise<DocumentAnalysis | null>;
  /** From hearing of a change to its diagnostics being set, in ms, the latest last. */
  readonly changeToDiagnosticsMs: readonly number[];
  readonly onDidPostToTimeline: TimelinePanels['onDidPost'];
  /** Ends the worker's thread as a crash would. */
  readonly loseThread: () => Promise<void>;
}

const TIMINGS_AT_MOST = 10_000;

export function activate(context: vscode.ExtensionContext): Api {
  const started = performance.now();
  const log = createLog();
  const companions = createCompanions();
  const sayings = createSayings(context.workspaceState);
  const thread = createThread(vscode.Uri.joinPath(context.extensionUri, 'dist', 'worker.js').fsPath, log);
  const store = createAnalysisStore({ log, companions, sayings, thread });
  const diagnostics = createDiagnostics(context.extensionUri);
  const changeToDiagnosticsMs: number[] = [];
  const show = (result: DocumentAnalysis): void =>
    attempt(log, 'diagnostics', undefined, () => {
      const { uri } = result.place;
      if (uri.scheme === 'git' || !surfaceEnabled('diagnostics', uri)) return diagnostics.clear(uri);
      diagnostics.show(result);
      if (result.cause === 'text' && changeToDiagnosticsMs.length < TIMINGS_AT_MOST) {
        changeToDiagnosticsMs.push(performance.now() - result.heardAt);
      }
    });
  // Before the others, so that the squiggles do not wait for the timeline.
  context.subscriptions.push(
    store.onDidAnalyse(show),
    store.onDidForget((uri) => diagnostics.clear(uri)),
  );
  const providers = registerProviders(store, thread, log);
  const panels = createTimelinePanels({ extensionUri: context.extensionUri, store, thread, log });
  const active = followActiveEditor(store, log);
  context.subscriptions.push(
    log,
    companions,
    sayings,
    store,
    thread,
    diagnostics,
    providers,
    panels,
    active,
    store.onDidAnalyse(({ cause, companionKeys }) => {
      if (cause !== 'text' || companionKeys.size > 0) providers.ask();
    }),
    registerCompletion(thread, log),
    registerReports(store, thread),
    registerCommands({ context, store, sayings, panels, thread, log }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (!event.affectsConfiguration('bubblelens')) return;
      store.refresh();
      providers.ask();
      active.update();
    }),
  );
  return {
    activationMs: performance.now() - started,
    onDidAnalyse: store.onDidAnalyse,
    settled: store.settled,
    changeToDiagnosticsMs,
    onDidPostToTimeline: panels.onDidPost,
    loseThread: thread.lose,
  };
}
