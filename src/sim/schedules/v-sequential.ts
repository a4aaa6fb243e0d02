/**
 * The order that any memory limit from two admits on a V: one microbatch at a time, down and up the V and back. What
 * a search falls back to.
 */

import { BACKWARD_INPUT, BACKWARD_WEIGHT, idSteps } from '../order.ts';
import type { PipelineShape } from '../shape.ts';

/** Per rank, its ids in order. */
export function oneMicrobatchAtATime({ pp, microbatches }: PipelineShape): number[][] {
  const steps = idSteps(microbatches);
  return Array.from({ length: pp }, (_, rank) =>
    Array.from({ length: microbatches }, (_, m) => m * steps.microbatch).flatMap((m) => {
      const down = rank * steps.stage + m;
      const up = (2 * pp - 1 - rank) * steps.stage + m;
      return [down, up, up + BACKWARD_INPUT, up + BACKWARD_WEIGHT, down + BACKWARD_INPUT, down + BACKWARD_WEIGHT];
    }),
  );
}
