/**
 * How long a simulation takes, as medians of runs in this process. Every run is fresh: the order is generated and
 * compiled again, so that `orderMs` + `simulateMs` cover all that an answer needs, idle by cause included; `cachedMs`
 * is a new timing of an order at hand, what a change of costs alone takes.
 */

import { performance } from 'node:perf_hooks';
import { clearPrograms } from '../sim/cache.ts';
import type { Order } from '../sim/order.ts';
import { parseOrder } from '../sim/order-parse.ts';
import { isLong } from '../sim/periodic.ts';
import { compile } from '../sim/program.ts';
import { reportOf } from '../sim/report.ts';
import type { ScheduleRow } from '../sim/schedules/row.ts';
import { scheduleRow, stageCount } from '../sim/schedules/table.ts';
import { pipelineReport } from '../sim/simulate.ts';
import { type Answer, CLI_MAX_ACTIONS } from './answer.ts';

const RUNS = 21;

export interface Timing {
  readonly actions: number;
  readonly orderMs: number;
  readonly simulateMs: number;
  readonly cachedMs: number;
  readonly runs: number;
}

export function timing(answer: Answer): Timing {
  const { shape, costs, request } = answer;
  if (request.order === null && isLong(shape)) return timingOfLong(answer);
  const row = scheduleRow(shape.schedule)!;
  const order: number[] = [];
  const simulate: number[] = [];
  const cached: number[] = [];
  let actions = 0;
  for (let run = 0; run < RUNS; run++) {
    clearPrograms();
    const inputs = structuredClone({ shape, costs });
    const start = performance.now();
    const made = orderOf(row, inputs, request.order);
    const ordered = performance.now();
    const compiled = compile(made);
    if (!compiled.ok) break;
    reportOf(compiled.program, inputs.costs, request.overlapFactor);
    const simulated = performance.now();
    reportOf(compiled.program, inputs.costs, request.overlapFactor);
    cached.push(performance.now() - simulated);
    order.push(ordered - start);
    simulate.push(simulated - ordered);
    actions = made.ids.length;
  }
  return {
    actions,
    orderMs: median(order),
    simulateMs: median(simulate),
    cachedMs: median(cached),
    runs: order.length,
  };
}

/** A run of very many microbatches is timed as it is answered: by short runs, whose order is part of the work. */
function timingOfLong({ shape, costs, request }: Answer): Timing {
  const simulate: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    clearPrograms();
    const inputs = structuredClone({ shape, costs });
    const start = performance.now();
    pipelineReport(inputs.shape, inputs.costs, { maxActions: CLI_MAX_ACTIONS, overlapFactor: request.overlapFactor });
    simulate.push(performance.now() - start);
  }
  const simulateMs = median(simulate);
  const actions = scheduleRow(shape.schedule)!.actions(shape);
  return { actions, orderMs: 0, simulateMs, cachedMs: simulateMs, runs: RUNS };
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
