/** Items in words, the same for the tooltip, the footer and the screen reader. Pure. */

import { exhaustive } from '../src/model/exhaustive.ts';
import { KIND_NAMES, type Timeline } from '../src/model/timeline.ts';
import { type GapItem, gapBefore, type Item } from './items.ts';
import { formatDuration, formatShare, formatTime } from './ticks.ts';

export interface Description {
  readonly title: string;
  readonly lines: readonly string[];
}

export const KIND_WORDS = ['forward', 'backward of the input', 'backward of the weights', 'backward'] as const;

export function describeItem(timeline: Timeline, vpp: number, item: Item): Description {
  return item.type === 'action' ? describeAction(timeline, vpp, item.rank, item.index) : describeGap(timeline, item);
}

/** One line for the live region. */
export function spoken(description: Description): string {
  return [description.title, ...description.lines].join(', ');
}

function describeAction(timeline: Timeline, vpp: number, rank: number, index: number): Description {
  const kind = timeline.kind[index]!;
  const stage = timeline.stage[index]!;
  const microbatch = timeline.microbatch[index]!;
  const chunk = vpp > 1 ? `, chunk ${Math.floor(stage / timeline.pp)}` : '';
  const start = timeline.start[index]!;
  const end = timeline.end[index]!;
  const gap = gapBefore(timeline, rank, index);
  return {
    title: `${KIND_NAMES[kind]}${stage}.${microbatch} ${KIND_WORDS[kind]}`,
    lines: [
      `rank ${rank}, stage ${stage}${chunk}, microbatch ${microbatch}`,
      `${formatDuration(end - start, timeline.unit)}, from ${formatTime(start)} to ${formatTime(end)}`,
      ...(gap?.cause === 'stall'
        ? [`after ${formatDuration(gap.end - gap.start, timeline.unit)} of ${waiting(gap)}`]
        : []),
    ],
  };
}

function describeGap(timeline: Timeline, gap: GapItem): Description {
  const length = gap.end - gap.start;
  return {
    title: `Idle: ${gapWord(gap)}`,
    lines: [
      `rank ${gap.rank}, ${gapReason(timeline, gap)}`,
      `${formatDuration(length, timeline.unit)}, from ${formatTime(gap.start)} to ${formatTime(gap.end)}`,
      `${formatShare(length / timeline.makespan)} of the step on this rank`,
    ],
  };
}

function gapWord(gap: GapItem): string {
  switch (gap.cause) {
    case 'warmup':
      return 'warm-up';
    case 'cooldown':
      return 'cool-down';
    case 'stall':
      return 'stall';
    default:
      return exhaustive(gap.cause);
  }
}

function gapReason(timeline: Timeline, gap: GapItem): string {
  const first = timeline.rankStart[gap.rank]! === timeline.rankStart[gap.rank + 1]!;
  if (first) return 'nothing to do';
  if (gap.cause === 'cooldown') return 'done until every rank is';
  return waiting(gap);
}

function waiting(gap: GapItem): string {
  return gap.waitedForRank < 0 ? 'waiting' : `waiting for rank ${gap.waitedForRank}`;
}
