/** Names the transfers that wait for each other without end: which rank stands at which transfer, around the cycle. */

import { KIND_NAMES } from '../../model/timeline.ts';
import type { Progress } from './link.ts';
import { type Instructions, POST_RECEIVE, POST_SEND, rankOfEntry, type Transfers } from './transfers.ts';

const MAX_LINKS = 8;

/** One line. `from` is a rank that has not come to the end of its list. */
export function communicationDeadlock(
  transfers: Transfers,
  instructions: Instructions,
  progress: Progress,
  from: number,
): string {
  const { start } = instructions;
  const seen = new Set<number>();
  const links: string[] = [];
  let rank = from;
  while (rank >= 0 && !seen.has(rank)) {
    seen.add(rank);
    const { text, next } = waitOf(transfers, instructions, progress, rank);
    links.push(text);
    rank = progress.cursor[next]! < start[next + 1]! ? next : -1;
  }
  const rest = links.length - MAX_LINKS;
  const more = rest > 0 ? `; and so on, over ${rest} more` : '';
  return `the transfers deadlock: ${links.slice(0, MAX_LINKS).join('; ')}${more}`;
}

/** What a rank stands at, and the rank that holds it up. */
function waitOf(transfers: Transfers, { list, start }: Instructions, progress: Progress, rank: number) {
  const entry = list[progress.cursor[rank]!]! >> 3;
  const sender = rankOfEntry(transfers, entry);
  const receiver = rankOfEntry(transfers, transfers.consumer[entry]!);
  const peer = rank === sender ? receiver : sender;
  const what =
    rank === sender
      ? `rank ${rank} waits to send ${nameOf(transfers, entry)} to rank ${peer}`
      : `rank ${rank} waits to receive ${nameOf(transfers, entry)} from rank ${peer}`;
  if ((progress.state[entry]! & 3) !== 3) return { text: `${what}, which has not come to it`, next: peer };
  // Both have posted it: it stands behind another transfer on one of their streams.
  for (const holder of [sender, receiver]) {
    for (let i = progress.head[holder]!; i < start[holder + 1]!; i++) {
      const verb = list[i]! & 7;
      const ahead = list[i]! >> 3;
      if (ahead === entry) break;
      if ((verb !== POST_SEND && verb !== POST_RECEIVE) || (progress.state[ahead]! & 4) !== 0) continue;
      const ends = [rankOfEntry(transfers, ahead), rankOfEntry(transfers, transfers.consumer[ahead]!)];
      const next = (ends[0] === holder ? ends[1] : ends[0])!;
      return { text: `${what}, behind ${nameOf(transfers, ahead)} on the stream of rank ${holder}`, next };
    }
  }
  return { text: what, next: peer };
}

function nameOf({ program }: Transfers, entry: number): string {
  const { ids, microbatchBits } = program.order;
  const id = ids[entry]! < 0 ? ~ids[entry]! : ids[entry]!;
  return `${KIND_NAMES[id & 3]}${id >> (2 + microbatchBits)}.${(id >> 2) & ((1 << microbatchBits) - 1)}`;
}
