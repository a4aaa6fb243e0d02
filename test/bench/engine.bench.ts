/**
 * How fast the engine is: fresh (generate, compile, time, report) and with the compiled order at hand, against one
 * plain pass over arrays of the same size in the same run (two Int32 read and one Float64 written per action), since
 * absolute times mean little from one machine to the next.
 */

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import type { ScheduleId } from '../../src/model/schedule.ts';
import { price } from '../../src/sim/ops.ts';
import { compile, type Program } from '../../src/sim/program.ts';
import { reportOf } from '../../src/sim/report.ts';
import { makeEnds, scanMakespan } from '../../src/sim/scan.ts';
import { scheduleRow } from '../../src/sim/schedules/table.ts';
import { equalCosts, shapeOf } from '../sim/shapes.ts';

export const title =
  'The engine, in the process: best of several runs, and ratios to one plain pass over the same arrays';

export interface EngineRow {
  readonly schedule: string;
  readonly pp: number;
  readonly vpp: number;
  readonly microbatches: number;
  readonly actions: number;
  readonly 'order ms': number;
  readonly 'simulate ms': number;
  readonly 'cached ms': number;
  readonly 'actions/s': number;
  readonly 'fresh ratio': number;
  readonly 'report ratio': number;
  readonly 'scan ratio': number;
  /** Of a whole process that simulates this once, the program itself included. */
  readonly 'peak MB': number;
}

const CASES: readonly (readonly [ScheduleId, number, number, number])[] = [
  ['1f1b', 8, 1, 64],
  ['interleaved-1f1b', 16, 4, 256],
  ['1f1b', 1024, 1, 8],
  ['zb-h1', 16, 1, 256],
  ['dualpipev', 16, 2, 256],
  ['interleaved-1f1b', 64, 2, 1024],
  ['interleaved-1f1b', 64, 4, 1024],
  ['1f1b', 256, 1, 4096],
  ['interleaved-1f1b', 128, 4, 9856],
];

export function rows(): readonly EngineRow[] {
  // A child's peak counts its parent's size at the fork: memory is measured before anything has grown.
  const peaks = CASES.map(([schedule, pp, vpp, microbatches]) => peakMegabytes(schedule, pp, vpp, microbatches));
  // Whatever is measured first would pay for the compiler.
  for (let i = 0; i < 30; i++) measure('interleaved-1f1b', 8, 2, 32, 1);
  return CASES.map(([schedule, pp, vpp, microbatches], i) => {
    const actions = 2 * pp * vpp * microbatches;
    return { ...measure(schedule, pp, vpp, microbatches, actions > 1e6 ? 5 : 40), 'peak MB': peaks[i]! };
  });
}

function measure(
  schedule: ScheduleId,
  pp: number,
  vpp: number,
  microbatches: number,
  runs: number,
): Omit<EngineRow, 'peak MB'> {
  const shape = shapeOf(schedule, pp, microbatches, vpp);
  const costs = equalCosts(shape, [10, 11, 7, 0.5]);
  const row = scheduleRow(schedule)!;
  const times = { order: [], simulate: [], cached: [], scan: [], pass: [] } as Record<string, number[]>;
  const timed = <T>(name: string, work: () => T): T => {
    const start = performance.now();
    const result = work();
    times[name]!.push(performance.now() - start);
    return result;
  };
  let actions = 0;
  for (let run = 0; run < runs; run++) {
    const order = timed('order', () => row.order(shape, costs));
    const program = timed('simulate', () => {
      const compiled = compile(order);
      if (!compiled.ok) throw new Error(compiled.reason);
      reportOf(compiled.program, costs, 1);
      return compiled.program;
    });
    timed('cached', () => reportOf(program, costs, 1));
    const prices = price(program.ops, costs, 1);
    const end = makeEnds(program);
    timed('scan', () => scanMakespan(program, prices, end));
    timed('pass', () => plainPass(program, end));
    actions = order.ids.length;
  }
  // The least of several runs: what other processes add does not belong to the engine.
  const ms = (name: string) => Math.min(...times[name]!);
  const fresh = ms('order') + ms('simulate');
  return {
    schedule,
    pp,
    vpp,
    microbatches,
    actions,
    'order ms': round(ms('order')),
    'simulate ms': round(ms('simulate')),
    'cached ms': round(ms('cached')),
    'actions/s': Math.round(actions / (fresh / 1000)),
    'fresh ratio': round(fresh / ms('pass')),
    'report ratio': round(ms('cached') / ms('pass')),
    'scan ratio': round(ms('scan') / ms('pass')),
  };
}

function peakMegabytes(schedule: ScheduleId, pp: number, vpp: number, microbatches: number): number {
  const root = process.env.BUBBLELENS_ROOT ?? process.cwd();
  const sizes = ['--schedule', schedule, '--pp', pp, '--vpp', vpp, '--microbatches', microbatches].map(String);
  const args = ['-r', path.join(root, 'test/bench/peak-memory.cjs'), path.join(root, 'dist/cli.js'), 'simulate'];
  const { stderr } = spawnSync(process.execPath, [...args, ...sizes, '--json'], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  return Math.round(Number(stderr.trim().split('\n').at(-1)) / 1e6);
}

/** The least that reading a program and writing its ends can cost in JavaScript. */
function plainPass({ code }: Program, end: Float64Array): void {
  const nodes = end.length - 1;
  for (let k = 0; k < nodes; k++) end[k] = code[2 * k]! + code[2 * k + 1]!;
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}
