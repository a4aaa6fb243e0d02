/**
 * A second simulator for the tests, as plain as can be and sharing nothing with the engine: orders are text, results
 * a map by name, and ranks are polled until nothing moves.
 */

export interface ReferenceCosts {
  readonly forward: readonly number[];
  readonly backwardInput: readonly number[];
  readonly backwardWeight: readonly number[];
  readonly transfer: readonly number[];
}

export interface ReferenceRun {
  readonly makespan: number;
  readonly busy: readonly number[];
  readonly end: readonly number[];
  readonly firstStart: readonly number[];
  readonly peak: readonly number[];
  /** Start and end by action, `F0.0`. */
  readonly times: ReadonlyMap<string, readonly [number, number]>;
}

export interface Action {
  readonly kind: string;
  readonly stage: number;
  readonly microbatch: number;
}

/** null when the order deadlocks. `factor` is what an action's time on a rank is multiplied by. */
export function referenceRun(
  lines: readonly string[],
  stages: number,
  costs: ReferenceCosts,
  factor: (action: Action, rank: number) => number = () => 1,
): ReferenceRun | null {
  const lists = lines.map((line) => line.split(' ').filter(Boolean).map(actionsOf));
  const done = new Map<string, { end: number; rank: number }>();
  const times = new Map<string, readonly [number, number]>();
  const at = lists.map(() => 0);
  const time = lists.map(() => 0);
  const busy = lists.map(() => 0);
  const first = lists.map(() => -1);
  const live = lists.map(() => 0);
  const peak = lists.map(() => 0);
  const arrival = (action: Action, rank: number): number | null => {
    const need = needOf(action, stages);
    if (need === null) return 0;
    const result = done.get(need.name);
    if (result === undefined) return null;
    // With as many stages as ranks an edge is a pair of neighbours, which a second direction meets from its far end.
    const edge = stages === lists.length ? Math.min(result.rank, rank) : need.edge;
    return result.end + (result.rank === rank ? 0 : costs.transfer[edge]!);
  };
  for (let moved = true; moved; ) {
    moved = false;
    lists.forEach((list, rank) => {
      for (; at[rank]! < list.length; at[rank]!++) {
        const actions = list[at[rank]!]!;
        const arrivals = actions.map((action) => arrival(action, rank));
        if (arrivals.includes(null)) return;
        const start = Math.max(time[rank]!, ...arrivals.map(Number));
        const duration = actions.reduce((sum, action) => sum + durationOf(action, costs) * factor(action, rank), 0);
        time[rank] = start + duration;
        busy[rank]! += duration;
        if (first[rank]! < 0) first[rank] = start;
        for (const action of actions) {
          if (action.kind !== 'W') done.set(resultName(action), { end: start + duration, rank });
          times.set(`${action.kind}${action.stage}.${action.microbatch}`, [start, start + duration]);
          if (action.kind === 'F') peak[rank] = Math.max(peak[rank]!, ++live[rank]!);
          else if (action.kind !== 'I') live[rank]!--;
        }
        moved = true;
      }
    });
  }
  if (at.some((count, rank) => count < lists[rank]!.length)) return null;
  const firstStart = first.map((start) => Math.max(0, start));
  return { makespan: Math.max(0, ...time), busy, end: time, firstStart, peak, times };
}

export function actionsOf(word: string): readonly Action[] {
  const names = word.startsWith('O(') ? word.slice(2, -1).split('|') : [word];
  return names.map((name) => {
    const [stage, microbatch] = name.slice(1).split('.').map(Number);
    return { kind: name[0]!, stage: stage!, microbatch: microbatch! };
  });
}

function resultName({ kind, stage, microbatch }: Action): string {
  return `${kind === 'F' ? 'forward' : 'gradient'} ${stage} ${microbatch}`;
}

/** What an action waits for beside its rank, and the edge it comes over. */
function needOf({ kind, stage, microbatch }: Action, stages: number): { name: string; edge: number } | null {
  if (kind === 'F') return stage === 0 ? null : { name: `forward ${stage - 1} ${microbatch}`, edge: stage - 1 };
  if (kind === 'W') return { name: `gradient ${stage} ${microbatch}`, edge: stage };
  if (stage === stages - 1) return { name: `forward ${stage} ${microbatch}`, edge: stage };
  return { name: `gradient ${stage + 1} ${microbatch}`, edge: stage };
}

function durationOf({ kind, stage }: Action, costs: ReferenceCosts): number {
  if (kind === 'F') return costs.forward[stage]!;
  const input = kind === 'W' ? 0 : costs.backwardInput[stage]!;
  return input + (kind === 'I' ? 0 : costs.backwardWeight[stage]!);
}
