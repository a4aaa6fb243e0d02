/**
 * A timeline as a Chrome trace (the Trace Event Format, "complete" events), which Perfetto, chrome://tracing and
 * speedscope open: one thread for each rank, one slice for each action. Times are microseconds there; where the costs
 * have no unit, one layer is written as one millisecond and the metadata says so.
 */

import { KIND_NAMES, type Timeline } from '../model/timeline.ts';

const CATEGORIES = ['forward', 'backward-input', 'backward-weight', 'backward'] as const;
const US_PER_UNIT = 1000;

export interface TraceEvent {
  readonly name: string;
  readonly ph: 'X' | 'M';
  readonly pid: number;
  readonly tid: number;
  readonly cat?: string;
  readonly ts?: number;
  readonly dur?: number;
  readonly args: Readonly<Record<string, string | number>>;
}

export interface ChromeTrace {
  readonly displayTimeUnit: 'ms';
  readonly otherData: Readonly<Record<string, string>>;
  readonly traceEvents: readonly TraceEvent[];
}

/** The trace of a whole timeline; `title` names its process. */
export function chromeTrace(timeline: Timeline, title: string): ChromeTrace {
  const traceEvents: TraceEvent[] = [meta('process_name', 0, { name: title })];
  for (let rank = 0; rank < timeline.pp; rank++) {
    traceEvents.push(
      meta('thread_name', rank, { name: `rank ${rank}` }),
      meta('thread_sort_index', rank, { sort_index: rank }),
    );
    for (let i = timeline.rankStart[rank]!; i < timeline.rankStart[rank + 1]!; i++) {
      traceEvents.push(slice(timeline, rank, i));
    }
  }
  const unit = timeline.unit === 'ms' ? 'milliseconds' : 'relative costs: 1 ms stands for the forward of one layer';
  return { displayTimeUnit: 'ms', otherData: { producer: 'Bubblelens', unit }, traceEvents };
}

function slice({ kind, stage, microbatch, start, end }: Timeline, rank: number, i: number): TraceEvent {
  const code = kind[i]!;
  return {
    name: `${KIND_NAMES[code]}${stage[i]}.${microbatch[i]}`,
    cat: CATEGORIES[code]!,
    ph: 'X',
    pid: 0,
    tid: rank,
    ts: start[i]! * US_PER_UNIT,
    dur: (end[i]! - start[i]!) * US_PER_UNIT,
    args: { stage: stage[i]!, microbatch: microbatch[i]! },
  };
}

function meta(name: string, tid: number, args: Readonly<Record<string, string | number>>): TraceEvent {
  return { name, ph: 'M', pid: 0, tid, args };
}
