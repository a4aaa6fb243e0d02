/**
 * Orders from text, the inverse of `orderLines`: one line per rank, `F0.0 I0.0 W0.0 B1.2 O(F0.3|B3.1)`. What comes
 * back is complete: every forward once, every backward once, whole or split, each on the rank that holds its stage.
 * Whether the order can run to its end is told by compiling it.
 */

import { counted, grouped } from '../model/counted.ts';
import { KIND_CODES } from '../model/timeline.ts';
import { rankInDirection } from './ops.ts';
import {
  BACKWARD,
  BACKWARD_INPUT,
  BACKWARD_WEIGHT,
  FORWARD,
  type IdSteps,
  idSteps,
  type Order,
  type OrderSizes,
} from './order.ts';

export type ParsedOrder =
  | { readonly ok: true; readonly order: Order }
  | { readonly ok: false; readonly reason: string };

const ACTION = /^([FIWB])(\d{1,9})\.(\d{1,9})$/;
const PAIR = /^O\(([^|()]+)\|([^|()]+)\)$/;

/** Refuses, in one line, an order that is not one of these sizes. */
export function parseOrder(lines: readonly string[], sizes: OrderSizes): ParsedOrder {
  const { pp, microbatches } = sizes;
  if (lines.length !== pp)
    return { ok: false, reason: `the order has ${counted(lines.length, 'line')} for ${counted(pp, 'rank')}` };
  const steps = idSteps(microbatches);
  const ids: number[] = [];
  const rankStart = new Int32Array(pp + 1);
  for (let rank = 0; rank < pp; rank++) {
    for (const word of lines[rank]!.split(/\s+/).filter(Boolean)) {
      const parts = partsOf(word);
      if (parts === null)
        return { ok: false, reason: `rank ${rank}: ${word.slice(0, 40)} is not a forward with a backward` };
      for (const [i, text] of parts.entries()) {
        const id = actionId(text, rank, sizes, steps);
        if (typeof id === 'string') return { ok: false, reason: `rank ${rank}: ${id}` };
        ids.push(i === 1 ? ~id : id);
      }
    }
    rankStart[rank + 1] = ids.length;
  }
  const order = { ...sizes, microbatchBits: steps.microbatchBits, ids: Int32Array.from(ids), rankStart };
  const missing = incompleteness(order);
  return missing === null ? { ok: true, order } : { ok: false, reason: missing };
}

/** A word's actions, the forward of a pair first; null for a pair of other kinds. */
function partsOf(word: string): readonly string[] | null {
  const [, first, second] = PAIR.exec(word) ?? [];
  if (first === undefined || second === undefined) return [word];
  const [forward, backward] = first.startsWith('F') ? [first, second] : [second, first];
  return forward.startsWith('F') && /^[IB]/.test(backward) ? [forward, backward] : null;
}

function actionId(
  text: string,
  rank: number,
  { pp, stages, microbatches, placement }: OrderSizes,
  steps: IdSteps,
): number | string {
  const [, kind, stageText, microbatchText] = ACTION.exec(text) ?? [];
  if (kind === undefined) return `"${text.slice(0, 40)}" is not an action such as F0.0, B0.0 or O(F0.1|B1.0)`;
  const stage = Number(stageText);
  const microbatch = Number(microbatchText);
  if (stage >= stages) return `${text} names stage ${stage} of ${grouped(stages)}`;
  if (microbatch >= microbatches) return `${text} names microbatch ${microbatch} of ${grouped(microbatches)}`;
  const directions = placement === 'bidirectional' ? [0, 1] : [0];
  const holders = directions.map((direction) => rankInDirection(placement, pp, stage, direction));
  if (!holders.includes(rank)) return `${text} belongs on rank ${holders.join(' or ')}`;
  return stage * steps.stage + microbatch * steps.microbatch + KIND_CODES[kind as keyof typeof KIND_CODES];
}

/** The first action that is missing or occurs twice; null when the order is complete. */
function incompleteness(order: Order): string | null {
  const { stages, microbatches, microbatchBits, ids } = order;
  const seen = new Uint8Array(stages << microbatchBits);
  const mask = (1 << microbatchBits) - 1;
  const bits = { [FORWARD]: 1, [BACKWARD_INPUT]: 2, [BACKWARD_WEIGHT]: 4, [BACKWARD]: 6 } as const;
  const name = (kinds: string, cell: number) => `${kinds}${cell >> microbatchBits}.${cell & mask}`;
  for (const signed of ids) {
    const id = signed < 0 ? ~signed : signed;
    const bit = bits[(id & 3) as keyof typeof bits];
    if ((seen[id >> 2]! & bit) !== 0) return `${name('FIWB'[id & 3]!, id >> 2)} stands in the order twice`;
    seen[id >> 2]! |= bit;
  }
  for (let cell = 0; cell < seen.length; cell++) {
    if ((cell & mask) >= microbatches || seen[cell] === 7) continue;
    const kinds = (seen[cell]! & 1) === 0 ? 'F' : (seen[cell]! & 2) === 0 ? 'B' : 'W';
    return `${name(kinds, cell)} is missing from the order`;
  }
  return null;
}
