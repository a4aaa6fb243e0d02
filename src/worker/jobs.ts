/** Runs one job to its outcome, in whatever thread. */

import { exhaustive } from '../model/exhaustive.ts';
import type { Timeline } from '../model/timeline.ts';
import { variationOf } from '../sim/jitter.ts';
import { DEFAULT_OVERLAP_FACTOR, price } from '../sim/ops.ts';
import { pipelineReport, programOf } from '../sim/simulate.ts';
import type { Job, JobKind, Jobs, Outcome } from './protocol.ts';

type AnyAnswer = Jobs[JobKind]['answer'];

/** `isCancelled` is asked before and, in long jobs, every few milliseconds. */
export function runJob(job: Job, isCancelled: () => boolean): Outcome<AnyAnswer> {
  if (isCancelled()) return { status: 'cancelled' };
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
      return { status: 'done', value: ownColumns(timeline) };
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
  return value === null ? { status: 'cancelled' } : { status: 'done', value };
}

/** The ranks' starts belong to the cached order; columns that are sent away must not. */
function ownColumns(timeline: Timeline): Timeline {
  return { ...timeline, rankStart: Int32Array.from(timeline.rankStart) };
}

/** The buffers of a timeline, which move to the asker without a copy. */
export function buffersOf(outcome: Outcome<AnyAnswer>): readonly ArrayBuffer[] {
  if (outcome.status !== 'done') return [];
  return Object.values(outcome.value).flatMap((column: unknown) =>
    ArrayBuffer.isView(column) && column.buffer instanceof ArrayBuffer ? [column.buffer] : [],
  );
}
