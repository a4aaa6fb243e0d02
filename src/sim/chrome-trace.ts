/**
 * A timeline as a Chrome trace (the Trace Event Format, which chrome://tracing and Perfetto open): one thread per
 * rank, one complete event per action. Times are microseconds there; a relative unit counts as a millisecond.
 */

import { KIND_NAMES, type Timeline } from '../model/timeline.ts';

const US_PER_UNIT = 1000;

const CATEGORIES = ['forward', 'backward input', 'backward weight', 'backward'] as const;

/** The document as text, one event a line. */
export function chromeTrace(timeline: Timeline): string {
  const lines: string[] = [];
  for (let rank = 0; rank < timeline.pp; rank++) {
    lines.push(JSON.stringify({ name: 'thread_name', ph: 'M', pid: 0, tid: rank, args: { name: `rank ${rank}` } }));
    for (let i = timeline.rankStart[rank]!; i < timeline.rankStart[rank + 1]!; i++) {
      const kind = timeline.kind[i]!;
      const stage = timeline.stage[i]!;
      const microbatch = timeline.microbatch[i]!;
      lines.push(
        JSON.stringify({
          name: `${KIND_NAMES[kind]}${stage}.${microbatch}`,
          cat: CATEGORIES[kind],
          ph: 'X',
          pid: 0,
          tid: rank,
          ts: timeline.start[i]! * US_PER_UNIT,
          dur: (timeline.end[i]! - timeline.start[i]!) * US_PER_UNIT,
          args: { stage, microbatch, ...(timeline.waitedFor[i]! < 0 ? {} : { waitedForRank: timeline.waitedFor[i] }) },
        }),
      );
    }
  }
  return `{"displayTimeUnit":"ms","traceEvents":[\n${lines.join(',\n')}\n]}\n`;
}
