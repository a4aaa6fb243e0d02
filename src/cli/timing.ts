/**
 * How long a simulation takes, as medians of runs in this process, after some that warm it up. Every run is fresh: the
 * order is generated and compiled again, so that `orderMs` + `simulateMs` cover all that an answer needs, idle by cause
 * included; `cachedMs` is a new timing of an order at hand, what a change of costs alone takes.
 */

import { performance } from 'node:perf_hooks';
import { clearPrograms } from '../sim/cache.ts';
import type { Order } from '../sim/order.ts';
import { parseOrder } from '../sim/order-parse.ts';
import { isLong } from '../sim/periodic.ts';
import { compile } from '../sim/program.ts';
import type { ScheduleRow } from '../sim/schedules/row.ts';
import { scheduleRow, stageCount } from '../sim/schedules/table.ts';
import { pipelineReport, timedProgram } from '../sim/simulate.ts';
import { type Answer, CLI_MAX_ACTIONS } from './answer.ts';

const RUNS = 21;
const WARM_UP_MS = 100;

export interface Timing {
  readonly actions: number;
  readonly orderMs: number;
  readonly simulateMs: number;
  readonly cachedMs: number;
  readonly runs: number;
}

export function timing(answer: Answer): Timing {
  const { shape, costs, request } = answer;
  if (request.order === null && request.communication === 'async' && isLong(shape)) return timingOfLong(answer);
  const row = scheduleRow(shape.schedule)!;
  return medians(() => {
    const inputs = structuredClone({ shape, costs });
    const start = performance.now();
    const made = orderOf(row, inputs, request.order);
    const ordered = performance.now();
    const compiled = compile(made);
    if (!compiled.ok) throw new Error(compiled.reason);
    timedProgram(compiled.program, inputs.costs, request.overlapFactor, request.communication);
    const simulated = performance.now();
    timedProgram(compiled.program, inputs.costs, request.overlapFactor, request.communication);
    return {
      actions: made.ids.length,
      orderMs: ordered - start,
      simulateMs: simulated - ordered,
      cachedMs: performance.now() - simulated,
    };
  });
}

/** A run of very many microbatches is timed as it is answered: by short runs, whose order is part of the work. */
function timingOfLong({ shape, costs, request }: Answer): Timing {
  const actions = scheduleRow(shape.schedule)!.actions(shape);
  return medians(() => {
    const inputs = structuredClone({ shape, costs });
    const start = performance.now();
    pipelineReport(inputs.shape, inputs.costs, { maxActions: CLI_MAX_ACTIONS, overlapFactor: request.overlapFactor });
    const simulateMs = performance.now() - start;
    return { actions, orderMs: 0, simulateMs, cachedMs: simulateMs };
  });
}

type Run = Omit<Timing, 'runs'>;

/** The first runs of a process are not counted: they take what the engine's code takes to be compiled. */
function medians(run: () => Run): Timing {
  const fresh = () => {
    clearPrograms();
    return run();
  };
  for (const stop = performance.now() + WARM_UP_MS; performance.now() < stop; ) fresh();
  const runs = Array.from({ length: RUNS }, fresh);
  return {
    actions: runs[0]!.actions,
    orderMs: median(runs.map((each) => each.orderMs)),
    simulateMs: median(runs.map((each) => each.simulateMs)),
    cachedMs: median(runs.map((each) => each.cachedMs)),
    runs: RUNS,
  };
}

/** Generated, or read again from its text. */
function orderOf(
  row: ScheduleRow,
  { shape, costs }: Pick<Answer, 'shape' | 'costs'>,
  lines: readonly string[] | null,
): Order {
  if (lines === null) return row.order(shape, costs);
  const { pp, microbatches } = shape;
  const parsed = parseOrder(lines, { pp, stages: stageCount(shape), microbatches, placement: row.placement });
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.order;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}
