/**
 * A custom order in any form that is read: our own text (one line per rank, with or without `rank 0:`, `#` starts a
 * comment) or torch's schedule CSV. What comes back is our own lines, the sizes that they speak of, and what was passed
 * over or put right on the way.
 */

import type { ScheduleId } from '../model/schedule.ts';
import { rankOfStage } from './shape.ts';
import { isTorchCsv, readTorchCsv } from './torch-csv.ts';

export interface OrderSaid {
  readonly lines: readonly string[];
  readonly notes: readonly string[];
  /** null where the lines speak of no action. */
  readonly sizes: SaidSizes | null;
}

/** `schedule` stands for the placement alone. */
export interface SaidSizes {
  readonly schedule: ScheduleId;
  readonly pp: number;
  readonly vpp: number;
  readonly microbatches: number;
}

export type OrderRead =
  | { readonly ok: true; readonly order: OrderSaid }
  | { readonly ok: false; readonly reason: string };

export function readOrder(text: string): OrderRead {
  const read = isTorchCsv(text) ? readTorchCsv(text) : { ok: true as const, lines: ownLines(text), notes: [] };
  if (!read.ok) return read;
  return { ok: true, order: { lines: read.lines, notes: read.notes, sizes: sizesOf(read.lines) } };
}

/** A line of `rank 3:` alone is a rank without actions. */
function ownLines(text: string): readonly string[] {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => line.replace(/#.*$/, '').trim())
    .filter((line) => line !== '')
    .map((line) => line.replace(/^rank\s+\d+\s*:\s*/, ''));
}

function sizesOf(lines: readonly string[]): SaidSizes | null {
  const ranksOf: Set<number>[] = [];
  let microbatches = 0;
  for (const [rank, line] of lines.entries()) {
    for (const [, stageText, microbatchText] of line.matchAll(/[FIWB](\d{1,5})\.(\d{1,9})/g)) {
      const stage = Number(stageText);
      ranksOf[stage] ??= new Set();
      ranksOf[stage].add(rank);
      microbatches = Math.max(microbatches, Number(microbatchText) + 1);
    }
  }
  if (ranksOf.length === 0) return null;
  const pp = lines.length;
  const vpp = Math.max(1, Math.ceil(ranksOf.length / pp));
  const isTwice = pp > 1 && ranksOf.length === pp && ranksOf.every((ranks) => ranks.size === 2);
  if (isTwice) return { schedule: 'dualpipe', pp, vpp: 2, microbatches };
  const isV = vpp === 2 && pp > 1 && ranksOf.every((ranks, stage) => ranks.has(rankOfStage('v', pp, stage)));
  return { schedule: isV ? 'zbv' : vpp > 1 ? 'interleaved-1f1b' : '1f1b', pp, vpp, microbatches };
}
