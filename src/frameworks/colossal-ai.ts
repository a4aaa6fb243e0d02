/**
 * Colossal-AI's hybrid parallel plugin: three pipeline styles, what they refuse, and how layers are spread. Mirrors
 * hpcaitech/ColossalAI@4f9953be3 colossalai/pipeline/stage_manager.py and
 * colossalai/pipeline/schedule/{one_f_one_b,interleaved_pp,zero_bubble_pp}.py.
 */

import type { ScheduleId } from '../model/schedule.ts';
import type { Framework, Refusal, ScheduleRequest } from './framework.ts';
import { firstRefusal, forSchedules, oneStage, onlySchedules, twoStages } from './schedule-rules.ts';

const TITLE = 'Colossal-AI';
const SCHEDULES: readonly ScheduleId[] = ['none', '1f1b', 'interleaved-1f1b', 'zbv'];

export const COLOSSAL_AI: Framework = {
  id: 'colossal-ai',
  title: TITLE,
  source: 'hpcaitech/ColossalAI@4f9953be3 colossalai/pipeline/schedule',
  schedules: SCHEDULES,
  refuse: firstRefusal([
    onlySchedules(TITLE, SCHEDULES),
    oneStage(TITLE, ['none', '1f1b']),
    twoStages(TITLE, ['zbv']),
    forSchedules(['1f1b'], fewMicrobatches),
    forSchedules(['interleaved-1f1b', 'zbv'], unevenMicrobatches),
  ]),
  defaultGroupSize: ({ pp }) => pp,
  variant: () => null,
};

function fewMicrobatches({ pp, microbatches }: ScheduleRequest): Refusal | null {
  return microbatches >= pp
    ? null
    : {
        code: 'microbatches-below-minimum',
        message: `${TITLE}: Number of microbatch should be larger than number of stages (${microbatches} microbatches, ${pp} stages)`,
        about: ['microbatches', 'pp'],
      };
}

function unevenMicrobatches({ pp, microbatches }: ScheduleRequest): Refusal | null {
  return microbatches % pp === 0
    ? null
    : {
        code: 'batch-not-divisible',
        message: `${TITLE}: Number of microbatch should be an integer multiple of number of pipeline parallel devices (${microbatches} microbatches, ${pp} devices)`,
        about: ['microbatches', 'pp'],
      };
}

/** `distribute_layers`: layers that do not divide go to the stages in the middle. */
export function colossalSplit(layers: number, stages: number): readonly number[] {
  const base = Math.floor(layers / stages);
  const rest = layers % stages;
  const start = Math.floor(stages / 2) - Math.floor(rest / 2);
  return Array.from({ length: stages }, (_, s) => base + (s >= start && s < start + rest ? 1 : 0));
}
