/** Refusals that several frameworks share the shape of: a schedule that is not theirs, stages per rank, minimums. */

import type { ScheduleId } from '../model/schedule.ts';
import type { Refusal, ScheduleRequest } from './framework.ts';

type Rule = (request: ScheduleRequest) => Refusal | null;

/** The first rule that refuses. */
export function firstRefusal(rules: readonly Rule[]): Rule {
  return (request) => {
    for (const rule of rules) {
      const refusal = rule(request);
      if (refusal !== null) return refusal;
    }
    return null;
  };
}

export function onlySchedules(title: string, schedules: readonly ScheduleId[]): Rule {
  return ({ schedule }) =>
    schedules.includes(schedule)
      ? null
      : {
          code: 'unknown-schedule',
          message: `${title} has no schedule ${schedule}; it runs ${schedules.join(', ')}`,
          about: ['schedule'],
        };
}

/** One stage per rank, for schedules that do not interleave. */
export function oneStage(title: string, schedules: readonly ScheduleId[]): Rule {
  return ({ schedule, vpp }) =>
    schedules.includes(schedule) && vpp !== 1
      ? {
          code: 'schedule-not-legal',
          message: `${title}: ${schedule} holds 1 stage per rank, but there are ${vpp}`,
          about: ['vpp', 'schedule'],
        }
      : null;
}

/** Exactly two stages per rank, for schedules on a V. */
export function twoStages(title: string, schedules: readonly ScheduleId[]): Rule {
  return ({ schedule, vpp }) =>
    schedules.includes(schedule) && vpp !== 2
      ? {
          code: 'schedule-not-legal',
          message: `${title}: ${schedule} requires exactly 2 stages per rank, but there are ${vpp}`,
          about: ['vpp', 'schedule'],
        }
      : null;
}

/** A rule for some schedules only. */
export function forSchedules(schedules: readonly ScheduleId[], rule: Rule): Rule {
  return (request) => (schedules.includes(request.schedule) ? rule(request) : null);
}
