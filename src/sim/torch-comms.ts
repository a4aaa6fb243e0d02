/**
 * The check of a torch CSV with communication: every result that another rank uses is sent once, after it is made, and
 * received once, before it is used. A run of anything else would hang or read what was never sent.
 */

const COMPUTE = /(\d+)([FIB])(\d+)/g;
const TRANSFER = /^(\d+)(SEND|RECV)_([FB])(\d+)$/;

/** Where a rank has something in its row. */
interface Place {
  readonly rank: number;
  readonly at: number;
}

/** The first transfer that is missing, doubled or out of place, in one line; null when all are sound. */
export function commsProblem(rows: readonly (readonly string[])[]): string | null {
  const made = new Map<string, Place>();
  const moved = new Map<string, Place>();
  for (const [rank, row] of rows.entries()) {
    for (const [at, cell] of row.entries()) {
      const transfer = TRANSFER.exec(cell);
      if (transfer !== null) {
        if (moved.has(cell)) return `rank ${rank}: ${cell} stands in the order twice`;
        moved.set(cell, { rank, at });
      } else if (!/SHARD|REDUCE/.test(cell)) {
        for (const [, stage, kind, microbatch] of cell.replace('OVERLAP_F_B', '').matchAll(COMPUTE)) {
          made.set(`${stage}${kind === 'F' ? 'F' : 'B'}${microbatch}`, { rank, at });
        }
      }
    }
  }
  const needed = new Set<string>();
  for (const [name, maker] of made) {
    const [, stage, direction, microbatch] = /^(\d+)([FB])(\d+)$/.exec(name)!;
    const next = Number(stage) + (direction === 'F' ? 1 : -1);
    const use = made.get(`${next}${direction}${microbatch}`);
    if (use === undefined || use.rank === maker.rank) continue;
    const send = `${stage}SEND_${direction}${microbatch}`;
    const receive = `${next}RECV_${direction}${microbatch}`;
    needed.add(send).add(receive);
    const sent = moved.get(send);
    const received = moved.get(receive);
    if (sent === undefined) return `${send} is missing from the order: rank ${use.rank} would wait for it`;
    if (received === undefined) return `${receive} is missing from the order: rank ${use.rank} uses what it brings`;
    if (sent.rank !== maker.rank || sent.at < maker.at)
      return `${send} does not come after what it sends, on rank ${maker.rank}`;
    if (received.rank !== use.rank || received.at > use.at)
      return `${receive} does not come before its use, on rank ${use.rank}`;
  }
  const stray = [...moved].find(([cell]) => !needed.has(cell));
  return stray === undefined ? null : `rank ${stray[1].rank}: ${stray[0]} belongs to no result that another rank uses`;
}
