/**
 * `overlap` and `overlap-flush`: Megatron-LM with overlap_p2p_comm, without and with overlap_p2p_comm_warmup_flush. A
 * transfer starts when both of its ends have posted it, and posting does not keep a rank. While forwards and backwards
 * alternate, a rank posts the send of a result and the receive of the next input of the same direction right after
 * the action, goes on once its send before that one is done, and waits for an input when it needs it. During warm-up
 * (before the forward that the first backward follows) and cool-down (after the backward that the last forward is
 * followed by) `overlap` makes blocking calls, as `blocking` does. `overlap-flush` posts there as well: the receive of
 * the next input before the action, its send after it; on the leading rank of the direction both after it.
 *
 * Mirrors forward_backward_pipelining_with_interleaving of NVIDIA/Megatron-LM
 * megatron/core/pipeline_parallel/schedules.py, which has it for interleaved schedules alone.
 */

import { call, needsFirst } from './blocking.ts';
import { type Takes, takesOf } from './takes.ts';
import {
  entriesOf,
  type Instructions,
  instructions,
  isForward,
  isWeights,
  type Step,
  stepsOf,
  type Transfers,
  type Writer,
} from './transfers.ts';

/** A rank's actions of one direction, in order, and which of them run while the two directions alternate. */
interface Side {
  readonly entries: readonly number[];
  readonly steadyFrom: number;
  readonly steadyTo: number;
  /** Whether other ranks of this direction wait for this one first. */
  readonly leads: boolean;
}

/** `flush` says whether warm-up and cool-down overlap too. */
export function overlapped(transfers: Transfers, flush: boolean): Instructions {
  const takes = takesOf(transfers);
  return instructions(transfers, (writer, rank) => {
    const steps = stepsOf(transfers, rank);
    const [forwards, backwards] = sidesOf(transfers, steps, rank);
    const flow = {
      forwards: directionOf(transfers, takes, writer, forwards, flush),
      backwards: directionOf(transfers, takes, writer, backwards, flush),
    };
    const alternates = forwards.steadyFrom < forwards.steadyTo;
    let ran = 0;
    flow.forwards.receiveFirst();
    for (const step of steps) {
      if (alternates && ran === forwards.steadyFrom && isForward(transfers, step.first)) flow.backwards.postFirst();
      const parts = entriesOf(step)
        .filter((entry) => !isWeights(transfers, entry))
        .map((entry) => ({ entry, side: isForward(transfers, entry) ? flow.forwards : flow.backwards }));
      for (const { side } of parts) side.before();
      writer.run(step);
      for (const { side } of parts) side.after();
      ran += parts.filter(({ side }) => side === flow.forwards).length;
    }
  });
}

/** Warm-up ends with the forward that the first backward follows; cool-down begins behind the last one's backward. */
function sidesOf(transfers: Transfers, steps: readonly Step[], rank: number): readonly [Side, Side] {
  const isPart = (step: Step, forward: boolean) =>
    entriesOf(step).some((entry) => !isWeights(transfers, entry) && isForward(transfers, entry) === forward);
  const partsOf = (list: readonly Step[], forward: boolean) =>
    list.flatMap(entriesOf).filter((entry) => !isWeights(transfers, entry) && isForward(transfers, entry) === forward);
  const firstBackward = steps.findIndex((step) => isPart(step, false));
  const lastForward = steps.findLastIndex((step) => isPart(step, true));
  const forwards = partsOf(steps, true);
  const backwards = partsOf(steps, false);
  const lead = { forwards: rank === 0, backwards: rank === transfers.program.order.pp - 1 };
  const sides = (warm: number, cool: number): readonly [Side, Side] => [
    { entries: forwards, steadyFrom: warm, steadyTo: forwards.length, leads: lead.forwards },
    { entries: backwards, steadyFrom: 0, steadyTo: cool, leads: lead.backwards },
  ];
  if (firstBackward < 0 || lastForward < 0) return sides(forwards.length, 0);
  const before = partsOf(steps.slice(0, firstBackward), true).length;
  const paired = steps[firstBackward]!.second >= 0;
  const last = steps[firstBackward - 1];
  if (
    !paired &&
    firstBackward > lastForward &&
    last !== undefined &&
    needsFirst(transfers, last, steps[firstBackward]!)
  ) {
    return sides(forwards.length, 0);
  }
  const done = partsOf(steps.slice(0, lastForward + 1), false).length;
  const partner = steps[lastForward]!.second >= 0 ? 0 : 1;
  return sides(paired ? before : Math.max(0, before - 1), Math.min(backwards.length, done + partner));
}

/** What is posted and waited for around the actions of one direction, in their order. */
function directionOf(transfers: Transfers, takes: Takes, writer: Writer, side: Side, flush: boolean) {
  const { entries, steadyFrom, steadyTo, leads } = side;
  const taken = new Set<number>();
  let at = 0;
  let sending: readonly number[] = [];
  const takesAt = (place: number) => (place < entries.length ? takes(entries[place]!) : []);
  const isSteady = () => at >= steadyFrom && at < steadyTo;
  const receiveBlocked = (makers: readonly number[]) => {
    for (const maker of makers) taken.add(maker);
  };
  const receiveFirst = () => {
    const first = takesAt(0);
    call(writer, [], first);
    receiveBlocked(first);
  };
  let posted = false;
  return {
    receiveFirst: () => {
      posted = true;
      receiveFirst();
    },
    postFirst: () => {
      posted = true;
      writer.post([], takesAt(0));
    },
    before: () => {
      if (!posted) receiveFirst();
      posted = true;
      if (at === steadyTo) {
        writer.wait(sending, []);
        sending = [];
      }
      const maker = transfers.input[entries[at]!]!;
      if (maker >= 0 && !taken.has(maker)) writer.wait([], [maker]);
      if (flush && !isSteady() && !leads) writer.post([], takesAt(at + 1));
    },
    after: () => {
      const own = entries[at]!;
      const sends = transfers.consumer[own]! >= 0 ? [own] : [];
      if (!flush && !isSteady()) {
        const next = takesAt(at + 1);
        call(writer, sends, next);
        receiveBlocked(next);
      } else {
        writer.post(sends, isSteady() || leads ? takesAt(at + 1) : []);
        writer.wait(sending, []);
        sending = sends;
      }
      at++;
    },
  };
}
