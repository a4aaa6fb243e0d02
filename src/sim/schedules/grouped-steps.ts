/** The order in which interleaved schedules walk over stages and microbatches: group by group, stage by stage. */

import type { PipelineShape } from '../shape.ts';

/** Step i runs microbatch `microbatch[i]` on the rank's stage `chunk[i]`; backward it is the same, chunks reversed. */
export interface Steps {
  readonly chunk: Int32Array;
  readonly microbatch: Int32Array;
}

/** The last group holds what is left. */
export function groupedSteps({ vpp, microbatches, groupSize }: PipelineShape): Steps {
  const chunk = new Int32Array(vpp * microbatches);
  const microbatch = new Int32Array(vpp * microbatches);
  let at = 0;
  for (let first = 0; first < microbatches; first += groupSize) {
    const last = Math.min(first + groupSize, microbatches);
    for (let c = 0; c < vpp; c++) {
      for (let m = first; m < last; m++) {
        chunk[at] = c;
        microbatch[at++] = m;
      }
    }
  }
  return { chunk, microbatch };
}
