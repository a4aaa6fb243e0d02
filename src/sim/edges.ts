/**
 * The edges between stages, by what their transfers cross: nothing where both stages are on one rank (the turn of a
 * V), a link within a node, a link between nodes, and the wrap-around from the last rank of a loop back to the first
 * one, which joins the far ends of the pipeline.
 */

import { exhaustive } from '../model/exhaustive.ts';
import type { Placement } from '../model/schedule.ts';
import { rankOfStage } from './shape.ts';

export type EdgeKind = 'same-rank' | 'in-node' | 'cross-node' | 'wrap-around';

interface EdgeTimes {
  readonly inNode: number;
  readonly crossNode: number;
  readonly wrapAround: number;
}

/** Per edge between stages s and s + 1. Ranks 0 to `ranksPerNode` - 1 share a node, and so on; null: all do. */
export function edgeKinds(
  placement: Placement,
  pp: number,
  stages: number,
  ranksPerNode: number | null,
): readonly EdgeKind[] {
  const nodeOf = (rank: number) => (ranksPerNode === null ? 0 : Math.floor(rank / ranksPerNode));
  return Array.from({ length: stages - 1 }, (_, stage) => {
    const from = rankOfStage(placement, pp, stage);
    const to = rankOfStage(placement, pp, stage + 1);
    if (from === to) return 'same-rank';
    if (placement === 'loop' && pp > 2 && to === 0) return 'wrap-around';
    return nodeOf(from) === nodeOf(to) ? 'in-node' : 'cross-node';
  });
}

/** A wrap-around that nobody gives a time of its own is a link like the others, within a node or between two. */
export function edgeTransfers(
  placement: Placement,
  pp: number,
  stages: number,
  ranksPerNode: number | null,
  { inNode, crossNode, wrapAround }: Omit<EdgeTimes, 'wrapAround'> & { readonly wrapAround: number | null },
): readonly number[] {
  const isOneNode = ranksPerNode === null || pp <= ranksPerNode;
  const times: EdgeTimes = { inNode, crossNode, wrapAround: wrapAround ?? (isOneNode ? inNode : crossNode) };
  return edgeKinds(placement, pp, stages, ranksPerNode).map((kind) => timeOf(kind, times));
}

function timeOf(kind: EdgeKind, { inNode, crossNode, wrapAround }: EdgeTimes): number {
  switch (kind) {
    case 'same-rank':
      return 0;
    case 'in-node':
      return inNode;
    case 'cross-node':
      return crossNode;
    case 'wrap-around':
      return wrapAround;
    default:
      return exhaustive(kind);
  }
}
