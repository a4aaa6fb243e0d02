/**
 * What is known of one open document, and the analysis of it: made in the change event itself where the document is
 * small and was tried out, otherwise in the worker's thread. A result for a text that has moved on is dropped; where
 * none can be made, the last good numbers stay and the reason is told.
 */

import type * as vscode from 'vscode';
import type { AnalysisInput } from '../analysis.ts';
import type { Analysis } from '../model/analysis.ts';
import type { Texts } from '../model/reading.ts';
import type { TextRange } from '../model/source.ts';
import type { Companions } from './companions.ts';
import { coreAtHand } from './core.ts';
import { type CompanionSource, type Gathered, gather, gatherFrom } from './gather.ts';
import { NOTHING_SHOWN, nextShown, type Shown } from './last-good.ts';
import type { Log } from './log.ts';
import { HERE_MS_AT_MOST, type Where } from './pace.ts';
import { createLocator, type Place, placeOf } from './places.ts';
import type { Sayings } from './said.ts';
import { analysisSettings } from './settings.ts';
import type { Thread } from './thread.ts';

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
  /** What the analysis itself took, in whatever thread; 0 where it failed. */
  readonly analysisMs: number;
  readonly where: Where;
}

export interface State {
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
  /** The editor's thread has analysed the document before, quickly enough. */
  tried: boolean;
  companionKeys: ReadonlySet<string>;
  readonly waiters: ((result: DocumentAnalysis | null) => void)[];
}

export interface StoreParts {
  readonly log: Log;
  readonly companions: Companions;
  readonly sayings: Sayings;
  readonly thread: Thread;
}

const NO_COMPANIONS: ReadonlySet<string> = new Set();

export type Settle = (document: vscode.TextDocument, state: State, result: DocumentAnalysis | null) => void;

/** One analysis with what it was made of. */
interface Work {
  readonly input: AnalysisInput;
  readonly analysis: Analysis;
  readonly ms: number;
}

/** Everything that a run takes from its surroundings, at its beginning. */
interface Run {
  readonly document: vscode.TextDocument;
  readonly version: number;
  readonly place: Place;
  readonly text: string;
  readonly source: CompanionSource | null;
  readonly inputOf: (texts: Texts) => AnalysisInput;
  readonly where: Where;
  /** Nothing has happened to the document since. */
  readonly holds: () => boolean;
}

/** The thread that the document's next analysis is made in. */
export function whereToAnalyse({ thread }: StoreParts, state: State): Where {
  if (thread.isMissing()) return 'no worker';
  const lastMs = state.recentMs.at(-1) ?? Number.POSITIVE_INFINITY;
  return state.tried && lastMs <= HERE_MS_AT_MOST ? 'here' : 'worker';
}

/** What the requests about a document go by. */
export function topicOf(uri: vscode.Uri): string {
  return `analysis of ${uri}`;
}

/** Analyses a document; settles it in any case, unless it moves on meanwhile. */
export function run(parts: StoreParts, document: vscode.TextDocument, state: State, settle: Settle): void {
  const { sequence } = state;
  const holds = (): boolean => sequence === state.sequence;
  let begun: Run;
  try {
    begun = begin(parts, document, whereToAnalyse(parts, state), holds);
  } catch (error) {
    parts.log.failed('analysis', error);
    settle(document, state, null);
    return;
  }
  const fail = (error: unknown): void => {
    parts.log.failed('analysis', error);
    if (holds()) settle(document, state, failed(begun, state, error));
  };
  const end = (work: Gathered<Work>): void => {
    if (!holds()) return;
    const nobodys = work.analysis.reader === null;
    state.companionKeys = nobodys ? NO_COMPANIONS : work.companionKeys;
    settle(document, state, nobodys ? null : resultOf(begun, state, work));
  };
  const askThread = (): void => {
    if (begun.where === 'here') begun = { ...begun, where: 'worker' };
    analyseInThread(parts, begun, state)
      .then((work) => work !== null && end(work))
      .catch(fail);
  };
  const step = (): void => {
    if (!holds()) return;
    try {
      const work = begun.where === 'here' ? analyseHere(begun) : null;
      if (work instanceof Promise) work.then(step, fail);
      else if (work !== null) end(work);
      else askThread();
    } catch (error) {
      fail(error);
    }
  };
  step();
}

function begin(
  { companions, sayings }: StoreParts,
  document: vscode.TextDocument,
  where: Where,
  holds: Run['holds'],
): Run {
  const place = placeOf(document);
  const said = sayings.of(place.uri);
  const settings = analysisSettings(place.uri);
  return {
    document,
    version: document.version,
    place,
    text: document.getText(),
    source: place.root === null ? null : companionsBelow(companions, place.root),
    inputOf: (texts) => ({ file: place.file, texts, said, settings }),
    where,
    holds,
  };
}

/** The finished work, or the promise of companions that it needs first; null where it is not small, or not for here. */
function analyseHere({ place, text, source, inputOf }: Run): Gathered<Work> | Promise<void> | null {
  const core = coreAtHand();
  const reader = core?.readerFor(place.file, text);
  if (!core || (reader && !core.ready(reader))) return null;
  const started = performance.now();
  return gather(place.file, text, source, (texts) => {
    const input = inputOf(texts);
    const analysis = core.analyseIfLight(input);
    return analysis === null ? null : { input, analysis, ms: performance.now() - started };
  });
}

/** null where the document has moved on. */
async function analyseInThread({ thread }: StoreParts, begun: Run, state: State): Promise<Gathered<Work> | null> {
  const { place, text, source, inputOf, holds } = begun;
  let ms = 0;
  const analyse = async (texts: Texts): Promise<Work | null> => {
    if (!holds()) return null;
    const input = inputOf(texts);
    const outcome = await thread.ask(topicOf(place.uri), 'analysis', input);
    if (outcome.status === 'cancelled') return null;
    if (outcome.status !== 'done') throw new Error(outcome.reason);
    ms += outcome.value.ms;
    return { input, analysis: outcome.value.analysis, ms };
  };
  return gatherFrom(place.file, text, source, analyse, (keys) => {
    if (holds()) state.companionKeys = keys;
  });
}

function resultOf(begun: Run, state: State, work: Gathered<Work>): DocumentAnalysis {
  const { input, analysis, companionKeys, ms } = work;
  const { version, place, where } = begun;
  const { cause, heardAt } = state;
  const shown = nextShown(state.shown, analysis);
  const locate = createLocator(input.texts);
  return { place, version, input, analysis, shown, locate, companionKeys, cause, heardAt, analysisMs: ms, where };
}

/** The last good numbers, marked, and what went wrong at the top of the file. */
function failed(begun: Run, state: State, error: unknown): DocumentAnalysis {
  const { place, text } = begun;
  state.tried = false;
  const reason = (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
  const message = `Not analysed: ${reason}`;
  const range = { file: place.file, offset: 0, length: 0 };
  const analysis: Analysis = {
    file: place.file,
    reader: state.result?.analysis.reader ?? null,
    problems: [{ code: 'analysis-failed', severity: 'information', message, range, related: [], fixes: [] }],
    needs: [],
    plans: [],
  };
  const work = { input: begun.inputOf({ [place.file]: text }), analysis, companionKeys: state.companionKeys, ms: 0 };
  return { ...resultOf(begun, state, work), shown: { plans: state.shown.plans, stale: message } };
}

function companionsBelow(companions: Companions, root: vscode.Uri): CompanionSource {
  return {
    text: (path: string) => companions.text(root, path),
    key: (path: string) => companions.key(root, path),
    load: (paths: readonly string[]) => companions.load(root, paths),
  };
}

export function freshState(): State {
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
    tried: false,
    companionKeys: NO_COMPANIONS,
    waiters: [],
  };
}
