/**
 * Peak activation bytes per rank: the largest sum, while the rank's list runs, of what its live stage-microbatches
 * hold. One more at each F, one less at each B, or at each W where the backward is split.
 */

import type { Costs } from '../model/costs.ts';
import { BACKWARD_INPUT, FORWARD } from './order.ts';
import type { Program } from './program.ts';

/** Per rank; null where a stage of the rank has no known size. */
export function peakBytes(program: Program, costs: Costs): readonly (number | null)[] {
  const { pp, stages } = program.order;
  const held: Set<number | null>[] = Array.from({ length: pp }, () => new Set());
  for (let op = 0; op < program.ops.directions * stages * 4; op += 4) {
    held[program.ops.rank[op]!]!.add(costs.activationBytes[(op >> 2) % stages] ?? null);
  }
  return held.map((sizes, rank) => {
    if (sizes.has(null)) return null;
    const [only] = sizes;
    return sizes.size === 1 ? only! * program.peakActivations[rank]! : walk(program, costs, rank);
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
