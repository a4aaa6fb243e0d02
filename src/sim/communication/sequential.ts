/**
 * `sequential`: DeepSpeed. A rank does one thing at a time, an action or a transfer, and a transfer keeps both of its
 * ranks until it is done. The instructions stand as in TrainSchedule: a result is sent after the action that made it
 * and an input is received before the action that uses it; where both fall between the same two actions the send
 * comes first, but before a backward the receive does, unless the gradient depends on what is still to be sent.
 * Orders that DeepSpeed does not have can lock up in this order of instructions. Then the transfers between two actions
 * go in an order in which both ends can come to them; what locks up even so is refused.
 *
 * Mirrors deepspeedai/DeepSpeed deepspeed/runtime/pipe/schedule.py (TrainSchedule.steps).
 */

import { needsFirst } from './blocking.ts';
import { type Linking, link } from './link.ts';
import {
  type Instructions,
  instructions,
  isForward,
  isWeights,
  receivesOf,
  type Step,
  sendsOf,
  stepsOf,
  TRANSFER,
  type Transfers,
  type Writer,
} from './transfers.ts';

/** What a rank transfers between two actions, in the order in which it does. */
type Gap = readonly { readonly entry: number; readonly isSend: boolean }[];
type Sort = (gap: Gap) => Gap;

export function linkSequential(transfers: Transfers): Linking {
  const inOrder = link(transfers, oneByOne(transfers, null), false);
  if (inOrder.ok) return inOrder;
  const together = link(transfers, atOnce(transfers), false);
  if (!together.ok) return together;
  const place = new Int32Array(transfers.op.length);
  together.linked.code.forEach((word, k) => {
    if ((word & 7) === TRANSFER) place[word >> 3] = k;
  });
  return link(
    transfers,
    oneByOne(transfers, (gap) => gap.toSorted((a, b) => place[a.entry]! - place[b.entry]!)),
    false,
  );
}

function oneByOne(transfers: Transfers, sort: Sort | null): Instructions {
  return inGaps(transfers, (writer, gap) => {
    for (const { entry, isSend } of sort === null ? gap : sort(gap)) {
      const [sends, receives] = isSend ? [[entry], []] : [[], [entry]];
      writer.post(sends, receives);
      writer.wait(sends, receives);
    }
  });
}

/** All transfers between two actions posted together: the order in which they can be done shows. */
function atOnce(transfers: Transfers): Instructions {
  return inGaps(transfers, (writer, gap) => {
    const sends = gap.filter(({ isSend }) => isSend).map(({ entry }) => entry);
    const receives = gap.filter(({ isSend }) => !isSend).map(({ entry }) => entry);
    writer.post(sends, receives);
    writer.wait(sends, receives);
  });
}

function inGaps(transfers: Transfers, write: (writer: Writer, gap: Gap) => void): Instructions {
  return instructions(transfers, (writer, rank) => {
    let before: Step | null = null;
    for (const step of stepsOf(transfers, rank)) {
      const sends = before === null ? [] : sendsOf(transfers, before);
      if (isWeights(transfers, step.first)) {
        write(writer, gapOf(sends, []));
        before = null;
      } else {
        const receives = receivesOf(transfers, step);
        write(writer, receivesFirst(transfers, before, step) ? gapOf([], receives, sends) : gapOf(sends, receives));
        before = step;
      }
      writer.run(step);
    }
    if (before !== null) write(writer, gapOf(sendsOf(transfers, before), []));
  });
}

function gapOf(first: readonly number[], receives: readonly number[], last: readonly number[] = []): Gap {
  return [
    ...first.map((entry) => ({ entry, isSend: true })),
    ...receives.map((entry) => ({ entry, isSend: false })),
    ...last.map((entry) => ({ entry, isSend: true })),
  ];
}

function receivesFirst(transfers: Transfers, before: Step | null, step: Step): boolean {
  if (before === null || before.second >= 0 || step.second >= 0) return false;
  const turns = isForward(transfers, before.first) && !isForward(transfers, step.first);
  return turns && !needsFirst(transfers, before, step);
}
