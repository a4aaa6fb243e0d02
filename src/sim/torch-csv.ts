/**
 * Orders as torch's schedule CSV, the file that torchtitan's `pipeline_parallel_schedule_csv` names: one row per rank,
 * one action per cell, `2F0` for the forward of microbatch 0 on stage 2, `(0F1;3B0)OVERLAP_F_B` for an overlapped pair.
 * An empty cell is a step in which torch's display shows the rank idle. The form with communication has the transfers
 * too (`2SEND_F0`, `3RECV_F0`), and the sharding steps of FSDP. Reading turns it into our own order text.
 *
 * Mirrors pytorch/pytorch torch/distributed/pipelining/schedules.py (_Action, _load_csv, _dump_csv, _add_send_recv).
 */

import { KIND_NAMES } from '../model/timeline.ts';
import { inRounds } from './communication/one-stream.ts';
import { entriesOf, isForward, rankOfEntry, type Transfers, transfersOf } from './communication/transfers.ts';
import type { Order } from './order.ts';
import type { Program } from './program.ts';
import { commsProblem } from './torch-comms.ts';

export type ReadLines =
  | { readonly ok: true; readonly lines: readonly string[]; readonly notes: readonly string[] }
  | { readonly ok: false; readonly reason: string };

const ACTION = /^(\d{1,9})([FIWB])(\d{1,9})$/;
const PAIR = /^\(([^();]+);([^();]+)\)OVERLAP_F_B$/;
const TRANSFER = /^\d{1,9}(SEND|RECV)_[FB]\d{1,9}$/;
const SHARDING = /^\d{1,9}(UNSHARD|RESHARD|REDUCE_GRAD)\d{0,9}$/;

interface Cell {
  readonly kind: string;
  readonly stage: number;
  readonly microbatch: number;
}

/** Whether a text is such a CSV, from its first action. */
export function isTorchCsv(text: string): boolean {
  const [first = ''] = /[^\s,"]+/.exec(text) ?? [];
  return [ACTION, PAIR, TRANSFER, SHARDING].some((form) => form.test(first));
}

/** Our own order text, and what was passed over or put right; a refusal names the rank and the cell. */
export function readTorchCsv(text: string): ReadLines {
  const rows = text.split(/\r\n|\r|\n/).map((row) =>
    row.split(',').map((cell) =>
      cell
        .trim()
        .replace(/^"(.*)"$/, '$1')
        .trim(),
    ),
  );
  while (rows.length > 0 && rows.at(-1)!.every((cell) => cell === '')) rows.pop();
  const steps: (readonly Cell[])[][] = [];
  const transfers: string[][] = [];
  let empty = 0;
  let sharding = 0;
  for (const [rank, row] of rows.entries()) {
    steps.push([]);
    transfers.push([]);
    for (const cell of row) {
      if (cell === '') empty++;
      else if (SHARDING.test(cell)) sharding++;
      else if (TRANSFER.test(cell)) transfers[rank]!.push(cell);
      else {
        const actions = cellsOf(cell);
        if (actions === null) {
          return {
            ok: false,
            reason: `rank ${rank}: "${cell.slice(0, 40)}" is not an action of torch's CSV such as 2F0`,
          };
        }
        steps[rank]!.push(actions);
      }
    }
  }
  const notes = [
    ...(empty > 0 ? [`${empty} empty cells are passed over: torch shows a rank's idle steps with them`] : []),
    ...(sharding > 0 ? [`${sharding} sharding steps (UNSHARD, RESHARD, REDUCE_GRAD) are passed over`] : []),
  ];
  for (const [rank, row] of steps.entries()) {
    const right = relabelled(row);
    if (right === null) continue;
    steps[rank] = right;
    notes.push(
      `rank ${rank} lists its forwards from microbatch 1 to ${right.length / 2}: torch's 1F1B shows its last rank one off; read as 0 to ${right.length / 2 - 1}`,
    );
  }
  if (transfers.some((row) => row.length > 0)) {
    const problem = commsProblem(rows);
    if (problem !== null) return { ok: false, reason: problem };
    notes.push('transfers are checked and passed over: they follow the mode of communication');
  }
  return { ok: true, lines: steps.map((row) => row.map(textOf).join(' ')), notes };
}

function cellsOf(cell: string): readonly Cell[] | null {
  const pair = PAIR.exec(cell);
  const parts = pair === null ? [cell] : pair.slice(1);
  const actions = parts.map((part) => ACTION.exec(part.trim()));
  if (actions.some((match) => match === null)) return null;
  return actions.map((match) => ({ stage: Number(match![1]), kind: match![2]!, microbatch: Number(match![3]) }));
}

function textOf(actions: readonly Cell[]): string {
  const names = actions.map(({ kind, stage, microbatch }) => `${kind}${stage}.${microbatch}`);
  return names.length === 1 ? names[0]! : `O(${names.join('|')})`;
}

/**
 * The row of torch's 1F1B display whose forwards count from 1: F1 B0 F2 B1 and so on, which no run can follow. null for
 * every other row.
 */
function relabelled(row: readonly (readonly Cell[])[]): (readonly Cell[])[] | null {
  if (row.length === 0 || row.length % 2 !== 0) return null;
  const isOff = row.every((actions, i) => {
    const [action] = actions;
    if (actions.length !== 1 || action === undefined || action.stage !== row[0]![0]!.stage) return false;
    return i % 2 === 0
      ? action.kind === 'F' && action.microbatch === i / 2 + 1
      : action.kind === 'B' && action.microbatch === (i - 1) / 2;
  });
  if (!isOff) return null;
  return row.map((actions, i) => (i % 2 === 0 ? [{ ...actions[0]!, microbatch: i / 2 }] : actions));
}

export type Written = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string };

/** `withTransfers` adds them where torch would, as its own lowering of the order does. */
export function torchCsv(program: Program, withTransfers: boolean): Written {
  const { order } = program;
  if (order.placement === 'bidirectional') {
    return { ok: false, reason: "torch's CSV has every stage on one rank; a bidirectional pipeline holds each on two" };
  }
  const transfers = transfersOf(program);
  const rows: string[][] = Array.from({ length: order.pp }, () => []);
  for (const last of inRounds(transfers)) {
    const rank = rankOfEntry(transfers, last);
    const step = order.ids[last]! < 0 ? { first: last - 1, second: last } : { first: last, second: -1 };
    const entries = entriesOf(step);
    const names = entries.map((entry) => nameOf(order, entry));
    rows[rank]!.push(names.length === 1 ? names[0]! : `(${names.join(';')})OVERLAP_F_B`);
    for (const entry of withTransfers ? entries : []) addTransfer(transfers, rows, rank, entry);
  }
  return { ok: true, text: `${rows.map((row) => row.join(',')).join('\n')}\n` };
}

function addTransfer(transfers: Transfers, rows: readonly string[][], rank: number, entry: number): void {
  const { order } = transfers.program;
  const use = transfers.consumer[entry]!;
  if (use < 0) return;
  const direction = isForward(transfers, entry) ? 'F' : 'B';
  const { stage, microbatch } = partsOf(order, entry);
  rows[rank]!.push(`${stage}SEND_${direction}${microbatch}`);
  rows[rankOfEntry(transfers, use)]!.push(`${partsOf(order, use).stage}RECV_${direction}${microbatch}`);
}

function nameOf(order: Order, entry: number): string {
  const { stage, kind, microbatch } = partsOf(order, entry);
  return `${stage}${KIND_NAMES[kind as 0 | 1 | 2 | 3]}${microbatch}`;
}

function partsOf({ ids, microbatchBits }: Order, entry: number) {
  const id = ids[entry]! < 0 ? ~ids[entry]! : ids[entry]!;
  return { stage: id >> (2 + microbatchBits), kind: id & 3, microbatch: (id >> 2) & ((1 << microbatchBits) - 1) };
}
