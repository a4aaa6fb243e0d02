/**
 * DualPipeV: DualPipe cut in half, two stages per rank on a V, forwards and backwards of different microbatches
 * overlapped. Mirrors deepseek-ai/DualPipe dualpipe/dualpipev.py at 3da1bbea; pytorch's ScheduleDualPipeV runs the
 * same order. DeepSeek-V3, arXiv 2412.19437.
 */

import { counted, grouped } from '../../model/counted.ts';
import { orderByRank } from '../order.ts';
import { noGroups, noSearch, splitBackwardActions, twoStagesPerRank, vSizes } from './common.ts';
import type { ScheduleRow } from './row.ts';
import { writeTwoEnded } from './two-ended.ts';

export const DUALPIPEV: ScheduleRow = {
  id: 'dualpipev',
  title: 'DualPipeV',
  source: 'deepseek-ai/DualPipe dualpipe/dualpipev.py; DeepSeek-V3, arXiv 2412.19437',
  placement: 'v',
  virtualStages: 'two',
  splitsBackward: true,
  aliases: ['dualpipev', 'dualpipe-v'],
  refuse: (shape) =>
    twoStagesPerRank(shape) ??
    (shape.microbatches >= 2 * shape.pp
      ? null
      : `DualPipeV needs at least ${counted(2 * shape.pp, 'microbatch')} on ${counted(shape.pp, 'rank')}, not ${grouped(shape.microbatches)}`),
  defaultGroupSize: noGroups,
  actions: splitBackwardActions,
  searches: noSearch,
  order: (shape) => {
    const { pp, microbatches } = shape;
    return orderByRank(vSizes(shape), splitBackwardActions(shape), (ids, start, rank, steps) =>
      writeTwoEnded(ids, start, {
        ends: pp,
        place: rank,
        microbatches,
        first: [rank * steps.stage, (2 * pp - 1 - rank) * steps.stage],
        microbatchStep: steps.microbatch,
      }),
    );
  },
};
