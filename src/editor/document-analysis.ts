/**
 * What is known of one open document, and the analysis of it: made at once where everything is at hand, otherwise as
 * soon as the core, the parsers and the companions are there. A result for a text that has moved on is dropped.
 */

import type * as vscode from 'vscode';
import type { AnalysisInput } from '../analysis.ts';
import type { Analysis } from '../model/analysis.ts';
import type { TextRange } from '../model/source.ts';
import type { Companions } from './companions.ts';
import { coreAtHand, loadCore } from './core.ts';
import { gather, type Work } from './gather.ts';
import { NOTHING_SHOWN, nextShown, type Shown } from './last-good.ts';
import type { Log } from './log.ts';
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
  companionKeys: ReadonlySet<string>;
  readonly waiters: ((result: DocumentAnalysis | null) => void)[];
}

export interface StoreParts {
  readonly log: Log;
  readonly companions: Companions;
  readonly sayings: Sayings;
}

const NO_COMPANIONS: ReadonlySet<string> = new Set();

export type Settle = (document: vscode.TextDocument, state: State, result: DocumentAnalysis | null) => void;

/** Analyses a document, at once where everything is at hand; settles it in any case, unless it moves on meanwhile. */
export function run(parts: StoreParts, document: vscode.TextDocument, state: State, settle: Settle): void {
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
    companionKeys: NO_COMPANIONS,
    waiters: [],
  };
}
