/**
 * The extension's entry: wiring only. Activation registers and returns; parsers are loaded and documents analysed
 * afterwards.
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
import { createTimelinePanels, type TimelinePanels } from './editor/timeline-panels.ts';

/** What the tests and the measurements look at. */
export interface Api {
  readonly activationMs: number;
  readonly onDidAnalyse: vscode.Event<DocumentAnalysis>;
  readonly settled: (document: vscode.TextDocument) => Promise<DocumentAnalysis | null>;
  /** From hearing of a change to its diagnostics being set, in ms, the latest last. */
  readonly changeToDiagnosticsMs: readonly number[];
  readonly onDidPostToTimeline: TimelinePanels['onDidPost'];
}

const TIMINGS_AT_MOST = 10_000;

export function activate(context: vscode.ExtensionContext): Api {
  const started = performance.now();
  const log = createLog();
  const companions = createCompanions();
  const sayings = createSayings(context.workspaceState);
  const store = createAnalysisStore({ log, companions, sayings });
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
  const providers = registerProviders(store, log);
  const panels = createTimelinePanels(context.extensionUri, store, log);
  const active = followActiveEditor(store, log);
  context.subscriptions.push(
    log,
    companions,
    sayings,
    store,
    diagnostics,
    providers,
    panels,
    active,
    store.onDidAnalyse(({ cause, companionKeys }) => {
      if (cause !== 'text' || companionKeys.size > 0) providers.ask();
    }),
    registerCompletion(log),
    registerReports(store),
    registerCommands({ context, store, sayings, panels, log }),
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
  };
}
