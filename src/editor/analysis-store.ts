/**
 * One analysis per document version, which every surface reads. A change is analysed in the change event itself when
 * the document's last analysis was cheap, else when the typing pauses; a result for a text that has moved on is
 * dropped. Companions are fetched until the reader needs nothing more, and a change in one of them starts over.
 */

import * as vscode from 'vscode';
import type { AnalysisInput } from '../analysis.ts';
import type { Analysis } from '../model/analysis.ts';
import type { TextRange } from '../model/source.ts';
import type { Companions } from './companions.ts';
import { coreAtHand, loadCore } from './core.ts';
import { gather, type Work } from './gather.ts';
import { isLanguage } from './languages.ts';
import { movedShown, NOTHING_SHOWN, nextShown, type Shown } from './last-good.ts';
import type { Log } from './log.ts';
import { delayMs, remembered, typicalMs } from './pace.ts';
import { createLocator, type Place, placeOf } from './places.ts';
import type { Sayings } from './said.ts';
import { analysisSettings } from './settings.ts';

/** Why an analysis was made: after an edit the editor asks its providers anyway, otherwise they must be told. */
export type Cause = 'text' | 'around';

export interface DocumentAnalysis {
  readonly place: Place;
  readonly version: number;
  readonly input: AnalysisInput;
  readonly analysis: Analysis;
  readonly shown: Shown;
  readonly locate: (range: TextRange) => vscode.Range;
  /** Addresses of the companions that it was read with, found or not. */
  readonly companionKeys: ReadonlySet<string>;
  readonly cause: Cause;
  /** `performance.now()` when the change that it answers was heard of. */
  readonly heardAt: number;
  /** From the document's text to the result. */
  readonly analysisMs: number;
}

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

interface State {
  /** Counts what has happened to the document; a run that began under another number is out of date. */
  sequence: number;
  heardAt: number;
  cause: Cause;
  timer: ReturnType<typeof setTimeout> | null;
  /** The document as it stands is analysed, or known to be nobody's. */
  settled: boolean;
  result: DocumentAnalysis | null;
  shown: Shown;
  /** What the last analyses took, and when the last one ended. */
  recentMs: readonly number[];
  endedAt: number;
  companionKeys: ReadonlySet<string>;
  readonly waiters: ((result: DocumentAnalysis | null) => void)[];
}

export interface StoreParts {
  readonly log: Log;
  readonly companions: Companions;
  readonly sayings: Sayings;
}

export function createAnalysisStore(parts: StoreParts): AnalysisStore {
  const { companions, sayings } = parts;
  const states = new Map<string, State>();
  const analysed = new vscode.EventEmitter<DocumentAnalysis>();
  const forgotten = new vscode.EventEmitter<vscode.Uri>();

  const stateOf = (document: vscode.TextDocument): State => {
    const key = document.uri.toString();
    const state = states.get(key) ?? freshState();
    states.set(key, state);
    return state;
  };
  const settle = (document: vscode.TextDocument, state: State, result: DocumentAnalysis | null): void => {
    const had = state.result !== null;
    state.settled = true;
    state.result = result;
    state.shown = result?.shown ?? NOTHING_SHOWN;
    if (result !== null) state.recentMs = remembered(state.recentMs, result.analysisMs);
    state.endedAt = performance.now();
    companions.retain(new Set([...states.values()].flatMap((each) => [...each.companionKeys])));
    if (result !== null) analysed.fire(result);
    else if (had) forgotten.fire(document.uri);
    for (const waiter of state.waiters.splice(0)) waiter(result);
  };
  const hear = (document: vscode.TextDocument, state: State, cause: Cause, wait: number): void => {
    state.sequence++;
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
  const open = (document: vscode.TextDocument, wait: number): void => {
    if (isWatched(document)) hear(document, stateOf(document), 'around', wait);
  };
  const close = (document: vscode.TextDocument): void => {
    const state = states.get(document.uri.toString());
    if (state === undefined) return;
    if (state.timer !== null) clearTimeout(state.timer);
    state.sequence++;
    states.delete(document.uri.toString());
    settle(document, state, null);
  };
  const change = ({ document, contentChanges }: vscode.TextDocumentChangeEvent): void => {
    if (contentChanges.length === 0 || !isWatched(document)) return;
    const state = stateOf(document);
    state.shown = movedShown(state.shown, placeOf(document).file, contentChanges);
    hear(document, state, 'text', delayMs(typicalMs(state.recentMs), performance.now() - state.endedAt));
  };
  const refresh = (concerns: (document: vscode.TextDocument) => boolean = () => true): void => {
    for (const document of vscode.workspace.textDocuments) if (concerns(document)) open(document, 0);
  };
  const disposables = [
    vscode.workspace.onDidOpenTextDocument((document) => open(document, 0)),
    vscode.workspace.onDidCloseTextDocument(close),
    vscode.workspace.onDidChangeTextDocument(change),
    companions.onDidChange((key) => {
      refresh((document) => states.get(document.uri.toString())?.companionKeys.has(key) === true);
    }),
    sayings.onDidChange((uri) => refresh((document) => document.uri.toString() === uri.toString())),
    analysed,
    forgotten,
  ];
  // After activation has returned: it must not wait for an analysis.
  for (const document of vscode.workspace.textDocuments) open(document, 1);

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

const NO_COMPANIONS: ReadonlySet<string> = new Set();

type Settle = (document: vscode.TextDocument, state: State, result: DocumentAnalysis | null) => void;

/** Analyses a document, at once where everything is at hand; settles it in any case, unless it moves on meanwhile. */
function run(parts: StoreParts, document: vscode.TextDocument, state: State, settle: Settle): void {
  const { sequence, cause, heardAt } = state;
  const fail = (error: unknown): void => {
    parts.log.failed('analysis', error);
    if (sequence === state.sequence) settle(document, state, null);
  };
  const step = (): void => {
    if (sequence !== state.sequence) return;
    try {
      const work = workOn(parts, document);
      if (work === null) {
        state.companionKeys = NO_COMPANIONS;
        settle(document, state, null);
        return;
      }
      if (work instanceof Promise) {
        work.then(step, fail);
        return;
      }
      const { input, analysis, analysisMs, companionKeys } = work;
      state.companionKeys = companionKeys;
      const shown = nextShown(state.shown, analysis);
      const where = { place: placeOf(document), version: document.version, locate: createLocator(input.texts) };
      settle(document, state, { ...where, input, analysis, shown, companionKeys, cause, heardAt, analysisMs });
    } catch (error) {
      fail(error);
    }
  };
  step();
}

/** The finished work, the promise of what it needs first, or null for a document that is nobody's. */
function workOn({ companions, sayings }: StoreParts, document: vscode.TextDocument): Work | Promise<void> | null {
  const core = coreAtHand();
  if (core === null) return loadCore().then(() => undefined);
  const started = performance.now();
  const place = placeOf(document);
  const text = document.getText();
  const reader = core.readerFor(place.file, text);
  if (reader === null) return null;
  if (!core.ready(reader)) return core.prepare(reader);
  const said = sayings.of(place.uri);
  const settings = analysisSettings(place.uri);
  const { file, root } = place;
  const work = gather(file, text, root === null ? null : companionsBelow(companions, root), (texts) => {
    const input = { file, texts, said, settings };
    return { input, analysis: core.analyse(input) };
  });
  return work instanceof Promise ? work : { ...work, analysisMs: performance.now() - started };
}

function companionsBelow(companions: Companions, root: vscode.Uri) {
  return {
    text: (path: string) => companions.text(root, path),
    key: (path: string) => companions.key(root, path),
    load: (paths: readonly string[]) => companions.load(root, paths),
  };
}

function isWatched(document: vscode.TextDocument): boolean {
  return !document.isClosed && isLanguage(document.languageId);
}

function freshState(): State {
  return {
    sequence: 0,
    heardAt: 0,
    cause: 'around',
    timer: null,
    settled: false,
    result: null,
    shown: NOTHING_SHOWN,
    recentMs: [],
    endedAt: 0,
    companionKeys: NO_COMPANIONS,
    waiters: [],
  };
}
