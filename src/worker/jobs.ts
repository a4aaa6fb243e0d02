/** Runs one job to its outcome, in whatever thread. */

import { exhaustive } from '../model/exhaustive.ts';
import type { Timeline } from '../model/timeline.ts';
import { variationOf, variationRefusal } from '../sim/jitter.ts';
import { DEFAULT_OVERLAP_FACTOR, price } from '../sim/ops.ts';
import { pipelineReport, programOf } from '../sim/simulate.ts';
import { runFileJob } from './file-jobs.ts';
import type { AnyAnswer, Job, Jobs, Outcome, SimulationJob } from './protocol.ts';

/** `isCancelled` is asked before and, in long jobs, every few milliseconds. Never throws. */
export async function runJob(job: Job, isCancelled: () => boolean): Promise<Outcome<AnyAnswer>> {
  if (isCancelled()) return { status: 'cancelled' };
  try {
    switch (job.kind) {
      case 'report':
      case 'timeline':
      case 'variation':
        return runSimulation(job, isCancelled);
      default:
        return await runFileJob(job);
    }
  } catch (error) {
    // A bug of ours refuses the one job, and the next ones are served.
    return { status: 'refused', reason: error instanceof Error ? error.message : String(error) };
  }
}

function runSimulation(job: SimulationJob, isCancelled: () => boolean): Outcome<AnyAnswer> {
  switch (job.kind) {
    case 'report': {
      const { shape, costs, options } = job.ask;
      const simulated = pipelineReport(shape, costs, options);
      return simulated.ok
        ? { status: 'done', value: simulated.report }
        : { status: 'refused', reason: simulated.reason };
    }
    case 'timeline': {
      const { shape, costs, options } = job.ask;
      const simulated = pipelineReport(shape, costs, options);
      if (!simulated.ok) return { status: 'refused', reason: simulated.reason };
      const { timeline } = simulated;
      if (timeline === null) return { status: 'refused', reason: 'the run is too long for a timeline' };
      return { status: 'done', value: timeline };
    }
    case 'variation':
      return variation(job.ask, isCancelled);
    default:
      return exhaustive(job);
  }
}

function variation(
  { shape, costs, options, noise }: Jobs['variation']['ask'],
  isCancelled: () => boolean,
): Outcome<AnyAnswer> {
  const compiled = programOf(shape, costs, options);
  if (!compiled.ok) return { status: 'refused', reason: compiled.reason };
  const prices = price(compiled.program.ops, costs, options.overlapFactor ?? DEFAULT_OVERLAP_FACTOR);
  const value = variationOf(compiled.program, prices, { ...noise, isCancelled });
  if (value === null) return { status: 'cancelled' };
  const reason = variationRefusal(value);
  return reason === null ? { status: 'done', value } : { status: 'refused', reason };
}

/**
 * The outcome ready to be sent away, and the buffers that move with it, without a copy: those of a timeline's columns,
 * wherever it stands in the answer, and of bytes.
 */
export function forSending(outcome: Outcome<AnyAnswer>): {
  readonly outcome: Outcome<AnyAnswer>;
  readonly buffers: readonly ArrayBuffer[];
} {
  const buffers: ArrayBuffer[] = [];
  if (outcome.status !== 'done') return { outcome, buffers };
  return { outcome: { ...outcome, value: sent(outcome.value, buffers) }, buffers };
}

function sent(value: AnyAnswer, buffers: ArrayBuffer[]): AnyAnswer {
  if (value instanceof Uint8Array) {
    buffers.push(value.buffer);
    return value;
  }
  if (typeof value === 'object' && 'rankStart' in value) return sentTimeline(value, buffers);
  if (typeof value === 'object' && 'view' in value && value.view !== null) {
    return { ...value, view: { ...value.view, timeline: sentTimeline(value.view.timeline, buffers) } };
  }
  return value;
}

/** The ranks' starts belong to the cached order; columns that are sent away must not. */
function sentTimeline(timeline: Timeline, buffers: ArrayBuffer[]): Timeline {
  const own = { ...timeline, rankStart: Int32Array.from(timeline.rankStart) };
  for (const column of Object.values(own)) {
    if (ArrayBuffer.isView(column) && column.buffer instanceof ArrayBuffer) buffers.push(column.buffer);
  }
  return own;
}
