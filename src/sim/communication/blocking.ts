/**
 * `blocking`: Megatron-LM without overlapped communication. Transfers are made in calls between the actions: a call
 * posts its sends and receives together and the rank goes on when all of them are done; a transfer starts when both
 * of its ends have come to their calls. With one stage a rank (forward_backward_pipelining_without_interleaving) a
 * forward's result is sent in one call with the receive of the gradient that comes next, a gradient's in one call with
 * the receive of the next activation, and between two forwards, or two backwards, the send is a call of its own before
 * the receive. With several stages (forward_backward_pipelining_with_interleaving, without overlap_p2p_comm) a forward
 * and the backward right after it run without a call in between, and one call behind them makes all their sends and
 * the receives of what runs next. Weight gradients take no part: sends come before them, receives behind.
 *
 * Mirrors NVIDIA/Megatron-LM megatron/core/pipeline_parallel/schedules.py and p2p_communication.py.
 */

import { type Takes, takesOf } from './takes.ts';
import {
  entriesOf,
  type Instructions,
  instructions,
  isForward,
  isWeights,
  rankOfEntry,
  type Step,
  sendsOf,
  stepsOf,
  type Transfers,
  type Writer,
} from './transfers.ts';

export function blockingCalls(transfers: Transfers): Instructions {
  const takes = takesOf(transfers);
  return instructions(transfers, (writer, rank) => writeRank(transfers, takes, writer, stepsOf(transfers, rank)));
}

/** Posts all, then waits for all. */
export function call(writer: Writer, sends: readonly number[], receives: readonly number[]): void {
  writer.post(sends, receives);
  writer.wait(sends, receives);
}

function writeRank(transfers: Transfers, takes: Takes, writer: Writer, steps: readonly Step[]): void {
  let sends: readonly number[] = [];
  let before: Step | null = null;
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i]!;
    if (isWeights(transfers, step.first)) {
      call(writer, sends, []);
      sends = [];
      before = null;
      writer.run(step);
      continue;
    }
    const partner = partnerOf(transfers, steps, i);
    const receives = [...entriesOf(step), ...(partner === null ? [] : entriesOf(partner))].flatMap(takes);
    if (before !== null && isAlone(transfers, before, step)) {
      call(writer, sends, []);
      call(writer, [], receives);
    } else call(writer, sends, receives);
    writer.run(step);
    sends = sendsOf(transfers, step);
    before = step;
    if (partner === null) continue;
    writer.run(partner);
    sends = [...sends, ...sendsOf(transfers, partner)];
    before = partner;
    i++;
  }
  call(writer, sends, []);
}

/** Whether rank lists hold one stage each. */
function holdsOneStage({ program }: Transfers): boolean {
  return program.order.placement !== 'bidirectional' && program.order.stages === program.order.pp;
}

/** Two forwards, or two backwards, of ranks with one stage: the send is a call of its own. */
function isAlone(transfers: Transfers, before: Step, after: Step): boolean {
  if (!holdsOneStage(transfers) || before.second >= 0 || after.second >= 0) return false;
  return isForward(transfers, before.first) === isForward(transfers, after.first);
}

/** The backward that runs right after a forward without a call in between; null where there is none. */
function partnerOf(transfers: Transfers, steps: readonly Step[], i: number): Step | null {
  const step = steps[i]!;
  const next = steps[i + 1];
  if (next === undefined || holdsOneStage(transfers) || step.second >= 0 || next.second >= 0) return null;
  if (!isForward(transfers, step.first) || isForward(transfers, next.first) || isWeights(transfers, next.first)) {
    return null;
  }
  return needsFirst(transfers, step, next) ? null : next;
}

/**
 * Whether a backward's gradient is made only once the forward's result is used, as at the turn of a rank that runs all
 * forwards before its first backward. With several stages the other rank runs one more forward in between where the
 * two alternate, since its warm-up is shorter by two.
 */
export function needsFirst(transfers: Transfers, forward: Step, backward: Step): boolean {
  const use = transfers.consumer[forward.first]!;
  const maker = transfers.input[backward.first]!;
  if (use < 0 || maker < 0) return false;
  if (rankOfEntry(transfers, use) !== rankOfEntry(transfers, maker) || use < maker) return true;
  if (holdsOneStage(transfers)) return false;
  for (let between = maker + 1; between < use; between++) {
    if (!isWeights(transfers, between) && isForward(transfers, between)) return false;
  }
  return true;
}
