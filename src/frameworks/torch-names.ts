/**
 * The names by which `torch.distributed.pipelining` finds a schedule, case-insensitively, and how many stages each
 * takes on one rank. Mirrors `get_schedule_class` in pytorch/pytorch torch/distributed/pipelining/schedules.py.
 */

import type { ScheduleId } from '../model/schedule.ts';

export interface TorchSchedule {
  readonly name: string;
  /** null: an abstract class whose order comes from a CSV file. */
  readonly id: ScheduleId | null;
  /** Stages on one rank: exactly one, at least two, or exactly two (V placement). */
  readonly stagesPerRank: 'one' | 'many' | 'two';
}

export const TORCH_NAMES: readonly TorchSchedule[] = [
  { name: '1F1B', id: '1f1b', stagesPerRank: 'one' },
  { name: 'Interleaved1F1B', id: 'interleaved-1f1b', stagesPerRank: 'many' },
  { name: 'GPipe', id: 'gpipe', stagesPerRank: 'one' },
  { name: 'LoopedBFS', id: 'looped-bfs', stagesPerRank: 'many' },
  { name: 'InterleavedZeroBubble', id: 'interleaved-zb', stagesPerRank: 'many' },
  { name: 'PipelineScheduleSingle', id: null, stagesPerRank: 'one' },
  { name: 'PipelineScheduleMulti', id: null, stagesPerRank: 'many' },
  { name: 'ZBVZeroBubble', id: 'zbv', stagesPerRank: 'two' },
  { name: 'DualPipeV', id: 'dualpipev', stagesPerRank: 'two' },
];

/** torch's row for a name, whatever its case; null where torch has no such schedule. */
export function torchSchedule(name: string): TorchSchedule | null {
  return TORCH_NAMES.find((row) => row.name.toLowerCase() === name.toLowerCase()) ?? null;
}

/** torch's spelling of a schedule; null where torch has none. */
export function torchName(id: ScheduleId): string | null {
  return TORCH_NAMES.find((row) => row.id === id)?.name ?? null;
}

/** torch's own words for a name that it does not know. */
export function unknownTorchSchedule(name: string): string {
  return `Unknown schedule name '${name.slice(0, 40)}'. The valid options are ${TORCH_NAMES.map((row) => row.name).join(', ')}`;
}
