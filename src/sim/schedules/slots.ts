/** Orders made by placing actions in slots of time, all of one length: who comes first is all that remains of them. */

export interface TimedAction {
  readonly time: number;
  readonly id: number;
}

/** The ids in the order of their slots. */
export function byTime(timed: readonly TimedAction[]): number[] {
  return [...timed].sort((a, b) => a.time - b.time || a.id - b.id).map(({ id }) => id);
}
