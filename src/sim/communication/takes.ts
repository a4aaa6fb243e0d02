/**
 * When a rank takes what comes in: with the step that uses it, but for a loop's wrap-around. There the leading rank (the
 * first one for activations, the last one for gradients) takes a result pp - 1 of its own steps after the step at which
 * the other end made it, into a buffer, and uses it when its turn comes. Mirrors recv_tensor_from_previous_stage of
 * NVIDIA/Megatron-LM megatron/core/pipeline_parallel/schedules.py.
 */

import { isForward, isWeights, rankOfEntry, type Transfers } from './transfers.ts';

/** By list entry: the makers of what is taken with that entry. */
export type Takes = (entry: number) => readonly number[];

export function takesOf(transfers: Transfers): Takes {
  const { input, program } = transfers;
  const { pp, placement, ids } = program.order;
  const first = new Int32Array(ids.length).fill(-1);
  const next = new Int32Array(ids.length).fill(-1);
  const wraps = placement === 'loop' && pp > 1 && program.order.stages > pp;
  const places = wraps ? placesOf(transfers) : null;
  for (let entry = 0; entry < ids.length; entry++) {
    const maker = input[entry]!;
    if (maker < 0) continue;
    const at = places === null ? entry : takenAt(transfers, places, maker, entry);
    next[maker] = first[at]!;
    first[at] = maker;
  }
  return (entry) => {
    const makers: number[] = [];
    for (let maker = first[entry]!; maker >= 0; maker = next[maker]!) makers.push(maker);
    return makers;
  };
}

/** Where an entry stands among its rank's entries of its direction, and the other way round. */
interface Places {
  readonly ordinal: Int32Array;
  /** Per rank and direction (2 * rank for forwards): its entries in order. */
  readonly entries: readonly (readonly number[])[];
}

function placesOf(transfers: Transfers): Places {
  const { rankStart, pp, ids } = transfers.program.order;
  const ordinal = new Int32Array(ids.length);
  const entries: number[][] = Array.from({ length: 2 * pp }, () => []);
  for (let rank = 0; rank < pp; rank++) {
    for (let i = rankStart[rank]!; i < rankStart[rank + 1]!; i++) {
      if (isWeights(transfers, i)) continue;
      const own = entries[2 * rank + (isForward(transfers, i) ? 0 : 1)]!;
      ordinal[i] = own.length;
      own.push(i);
    }
  }
  return { ordinal, entries };
}

function takenAt(transfers: Transfers, { ordinal, entries }: Places, maker: number, use: number): number {
  const { pp } = transfers.program.order;
  const forward = isForward(transfers, use);
  const rank = rankOfEntry(transfers, use);
  if (rank !== (forward ? 0 : pp - 1)) return use;
  const place = Math.min(ordinal[use]!, ordinal[maker]! + pp);
  return entries[2 * rank + (forward ? 0 : 1)]![place]!;
}
