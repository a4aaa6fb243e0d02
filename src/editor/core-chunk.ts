/**
 * What the editor needs of the pure rooms, in one place: the build makes a chunk of its own of this file, so that
 * activation loads the editor's wiring alone and the readers and the simulator come with the first document.
 */

import { analyse, explainText, prepare, readerFor, ready, timelineOf, timelineView, withFixes } from '../analysis.ts';
import { completions } from '../readers/native/completion.ts';
import { chromeTrace } from '../sim/chrome-trace.ts';

export const core = {
  analyse,
  chromeTrace,
  completions,
  explainText,
  prepare,
  readerFor,
  ready,
  timelineOf,
  timelineView,
  withFixes,
} as const;
