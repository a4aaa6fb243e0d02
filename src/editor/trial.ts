/**
 * Trying small documents out in the editor's own thread, in quiet moments: code that runs for the first time is slow,
 * so the core, the reader's parsers and a first few analyses take their turns one by one while nobody types. A
 * document that was quick enough is analysed in the change event from then on.
 */

import { coreAtHand, loadCore } from './core.ts';
import type { DocumentAnalysis, State } from './document-analysis.ts';
import { attemptAsync, type Log } from './log.ts';
import { HERE_MS_AT_MOST, TRIAL_MS_AT_MOST } from './pace.ts';

export interface Trials {
  /** A document was analysed in the worker's thread. */
  readonly consider: (state: State, result: DocumentAnalysis) => void;
  /** Somebody types: not now. */
  readonly putOff: () => void;
  readonly dispose: () => void;
}

/** Without a key for so long, nobody types. */
const QUIET_MS = 2000;
const BETWEEN_MS = 250;
const TRIALS_AT_MOST = 8;

interface Candidate {
  readonly state: State;
  readonly result: DocumentAnalysis;
  trials: number;
}

export function createTrials(log: Log): Trials {
  let candidate: Candidate | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;
  const wait = (ms: number): void => {
    if (timer !== null) clearTimeout(timer);
    timer = candidate === null ? null : setTimeout(turn, ms);
  };
  const turn = async (): Promise<void> => {
    timer = null;
    const now = candidate;
    const again = now !== null && (await attemptAsync(log, 'trial', false, () => oneStep(now)));
    if (candidate !== now) return;
    if (!again) candidate = null;
    if (timer === null) wait(BETWEEN_MS);
  };
  return {
    consider: (state, result) => {
      if (state.tried || result.where !== 'worker' || result.analysisMs > TRIAL_MS_AT_MOST) return;
      candidate = { state, result, trials: candidate?.state === state ? candidate.trials : 0 };
      wait(QUIET_MS);
    },
    putOff: () => wait(QUIET_MS),
    dispose: () => {
      candidate = null;
      wait(0);
    },
  };
}

/** One thing that takes a moment; whether there is more to do. */
async function oneStep(candidate: Candidate): Promise<boolean> {
  const { state, result } = candidate;
  const { input } = result;
  if (state.result !== result) return false;
  const core = coreAtHand();
  if (core === null) {
    await loadCore();
    return true;
  }
  const reader = core.readerFor(input.file, input.texts[input.file] ?? '');
  if (reader === null) return false;
  if (!core.ready(reader)) {
    await core.prepare(reader);
    return true;
  }
  const started = performance.now();
  if (core.analyseIfLight(input) === null) return false;
  state.tried = performance.now() - started <= HERE_MS_AT_MOST;
  return !state.tried && ++candidate.trials < TRIALS_AT_MOST;
}
