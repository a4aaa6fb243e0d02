/**
 * DualPipe: two pipelines in opposite directions over the same ranks, each with half the microbatches, forwards and
 * backwards overlapped. Rank r holds stage r for one direction and stage pp - 1 - r for the other: twice the
 * parameters. Mirrors deepseek-ai/DualPipe dualpipe/dualpipe.py at 3da1bbea; DeepSeek-V3, arXiv 2412.19437.
 */

import { counted, grouped } from '../../model/counted.ts';
import { orderByRank } from '../order.ts';
import type { PipelineShape } from '../shape.ts';
import { noGroups, noSearch } from './common.ts';
import type { ScheduleRow } from './row.ts';
import { writeTwoEnded } from './two-ended.ts';

export const DUALPIPE: ScheduleRow = {
  id: 'dualpipe',
  title: 'DualPipe',
  source: 'deepseek-ai/DualPipe dualpipe/dualpipe.py; DeepSeek-V3, arXiv 2412.19437',
  placement: 'bidirectional',
  virtualStages: 'two',
  splitsBackward: true,
  aliases: ['dualpipe', 'dual-pipe'],
  refuse,
  defaultGroupSize: noGroups,
  actions: (shape) => 3 * shape.pp * shape.microbatches,
  searches: noSearch,
  order: (shape) => {
    const { pp, microbatches } = shape;
    const half = microbatches / 2;
    const sizes = { pp, stages: pp, microbatches, placement: 'bidirectional' } as const;
    return orderByRank(sizes, 3 * pp * microbatches, (ids, start, rank, steps) => {
      const forth = rank * steps.stage;
      const back = (pp - 1 - rank) * steps.stage + half * steps.microbatch;
      return writeTwoEnded(ids, start, {
        ends: pp / 2,
        place: Math.min(rank, pp - 1 - rank),
        microbatches: half,
        first: rank < pp / 2 ? [forth, back] : [back, forth],
        microbatchStep: steps.microbatch,
      });
    });
  },
};

function refuse({ pp, vpp, microbatches }: PipelineShape): string | null {
  if (vpp > 2) return `DualPipe holds 2 stages per rank, one for each direction, not ${grouped(vpp)}`;
  if (pp % 2 !== 0) return `DualPipe needs an even number of ranks, not ${grouped(pp)}`;
  if (microbatches % 2 !== 0) return `DualPipe needs an even number of microbatches, not ${grouped(microbatches)}`;
  if (microbatches < 2 * pp) {
    return `DualPipe needs at least ${counted(2 * pp, 'microbatch')} on ${counted(pp, 'rank')}, not ${grouped(microbatches)}`;
  }
  return null;
}
