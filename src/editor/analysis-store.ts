/**
 * One analysis per document version, which every surface reads. A change in a small document is analysed in the change
 * event itself, others in the worker's thread, dear ones when the typing pauses. Companions are fetched until the
 * reader needs nothing more, and a change in one of them starts over.
 */

import * as vscode from 'vscode';
import {
  type Cause,
  type DocumentAnalysis,
  freshState,
  run,
  type Settle,
  type State,
  type StoreParts,
  topicOf,
  whereToAnalyse,
} from './document-analysis.ts';
import { isLanguage } from './languages.ts';
import { movedShown, NOTHING_SHOWN } from './last-good.ts';
import { delayMs, remembered, typicalMs } from './pace.ts';
import { placeOf } from './places.ts';
import { createTrials, type Trials } from './trial.ts';

export interface AnalysisStore extends vscode.Disposable {
  /** The analysis of the document as it stands now; null while there is none or the document is nobody's. */
  readonly current: (document: vscode.TextDocument) => DocumentAnalysis | null;
  /** The same, waiting for an analysis under way. */
  readonly settled: (document: vscode.TextDocument) => Promise<DocumentAnalysis | null>;
  /** The analyses of other open configs that the document is a companion of. */
  readonly sharing: (document: vscode.TextDocument) => readonly DocumentAnalysis[];
  readonly onDidAnalyse: vscode.Event<DocumentAnalysis>;
  /** A document that had an analysis is closed or nobody's any more. */
  readonly onDidForget: vscode.Event<vscode.Uri>;
  /** Analyses the open documents again: something around the texts has changed. */
  readonly refresh: (concerns?: (document: vscode.TextDocument) => boolean) => void;
}

type States = Map<string, State>;
type Concerns = (document: vscode.TextDocument) => boolean;

export function createAnalysisStore(parts: StoreParts): AnalysisStore {
  const { companions, sayings, log } = parts;
  const trials = createTrials(log);
  const states: States = new Map();
  const analysed = new vscode.EventEmitter<DocumentAnalysis>();
  const forgotten = new vscode.EventEmitter<vscode.Uri>();
  const settle: Settle = (document, state, result) => {
    const had = state.result !== null;
    state.settled = true;
    state.result = result;
    state.shown = result?.shown ?? NOTHING_SHOWN;
    if (result !== null) state.recentMs = remembered(state.recentMs, result.analysisMs);
    if (result !== null) trials.consider(state, result);
    state.endedAt = performance.now();
    companions.retain(new Set([...states.values()].flatMap((each) => [...each.companionKeys])));
    if (result !== null) analysed.fire(result);
    else if (had) forgotten.fire(document.uri);
    for (const waiter of state.waiters.splice(0)) waiter(result);
  };
  const { open, close, change } = createHearing(parts, states, settle, trials);
  const refresh = (concerns: Concerns = () => true): void => {
    for (const document of vscode.workspace.textDocuments) if (concerns(document)) open(document, 0);
  };
  const disposables = [
    vscode.workspace.onDidOpenTextDocument((document) => open(document, 0)),
    vscode.workspace.onDidCloseTextDocument(close),
    vscode.workspace.onDidChangeTextDocument(change),
    vscode.workspace.onDidChangeWorkspaceFolders(() => refresh()),
    companions.onDidChange((key) => {
      refresh((document) => states.get(document.uri.toString())?.companionKeys.has(key) === true);
    }),
    sayings.onDidChange((uri) => refresh((document) => document.uri.toString() === uri.toString())),
    analysed,
    forgotten,
    trials,
  ];
  // After activation has returned: it must not wait for an analysis.
  for (const document of vscode.workspace.textDocuments) open(document, 1);
  return {
    ...views(states),
    onDidAnalyse: analysed.event,
    onDidForget: forgotten.event,
    refresh,
    dispose: () => {
      for (const state of states.values()) if (state.timer !== null) clearTimeout(state.timer);
      states.clear();
      for (const disposable of disposables) disposable.dispose();
    },
  };
}

/** What happens to documents, and the analysis that it leads to: now, or after a wait. */
function createHearing(parts: StoreParts, states: States, settle: Settle, trials: Trials) {
  const stateOf = (document: vscode.TextDocument): State => {
    const key = document.uri.toString();
    const state = states.get(key) ?? freshState();
    states.set(key, state);
    return state;
  };
  const hear = (document: vscode.TextDocument, state: State, cause: Cause, wait: number): void => {
    state.sequence++;
    parts.thread.cancel(topicOf(document.uri));
    trials.putOff();
    state.settled = false;
    state.cause = cause;
    state.heardAt = performance.now();
    if (state.timer !== null) clearTimeout(state.timer);
    const go = (): void => {
      state.timer = null;
      run(parts, document, state, settle);
    };
    state.timer = wait === 0 ? null : setTimeout(go, wait);
    if (wait === 0) go();
  };
  return {
    open: (document: vscode.TextDocument, wait: number): void => {
      if (isWatched(document)) hear(document, stateOf(document), 'around', wait);
    },
    close: (document: vscode.TextDocument): void => {
      const state = states.get(document.uri.toString());
      if (state === undefined) return;
      if (state.timer !== null) clearTimeout(state.timer);
      state.sequence++;
      parts.thread.cancel(topicOf(document.uri));
      states.delete(document.uri.toString());
      settle(document, state, null);
    },
    change: ({ document, contentChanges }: vscode.TextDocumentChangeEvent): void => {
      if (contentChanges.length === 0 || !isWatched(document)) return;
      const state = stateOf(document);
      state.shown = movedShown(state.shown, placeOf(document).file, contentChanges);
      const sinceLastMs = performance.now() - state.endedAt;
      const wait = delayMs(typicalMs(state.recentMs), sinceLastMs, whereToAnalyse(parts, state));
      hear(document, state, 'text', wait);
    },
  };
}

function views(states: States): Pick<AnalysisStore, 'current' | 'settled' | 'sharing'> {
  return {
    current: (document) => {
      const state = states.get(document.uri.toString());
      return state?.settled === true && state.result?.version === document.version ? state.result : null;
    },
    settled: (document) => {
      const state = states.get(document.uri.toString());
      if (state === undefined || state.settled) return Promise.resolve(state?.result ?? null);
      return new Promise((resolve) => state.waiters.push(resolve));
    },
    sharing: (document) => {
      const key = document.uri.toString();
      return [...states.values()].flatMap(({ settled, result }) =>
        settled && result?.companionKeys.has(key) ? [result] : [],
      );
    },
  };
}

function isWatched(document: vscode.TextDocument): boolean {
  return !document.isClosed && isLanguage(document.languageId);
}
