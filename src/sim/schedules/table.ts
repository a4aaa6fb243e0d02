/** The schedules, one row each. */

import { counted, grouped } from '../../model/counted.ts';
import type { ScheduleId } from '../../model/schedule.ts';
import { MAX_ACTIONS, MAX_SEARCHED_ACTIONS, MAX_SEARCHED_RANKS, type PipelineShape, sizeProblem } from '../shape.ts';
import { CIRCULAR } from './circular.ts';
import { DUALPIPE } from './dualpipe.ts';
import { DUALPIPEV } from './dualpipev.ts';
import { GPIPE } from './gpipe.ts';
import { GROUPED_INTERLEAVED } from './grouped-interleaved.ts';
import { INTERLEAVED } from './interleaved.ts';
import { INTERLEAVED_ZB } from './interleaved-zb.ts';
import { LOOPED_BFS } from './looped-bfs.ts';
import { NONE } from './none.ts';
import { ONE_FORWARD_ONE_BACKWARD } from './one-forward-one-backward.ts';
import { ONE_FORWARD_ONE_BACKWARD_V } from './one-forward-one-backward-v.ts';
import type { ScheduleRow } from './row.ts';
import { V_HALF } from './v-half.ts';
import { V_MIN } from './v-min.ts';
import { ZB_1P } from './zb-1p.ts';
import { ZB_2P } from './zb-2p.ts';
import { ZB_H1, ZB_H2 } from './zb-hand.ts';
import { ZBV } from './zbv.ts';

export const SCHEDULES: readonly ScheduleRow[] = [
  NONE,
  GPIPE,
  ONE_FORWARD_ONE_BACKWARD,
  INTERLEAVED,
  GROUPED_INTERLEAVED,
  ONE_FORWARD_ONE_BACKWARD_V,
  LOOPED_BFS,
  ZB_H1,
  ZB_H2,
  ZB_1P,
  ZB_2P,
  INTERLEAVED_ZB,
  ZBV,
  V_HALF,
  V_MIN,
  DUALPIPE,
  DUALPIPEV,
  CIRCULAR,
];

const BY_ID: ReadonlyMap<string, ScheduleRow> = new Map(SCHEDULES.map((row) => [row.id, row]));
const BY_ALIAS: ReadonlyMap<string, ScheduleId> = new Map(
  SCHEDULES.flatMap((row) => row.aliases.map((alias) => [plain(alias), row.id] as const)),
);

/** null for a schedule that the simulator does not have. */
export function scheduleRow(id: ScheduleId): ScheduleRow | null {
  return BY_ID.get(id) ?? null;
}

/** The schedule that a config means by a spelling; letter case, `-`, `_` and spaces do not matter. */
export function scheduleByAlias(spelling: string): ScheduleId | null {
  return BY_ALIAS.get(plain(spelling)) ?? null;
}

/** Global stages: one per rank and virtual stage, but a bidirectional pipeline holds each stage twice. */
export function stageCount(shape: Pick<PipelineShape, 'schedule' | 'pp' | 'vpp'>): number {
  return scheduleRow(shape.schedule)?.placement === 'bidirectional' ? shape.pp : shape.pp * shape.vpp;
}

/**
 * Why no order exists for a shape whatever the framework, or none is made for its size, in one line; null when one is.
 * Sizes are checked first, so that any numbers may be asked about.
 */
export function legality(shape: PipelineShape, maxActions = MAX_ACTIONS): string | null {
  return unsound(shape) ?? sizeRefusal(shape, maxActions) ?? orderRefusal(shape);
}

/** Why no order exists for a shape, however long it may be. */
export function orderRefusal(shape: PipelineShape): string | null {
  const problem = unsound(shape);
  if (problem !== null) return problem;
  const row = scheduleRow(shape.schedule)!;
  if (shape.memoryLimit != null && !row.searches(shape)) {
    return `a memory limit is for searched orders; the order of ${row.id} is fixed`;
  }
  return row.refuse(shape);
}

/** Why an order of sound sizes is too long to run, to search for or to lay out. */
export function sizeRefusal(shape: PipelineShape, maxActions = MAX_ACTIONS): string | null {
  const row = scheduleRow(shape.schedule);
  if (row === null) return null;
  const actions = row.actions(shape);
  if (actions > maxActions) {
    return `${counted(actions, 'action')} are too many to simulate (at most ${grouped(maxActions)})`;
  }
  if (row.searches(shape)) {
    if (actions > MAX_SEARCHED_ACTIONS) {
      return `${counted(actions, 'action')} are too many to search an order for (at most ${grouped(MAX_SEARCHED_ACTIONS)})`;
    }
    if (shape.pp > MAX_SEARCHED_RANKS) {
      return `${counted(shape.pp, 'rank')} are too many to search an order for (at most ${MAX_SEARCHED_RANKS})`;
    }
  }
  return row.tooLarge?.(shape) ?? null;
}

function unsound(shape: PipelineShape): string | null {
  if (scheduleRow(shape.schedule) === null) return `the schedule ${shape.schedule} cannot be simulated`;
  return sizeProblem(shape);
}

function plain(spelling: string): string {
  return spelling.toLowerCase().replace(/[-_\s]/g, '');
}
