/**
 * What a worker is asked and what it answers. Jobs are one table: a further one is a row here and a case in `jobs.ts`.
 * Every request carries a flag in shared memory, which the asker raises when the answer is not wanted any more, so that
 * a running job need not wait for a message to learn it.
 */

import type { AnalysisInput, ViewOutcome } from '../analysis.ts';
import type { Analysis, PlanAnalysis } from '../model/analysis.ts';
import type { Costs } from '../model/costs.ts';
import type { Completion } from '../model/reading.ts';
import type { PipelineReport } from '../model/report.ts';
import type { Timeline } from '../model/timeline.ts';
import type { Variation } from '../model/variation.ts';
import type { FixedFactors } from '../sim/noisy-nodes.ts';
import type { PipelineShape } from '../sim/shape.ts';
import type { SimulationOptions } from '../sim/simulate.ts';

/** A pipeline to simulate, as `pipelineReport` takes it. */
export interface Simulation {
  readonly shape: PipelineShape;
  readonly costs: Costs;
  readonly options: SimulationOptions;
}

interface Noise {
  readonly sigma: number;
  readonly samples: number;
  readonly seed: number;
  readonly factors: FixedFactors;
}

/** Jobs upon a simulation: what is asked, and what comes back when all goes well. */
interface SimulationJobs {
  readonly report: { readonly ask: Simulation; readonly answer: PipelineReport };
  readonly timeline: { readonly ask: Simulation; readonly answer: Timeline };
  readonly variation: { readonly ask: Simulation & { readonly noise: Noise }; readonly answer: Variation };
}

/** Jobs upon a file. */
interface FileJobs {
  /** The analysis, and what it took in ms, waiting and loading left out. */
  readonly analysis: {
    readonly ask: AnalysisInput;
    readonly answer: { readonly analysis: Analysis; readonly ms: number };
  };
  /** The same analysis with fixes in its findings. */
  readonly fixes: {
    readonly ask: { readonly input: AnalysisInput; readonly analysis: Analysis };
    readonly answer: Analysis;
  };
  readonly view: {
    readonly ask: { readonly analysis: Analysis; readonly planId: string };
    readonly answer: ViewOutcome;
  };
  /** The plan's timeline as a Chrome trace, in UTF-8. */
  readonly trace: { readonly ask: PlanAnalysis; readonly answer: Uint8Array<ArrayBuffer> };
  readonly explanation: { readonly ask: Analysis; readonly answer: string };
  /** What may be typed at an offset of a file that a reader claims. */
  readonly completions: {
    readonly ask: { readonly file: string; readonly text: string; readonly offset: number };
    readonly answer: readonly Completion[];
  };
}

export type Jobs = SimulationJobs & FileJobs;

export type JobKind = keyof Jobs;

type Asking<Table extends { readonly [K in keyof Table]: { readonly ask: unknown } }> = {
  readonly [K in keyof Table]: { readonly kind: K; readonly ask: Table[K]['ask'] };
}[keyof Table];

export type SimulationJob = Asking<SimulationJobs>;
export type FileJob = Asking<FileJobs>;
export type Job = SimulationJob | FileJob;

export type AnyAnswer = Jobs[JobKind]['answer'];

/**
 * `refused`: there is no answer, and why, in one line. `lost`: the thread died of the job, or, where it never `lived`,
 * before it.
 */
export type Outcome<T> =
  | { readonly status: 'done'; readonly value: T }
  | { readonly status: 'refused'; readonly reason: string }
  | { readonly status: 'cancelled' }
  | { readonly status: 'lost'; readonly reason: string; readonly lived: boolean };

export interface Request {
  readonly sequence: number;
  readonly job: Job;
  /** One number in shared memory; not 0 once the answer is not wanted. */
  readonly cancelled: Int32Array<SharedArrayBuffer>;
}

export interface Reply {
  readonly sequence: number;
  readonly outcome: Outcome<AnyAnswer>;
}

/** The first message of a thread: its code is loaded. */
export interface Alive {
  readonly alive: true;
}
