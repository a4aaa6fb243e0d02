/** The modes of communication, a row each, and the program that a mode makes of an order. */

import { counted, grouped } from '../../model/counted.ts';
import type { CommunicationMode } from '../../model/schedule.ts';
import type { Program } from '../program.ts';
import { blockingCalls } from './blocking.ts';
import { type Linking, link } from './link.ts';
import { oneStream } from './one-stream.ts';
import { overlapped } from './overlap.ts';
import { linkSequential } from './sequential.ts';
import { type Transfers, transfersOf } from './transfers.ts';

/** Modes in which a rank can be kept by a transfer. */
type KeepingMode = Exclude<CommunicationMode, 'async'>;

/** Transfers are steps of their own there: a program is several times as long. */
const MAX_LINKED_ACTIONS = 4_000_000;

const MODES: Readonly<Record<KeepingMode, (transfers: Transfers) => Linking>> = {
  blocking: (transfers) => link(transfers, blockingCalls(transfers), false),
  overlap: (transfers) => link(transfers, overlapped(transfers, false), false),
  'overlap-flush': (transfers) => link(transfers, overlapped(transfers, true), false),
  sequential: linkSequential,
  'one-stream': (transfers) => link(transfers, oneStream(transfers), true),
};

const held = new WeakMap<Program, Map<KeepingMode, Linking>>();

/** Held as long as the program is. Refuses, in one line, what locks up or is too long. */
export function linked(program: Program, mode: KeepingMode): Linking {
  const actions = program.order.ids.length;
  if (actions > MAX_LINKED_ACTIONS) {
    return {
      ok: false,
      reason: `${counted(actions, 'action')} are too many to simulate with ${mode} transfers (at most ${grouped(MAX_LINKED_ACTIONS)})`,
    };
  }
  const modes = held.get(program) ?? new Map<KeepingMode, Linking>();
  held.set(program, modes);
  const known = modes.get(mode);
  if (known !== undefined) return known;
  const made = MODES[mode](transfersOf(program));
  modes.set(mode, made);
  return made;
}
