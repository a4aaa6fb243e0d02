/**
 * `one-stream`: torch. A rank's transfers run one at a time, in the order of its list, on one stream: a transfer starts
 * when both ranks have posted it and both streams are free, so that a receive whose result is not made yet holds up
 * every transfer behind it. Sends do not keep a rank. The lists are written in rounds: in every round each rank, in
 * turn, takes its next action if what it needs was taken before, and with the action its send goes into the rank's own
 * list and the receive into the list of the rank that uses it. One stream per rank is the pessimistic reading: torch
 * may keep a stream per pair of ranks.
 *
 * Mirrors pytorch/pytorch torch/distributed/pipelining/schedules.py (_add_send_recv and _PipelineScheduleRuntime).
 */

import { BACKWARD_WEIGHT } from '../order.ts';
import {
  endRank,
  type Instructions,
  POST_RECEIVE,
  POST_SEND,
  RUN,
  rankOfEntry,
  type Transfers,
  WAIT_RECEIVE,
} from './transfers.ts';

export function oneStream(transfers: Transfers): Instructions {
  const { input, consumer, op } = transfers;
  const { ids, pp, rankStart } = transfers.program.order;
  const start = new Int32Array(pp + 1);
  const length = new Int32Array(pp);
  for (let entry = 0; entry < ids.length; entry++) {
    const rank = rankOfEntry(transfers, entry);
    length[rank]! += isGate(ids, rankStart, rank, entry) ? 0 : 1;
    length[rank]! += (input[entry]! >= 0 ? 2 : 0) + (consumer[entry]! >= 0 ? 1 : 0);
  }
  for (let rank = 0; rank < pp; rank++) start[rank + 1] = start[rank]! + length[rank]!;
  const list = new Int32Array(start[pp]!);
  const at = start.slice(0, pp);
  const put = (rank: number, entry: number, verb: number) => {
    list[at[rank]!++] = entry * 8 + verb;
  };
  for (const last of inRounds(transfers)) {
    const rank = rankOfEntry(transfers, last);
    const first = ids[last]! < 0 ? last - 1 : last;
    for (let entry = first; entry <= last; entry++) if (input[entry]! >= 0) put(rank, input[entry]!, WAIT_RECEIVE);
    put(rank, last, RUN);
    for (let entry = first; entry <= last; entry++) {
      if ((op[entry]! & 3) === BACKWARD_WEIGHT || consumer[entry]! < 0) continue;
      put(rank, entry, POST_SEND);
      put(rankOfEntry(transfers, consumer[entry]!), entry, POST_RECEIVE);
    }
  }
  for (let rank = 0; rank < pp; rank++) endRank(list, start[rank]!, start[rank + 1]!);
  return { list, start };
}

/** The entries that end a step, in the order in which torch takes them: by round, then by rank. */
export function inRounds(transfers: Transfers): Int32Array {
  const { program, input } = transfers;
  const { ids, rankStart, pp } = program.order;
  const round = new Int32Array(ids.length);
  const entry = rankStart.slice(0, pp);
  const before = new Int32Array(pp).fill(-1);
  let rounds = 0;
  let steps = 0;
  for (let k = 0; k < program.code.length >> 1; k++) {
    const rank = program.ops.rank[program.code[2 * k + 1]!]!;
    const i = entry[rank]!++;
    const isSecond = ids[i]! < 0;
    let taken = isSecond ? round[i - 1]! : before[rank]! + 1;
    const maker = input[i]!;
    // A lower rank has had its turn already in the round in which it makes a result.
    if (maker >= 0) taken = Math.max(taken, round[maker]! + (rankOfEntry(transfers, maker) < rank ? 0 : 1));
    if (isSecond) round[i - 1] = taken;
    round[i] = taken;
    before[rank] = taken;
    if (isGate(ids, rankStart, rank, i)) continue;
    steps++;
    rounds = Math.max(rounds, taken + 1);
  }
  return sorted(transfers, round, rounds, steps);
}

/** By round, then by rank: a counting sort of the entries in the order of their ranks. */
function sorted({ program }: Transfers, round: Int32Array, rounds: number, steps: number): Int32Array {
  const { ids, rankStart, pp } = program.order;
  const place = new Int32Array(rounds + 1);
  const each = (visit: (entry: number) => void) => {
    for (let rank = 0; rank < pp; rank++) {
      for (let i = rankStart[rank]!; i < rankStart[rank + 1]!; i++) if (!isGate(ids, rankStart, rank, i)) visit(i);
    }
  };
  each((i) => place[round[i]! + 1]!++);
  for (let r = 0; r < rounds; r++) place[r + 1]! += place[r]!;
  const order = new Int32Array(steps);
  each((i) => {
    order[place[round[i]!]!++] = i;
  });
  return order;
}

/** The first of an overlapped pair: the pair stands at its second. */
function isGate(ids: Int32Array, rankStart: Int32Array, rank: number, entry: number): boolean {
  return entry + 1 < rankStart[rank + 1]! && ids[entry + 1]! < 0;
}
