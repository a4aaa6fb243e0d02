/** Small timelines for the laws: every rank runs actions one after another, with gaps between, some of them overlapped pairs. */

import fc from 'fast-check';
import type { Timeline } from '../../src/model/timeline.ts';

export interface Row {
  readonly gap: number;
  readonly length: number;
  readonly kind: number;
  readonly stage: number;
  readonly microbatch: number;
  readonly pair: boolean;
}

export function timelineFrom(rows: readonly (readonly Row[])[]): Timeline {
  const columns = {
    start: [] as number[],
    end: [] as number[],
    kind: [] as number[],
    stage: [] as number[],
    microbatch: [] as number[],
    waitedFor: [] as number[],
  };
  const rankStart = [0];
  let makespan = 1;
  rows.forEach((row, rank) => {
    let now = 0;
    for (const { gap, length, kind, stage, microbatch, pair } of row) {
      const start = now + gap;
      now = start + length;
      for (let n = 0; n < (pair && length > 0 ? 2 : 1); n++) {
        columns.start.push(start);
        columns.end.push(now);
        columns.kind.push(n === 0 ? kind : (kind + 1) % 4);
        columns.stage.push(stage * rows.length + rank);
        columns.microbatch.push(microbatch);
        columns.waitedFor.push(gap > 0 && rows.length > 1 ? (rank + 1) % rows.length : -1);
      }
    }
    makespan = Math.max(makespan, now);
    rankStart.push(columns.start.length);
  });
  return {
    pp: rows.length,
    makespan: makespan + 1,
    unit: 'ms',
    rankStart: Int32Array.from(rankStart),
    start: Float64Array.from(columns.start),
    end: Float64Array.from(columns.end),
    kind: Uint8Array.from(columns.kind),
    stage: Int32Array.from(columns.stage),
    microbatch: Int32Array.from(columns.microbatch),
    waitedFor: Int32Array.from(columns.waitedFor),
  };
}

export function arbitraryTimeline(options: { readonly pairs: boolean }): fc.Arbitrary<Timeline> {
  const row = fc.record({
    gap: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 9 })),
    length: fc.integer({ min: 1, max: 9 }),
    kind: fc.integer({ min: 0, max: 3 }),
    stage: fc.integer({ min: 0, max: 2 }),
    microbatch: fc.integer({ min: 0, max: 5 }),
    pair: options.pairs ? fc.boolean() : fc.constant(false),
  });
  return fc.array(fc.array(row, { maxLength: 40 }), { minLength: 1, maxLength: 4 }).map(timelineFrom);
}
