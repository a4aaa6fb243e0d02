/**
 * Peak activation bytes per rank: the largest sum, while the rank's list runs, of what its live stage-microbatches
 * hold. One more at each F, one less at each B, or at each W where the backward is split.
 */

import type { Costs } from '../model/costs.ts';
import { BACKWARD_INPUT, FORWARD } from './order.ts';
import type { Program } from './program.ts';

/** What a rank's stages hold where they hold different sizes, and where no size is known. */
const MIXED = -1;
const UNKNOWN = -2;

/** Per rank; null where a stage of the rank has no known size. */
export function peakBytes(program: Program, costs: Costs): readonly (number | null)[] {
  const { pp, stages } = program.order;
  const held: number[] = new Array(pp).fill(Number.NaN);
  for (let op = 0; op < program.ops.directions * stages * 4; op += 4) {
    const rank = program.ops.rank[op]!;
    const bytes = costs.activationBytes[(op >> 2) % stages] ?? UNKNOWN;
    if (Number.isNaN(held[rank]) || bytes === UNKNOWN) held[rank] = bytes;
    else if (held[rank] !== bytes && held[rank] !== UNKNOWN) held[rank] = MIXED;
  }
  return held.map((bytes, rank) => {
    if (bytes === UNKNOWN) return null;
    return bytes === MIXED ? walk(program, costs, rank) : bytes * program.peakActivations[rank]!;
  });
}

function walk({ order }: Program, costs: Costs, rank: number): number {
  const { ids, rankStart, microbatchBits } = order;
  let live = 0;
  let peak = 0;
  for (let i = rankStart[rank]!; i < rankStart[rank + 1]!; i++) {
    const id = ids[i]! < 0 ? ~ids[i]! : ids[i]!;
    const kind = id & 3;
    if (kind === BACKWARD_INPUT) continue;
    const bytes = costs.activationBytes[id >> (2 + microbatchBits)]!;
    live += kind === FORWARD ? bytes : -bytes;
    if (live > peak) peak = live;
  }
  return peak;
}
