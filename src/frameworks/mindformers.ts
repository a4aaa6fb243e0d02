/**
 * MindFormers on MindSpore: 1F1B, interleaved where `pipeline_interleave` is on, or GPipe; an average of layers per
 * stage with an offset for each. Mirrors mindspore-lab/mindformers at fd4deebc: `LayerSetting` in
 * mindformers/models/utils.py and mindformers/core/context/parallel.py.
 */

import type { StageContent } from '../model/plan.ts';
import type { ScheduleId } from '../model/schedule.ts';
import type { Framework } from './framework.ts';
import { firstRefusal, forSchedules, oneStage, onlySchedules, twoStages } from './schedule-rules.ts';

const TITLE = 'MindFormers';
const SCHEDULES: readonly ScheduleId[] = ['none', '1f1b', 'interleaved-1f1b', 'gpipe', 'zbv'];

export const MINDFORMERS: Framework = {
  id: 'mindformers',
  title: TITLE,
  source: 'mindspore-lab/mindformers@fd4deebc mindformers/models/utils.py',
  schedules: SCHEDULES,
  refuse: firstRefusal([
    onlySchedules(TITLE, SCHEDULES),
    oneStage(TITLE, ['none', '1f1b', 'gpipe']),
    twoStages(TITLE, ['zbv']),
    forSchedules(['1f1b', 'interleaved-1f1b', 'gpipe', 'zbv'], ({ pp, microbatches }) =>
      microbatches >= pp
        ? null
        : {
            code: 'microbatches-below-minimum',
            message: `MindSpore: micro_batch_num (${microbatches}) must be at least pipeline_stage (${pp})`,
            about: ['microbatches', 'pp'],
          },
    ),
  ]),
  defaultGroupSize: ({ pp }) => pp,
  variant: () => null,
};

export type OffsetSplit =
  | { readonly ok: true; readonly stages: readonly StageContent[] }
  | { readonly ok: false; readonly reason: string };

/**
 * The layers of each stage: their average, rounded down, plus the offset. `offset` has a row per virtual stage and a
 * column per rank, or is one of them, or one number for all. The offsets must add up to the remainder.
 */
export function offsetSplit(
  layers: number,
  pp: number,
  vpp: number,
  offset: number | readonly number[] | readonly (readonly number[])[],
): OffsetSplit {
  const rows = rowsOf(offset, pp, vpp);
  const wide = rows.find((row) => row.length !== pp);
  if (wide !== undefined) {
    return { ok: false, reason: `offset.shape[-1] should equal to \`pp\` (${pp}), but got (${wide.length})` };
  }
  if (rows.length !== vpp) {
    return {
      ok: false,
      reason: `offset.shape[-2] should equal to \`pp_interleave_num\` (${vpp}), but got (${rows.length})`,
    };
  }
  const sum = rows.flat().reduce((all, each) => all + each, 0);
  const remainder = layers % (pp * vpp);
  if (sum !== remainder) {
    return {
      ok: false,
      reason: `The sum of \`offset\` (${sum}) should equal to remainder of \`num_layers\` (${layers}) % (pp (${pp}) * pp_interleave_num (${vpp})) = ${remainder}`,
    };
  }
  const average = Math.floor(layers / (pp * vpp));
  const counts = rows.flatMap((row) => row.map((each) => average + each));
  const last = counts.length - 1;
  if (counts.some((count) => count < 0))
    return { ok: false, reason: `an offset takes more than the ${average} layers that a stage has` };
  return {
    ok: true,
    stages: counts.map((count, s) => ({ layers: count, embedding: s === 0, head: s === last, mtp: 0 })),
  };
}

function rowsOf(
  offset: number | readonly number[] | readonly (readonly number[])[],
  pp: number,
  vpp: number,
): readonly (readonly number[])[] {
  if (typeof offset === 'number') return new Array<readonly number[]>(vpp).fill(new Array<number>(pp).fill(offset));
  const nested = offset.filter((row): row is readonly number[] => typeof row !== 'number');
  if (nested.length > 0) return nested;
  // One row holds for every virtual stage.
  return new Array<readonly number[]>(vpp).fill(offset as readonly number[]);
}
