/**
 * What a worker is asked and what it answers. Jobs are one table: a further one is a row here and a case in `jobs.ts`.
 * Every request carries a flag in shared memory, which the asker raises when the answer is not wanted any more, so that
 * a running job need not wait for a message to learn it.
 */

import type { Costs } from '../model/costs.ts';
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

export interface Noise {
  readonly sigma: number;
  readonly samples: number;
  readonly seed: number;
  readonly factors: FixedFactors;
}

/** By kind of job: what is asked, and what comes back when all goes well. */
export interface Jobs {
  readonly report: { readonly ask: Simulation; readonly answer: PipelineReport };
  readonly timeline: { readonly ask: Simulation; readonly answer: Timeline };
  readonly variation: { readonly ask: Simulation & { readonly noise: Noise }; readonly answer: Variation };
}

export type JobKind = keyof Jobs;

export type Job = { readonly [K in JobKind]: { readonly kind: K; readonly ask: Jobs[K]['ask'] } }[JobKind];

/** `refused`: there is no answer, and why, in one line. */
export type Outcome<T> =
  | { readonly status: 'done'; readonly value: T }
  | { readonly status: 'refused'; readonly reason: string }
  | { readonly status: 'cancelled' };

export interface Request {
  readonly sequence: number;
  readonly job: Job;
  /** One number in shared memory; not 0 once the answer is not wanted. */
  readonly cancelled: Int32Array<SharedArrayBuffer>;
}

export interface Reply {
  readonly sequence: number;
  readonly outcome: Outcome<Jobs[JobKind]['answer']>;
}
