/**
 * What the name of a schedule alone tells of a hand-made plan: how many stages a rank holds, and where they lie.
 * Sources: torch.distributed.pipelining.schedules (PipelineScheduleSingle and PipelineScheduleMulti, ZBV and DualPipeV
 * with exactly two stages a rank), sail-sg/zero-bubble (V schedules), deepseek-ai/DualPipe.
 */

import type { Placement, ScheduleId } from '../../model/schedule.ts';

interface ScheduleFacts {
  /** `several` is any number from 1. */
  readonly stagesPerRank: 1 | 2 | 'several';
  readonly placement: Placement;
}

const SINGLE: ScheduleFacts = { stagesPerRank: 1, placement: 'loop' };
const LOOPED: ScheduleFacts = { stagesPerRank: 'several', placement: 'loop' };
const V_SHAPED: ScheduleFacts = { stagesPerRank: 2, placement: 'v' };

export const SCHEDULE_FACTS: Readonly<Record<ScheduleId, ScheduleFacts>> = {
  none: SINGLE,
  gpipe: SINGLE,
  '1f1b': SINGLE,
  'interleaved-1f1b': LOOPED,
  'grouped-interleaved': LOOPED,
  '1f1b-v': V_SHAPED,
  'looped-bfs': LOOPED,
  'zb-h1': SINGLE,
  'zb-h2': SINGLE,
  'zb-1p': SINGLE,
  'zb-2p': SINGLE,
  'interleaved-zb': LOOPED,
  zbv: V_SHAPED,
  'v-half': V_SHAPED,
  'v-min': V_SHAPED,
  dualpipe: { stagesPerRank: 1, placement: 'bidirectional' },
  dualpipev: V_SHAPED,
  circular: LOOPED,
};
