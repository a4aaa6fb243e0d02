/**
 * The closed formula of a schedule's bubble for equal stages and no transfers, with the user's numbers in it. Shown
 * only where it equals what was simulated. Sources: Narayanan et al. 2021 (arXiv 2104.04473) for 1F1B and
 * interleaving, over the total time rather than over the ideal.
 */

import type { ScheduleId } from '../model/schedule.ts';

export interface Formula {
  /** "(pp - 1) / (microbatches + pp - 1)". */
  readonly symbols: string;
  /** "7 / 39". */
  readonly numbers: string;
  readonly value: number;
}

export function bubbleFormula(schedule: ScheduleId, pp: number, vpp: number, microbatches: number): Formula | null {
  switch (schedule) {
    case 'gpipe':
    case '1f1b':
      return fraction('(pp − 1) / (microbatches + pp − 1)', pp - 1, microbatches + pp - 1);
    case 'interleaved-1f1b':
    case 'looped-bfs':
    case 'circular':
      return fraction('(pp − 1) / (vpp · microbatches + pp − 1)', pp - 1, vpp * microbatches + pp - 1);
    default:
      return null;
  }
}

function fraction(symbols: string, over: number, under: number): Formula | null {
  return under > 0 ? { symbols, numbers: `${over} / ${under}`, value: over / under } : null;
}
