/**
 * All that is heavy, in one place: the build makes a chunk of its own of this file. The worker's thread loads it with
 * its first job; the editor's thread only to analyse small documents by itself, in a quiet moment, so that activation
 * loads the editor's wiring alone.
 */

import { analyse, analyseIfLight, prepare, readerFor, ready } from '../analysis.ts';
import { forSending, runJob } from './jobs.ts';

export const core = { analyse, analyseIfLight, prepare, readerFor, ready, runJob, forSending } as const;
