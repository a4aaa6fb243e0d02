/**
 * The circular pipeline of MaxText: all microbatches circulate through the stages once per repeat; automatic
 * differentiation runs the same scan backwards, so the backward order is the exact reverse. Every repeat must fill
 * the stages. Mirrors AI-Hypercomputer/maxtext src/maxtext/layers/pipeline.py at e591f30c.
 */

import { counted, grouped } from '../../model/counted.ts';
import { forwardBackwardActions, noSearch } from './common.ts';
import { allForwardThenReversed } from './looped-bfs.ts';
import type { ScheduleRow } from './row.ts';

export const CIRCULAR: ScheduleRow = {
  id: 'circular',
  title: 'Circular (MaxText)',
  source: 'AI-Hypercomputer/maxtext src/maxtext/layers/pipeline.py',
  placement: 'loop',
  virtualStages: 'any',
  splitsBackward: false,
  aliases: ['circular'],
  refuse: ({ pp, microbatches }) =>
    microbatches % pp === 0
      ? null
      : `the number of microbatches (${grouped(microbatches)}) must be a multiple of the ${counted(pp, 'stage')}`,
  defaultGroupSize: ({ microbatches }) => Math.max(1, microbatches),
  actions: forwardBackwardActions,
  searches: noSearch,
  order: allForwardThenReversed,
};
