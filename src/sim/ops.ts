/**
 * Operations: the few kinds of step that all actions of an order are instances of. Every action of one kind on one
 * stage is the same operation: it runs on the same rank, waits for the same neighbour over the same edge and takes
 * the same time. The engine's inner loops index these tables and nothing else. Under bidirectional placement a stage
 * lives on two ranks, so its operations exist once per direction.
 */

import type { Costs } from '../model/costs.ts';
import type { Placement } from '../model/schedule.ts';
import { BACKWARD, BACKWARD_INPUT, BACKWARD_WEIGHT, FORWARD } from './order.ts';
import { rankOfStage } from './shape.ts';

/** The operation of an action is `(direction * stages + stage) * 4 + kind`; gates and pairs come after those. */
export interface Ops {
  readonly stages: number;
  readonly directions: number;
  readonly count: number;
  readonly rank: Int32Array;
  /** The rank whose result the operation waits for; -1 where it waits for none. */
  readonly source: Int32Array;
  /** Edge s joins stages s and s + 1, in the first direction; -1 where nothing is transferred. */
  readonly edge: Int32Array;
  /** The rank that can be waiting for the result; -1 where none can. */
  readonly wakes: Int32Array;
  /** Plain operations whose times add up to the operation's own; -1 where there is none. */
  readonly first: Int32Array;
  readonly second: Int32Array;
}

/** What times the operations have, per global stage and per edge. */
type StageTimes = Pick<Costs, 'forward' | 'backwardInput' | 'backwardWeight' | 'transfer'>;

/** Times by operation. */
export interface Prices {
  readonly duration: Float64Array;
  readonly latency: Float64Array;
}

/** How much of the sum of its two actions an overlapped pair takes; 1 is no gain. */
export const DEFAULT_OVERLAP_FACTOR = 1;

/** The rank that holds a stage in a direction; direction 1 runs the pipeline backwards. */
export function rankInDirection(placement: Placement, pp: number, stage: number, direction: number): number {
  const rank = rankOfStage(placement, pp, stage);
  return direction === 1 ? pp - 1 - rank : rank;
}

/**
 * The tables for an order. `pairs` lists the overlapped pairs that occur, as [first, second] operations; they need a
 * gate (the wait for the first action's input, no time) for every plain operation, and an operation of their own.
 */
export function makeOps(
  placement: Placement,
  pp: number,
  stages: number,
  pairs: readonly (readonly [number, number])[],
): Ops {
  const directions = placement === 'bidirectional' ? 2 : 1;
  const plain = directions * stages * 4;
  const count = pairs.length === 0 ? plain : 2 * plain + pairs.length;
  const table = () => new Int32Array(count).fill(-1);
  const ops = { rank: table(), source: table(), edge: table(), wakes: table(), first: table(), second: table() };
  for (let direction = 0; direction < directions; direction++) {
    fillPlain(ops, direction * stages * 4, ranksOfStages(placement, pp, stages, direction), direction === 1);
  }
  for (let op = 0; op < plain && pairs.length > 0; op++) {
    const gate = plain + op;
    ops.rank[gate] = ops.rank[op]!;
    ops.source[gate] = ops.source[op]!;
    ops.edge[gate] = ops.edge[op]!;
  }
  pairs.forEach(([first, second], i) => {
    const op = 2 * plain + i;
    ops.rank[op] = ops.rank[second]!;
    ops.source[op] = ops.source[second]!;
    ops.edge[op] = ops.edge[second]!;
    ops.first[op] = first;
    ops.second[op] = second;
  });
  return { stages, directions, count, ...ops };
}

function ranksOfStages(placement: Placement, pp: number, stages: number, direction: number): Int32Array {
  const ranks = new Int32Array(stages);
  for (let stage = 0; stage < stages; stage++) ranks[stage] = rankInDirection(placement, pp, stage, direction);
  return ranks;
}

type OpTables = Pick<Ops, 'rank' | 'source' | 'edge' | 'wakes' | 'first'>;

/** The operations of one direction, from `at` on. The other direction meets the same links from their far ends. */
function fillPlain(ops: OpTables, at: number, ranks: Int32Array, isReversed: boolean): void {
  const stages = ranks.length;
  for (let stage = 0, op = at; stage < stages; stage++) {
    const rank = ranks[stage]!;
    const before = stage === 0 ? -1 : ranks[stage - 1]!;
    const after = stage === stages - 1 ? -1 : ranks[stage + 1]!;
    for (let kind = 0; kind < 4; kind++, op++) {
      ops.rank[op] = rank;
      ops.first[op] = op;
      if (kind === BACKWARD_WEIGHT) continue;
      const from = kind === FORWARD ? before : after;
      ops.source[op] = from;
      const link = kind === FORWARD ? stage - 1 : stage;
      if (from >= 0 && from !== rank) ops.edge[op] = isReversed ? stages - 2 - link : link;
      ops.wakes[op] = kind === FORWARD ? after : before;
    }
  }
}

/** Fills in the times of every operation. Costs are per global stage; an edge within a rank costs nothing. */
export function price(ops: Ops, costs: StageTimes, overlapFactor: number): Prices {
  const duration = new Float64Array(ops.count);
  const latency = new Float64Array(ops.count);
  const { stages, first, second, edge } = ops;
  const plain = ops.directions * stages * 4;
  for (let stage = 0; stage < stages; stage++) {
    const input = costs.backwardInput[stage]!;
    const weight = costs.backwardWeight[stage]!;
    for (let op = 4 * stage; op < plain; op += 4 * stages) {
      duration[op + FORWARD] = costs.forward[stage]!;
      duration[op + BACKWARD_INPUT] = input;
      duration[op + BACKWARD_WEIGHT] = weight;
      duration[op + BACKWARD] = input + weight;
    }
  }
  for (let op = plain; op < ops.count; op++) {
    if (second[op]! >= 0) duration[op] = overlapFactor * (duration[first[op]!]! + duration[second[op]!]!);
  }
  for (let op = 0; op < ops.count; op++) if (edge[op]! >= 0) latency[op] = costs.transfer[edge[op]!]!;
  return { duration, latency };
}
