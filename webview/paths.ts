/** The way of one microbatch through the pipeline: its actions in the order in which it passes them. Pure. */

import type { Timeline } from '../src/model/timeline.ts';

export interface MicrobatchIndex {
  /** Microbatch m owns the slice `offset[m] .. offset[m + 1]` of `actions`. */
  readonly offset: Int32Array;
  readonly actions: Int32Array;
  readonly rank: Int32Array;
}

export interface Step {
  readonly index: number;
  readonly rank: number;
}

export function indexMicrobatches(timeline: Timeline): MicrobatchIndex {
  const count = timeline.microbatch.length;
  let most = 0;
  for (let i = 0; i < count; i++) most = Math.max(most, timeline.microbatch[i]!);
  const offset = new Int32Array(most + 2);
  for (let i = 0; i < count; i++) offset[timeline.microbatch[i]! + 1]!++;
  for (let m = 0; m <= most; m++) offset[m + 1]! += offset[m]!;
  const next = offset.slice();
  const actions = new Int32Array(count);
  const rank = new Int32Array(count);
  for (let r = 0; r < timeline.pp; r++) {
    for (let i = timeline.rankStart[r]!; i < timeline.rankStart[r + 1]!; i++) {
      const place = next[timeline.microbatch[i]!]!++;
      actions[place] = i;
      rank[place] = r;
    }
  }
  return { offset, actions, rank };
}

/** Forward by stage upwards, then backward by stage downwards; weight gradients stay where they are and are left out. */
export function pathOf(timeline: Timeline, index: MicrobatchIndex, microbatch: number): readonly Step[] {
  const steps: Step[] = [];
  for (let place = index.offset[microbatch]!; place < index.offset[microbatch + 1]!; place++) {
    if (timeline.kind[index.actions[place]!] !== 2) {
      steps.push({ index: index.actions[place]!, rank: index.rank[place]! });
    }
  }
  const position = ({ index: action }: Step) => {
    const stage = timeline.stage[action]!;
    return timeline.kind[action] === 0 ? stage : 1e9 - stage;
  };
  return steps.sort((a, b) => position(a) - position(b));
}
