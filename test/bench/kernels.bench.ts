/**
 * The WebAssembly kernels, the samples of a variation, many prices at once and runs of very many microbatches, against
 * what each is measured by: the scan against a plain pass in WebAssembly over the same bytes, in the same run.
 */

import { performance } from 'node:perf_hooks';
import type { ScheduleId } from '../../src/model/schedule.ts';
import { variationOf } from '../../src/sim/jitter.ts';
import { makespansOf } from '../../src/sim/many.ts';
import { type Prices, price } from '../../src/sim/ops.ts';
import { compile, type Program } from '../../src/sim/program.ts';
import { reportOf } from '../../src/sim/report.ts';
import { makeEnds, scanMakespan } from '../../src/sim/scan.ts';
import { scheduleRow } from '../../src/sim/schedules/table.ts';
import { pipelineReport } from '../../src/sim/simulate.ts';
import { assemble, branch, f64, i32, kernel, loop, when } from '../../src/sim/wasm/assembler.ts';
import { scanEnds, scanIdle } from '../../src/sim/wasm/engine.ts';
import { machineSource } from '../../src/sim/wasm/machine.ts';
import { COMPILE } from '../../src/sim/wasm/order-kernel.ts';
import { SCAN, SCAN_IDLE } from '../../src/sim/wasm/scan-kernels.ts';
import { costsOf, equalCosts, shapeOf } from '../sim/shapes.ts';

export const title = 'Kernels, samples and long runs: best of several runs';

export interface KernelRow {
  readonly measurement: string;
  readonly shape: string;
  readonly actions: number;
  readonly ms: number;
  readonly result: string;
  readonly goal: string;
}

type Case = readonly [ScheduleId, number, number, number];

const MIDDLE: Case = ['interleaved-1f1b', 16, 4, 256];
const LARGE: Case = ['interleaved-1f1b', 64, 4, 1024];
const HUGE: Case = ['interleaved-1f1b', 128, 4, 9856];

export function rows(): readonly KernelRow[] {
  const start = best(1, () => machineSource([COMPILE, SCAN, SCAN_IDLE]).reserve(0));
  const assembled = best(50, () => assemble([COMPILE, SCAN, SCAN_IDLE]));
  return [
    { measurement: 'first use of the kernels, cold', shape: '', actions: 0, ms: start, result: '', goal: '' },
    {
      measurement: 'module made and started, warm',
      shape: '',
      actions: 0,
      ms: best(50, () => machineSource([COMPILE, SCAN, SCAN_IDLE]).reserve(0)),
      result: `of it ${assembled.toPrecision(2)} ms to assemble`,
      goal: '< 1 ms',
    },
    ...[MIDDLE, LARGE, HUGE].flatMap(scans),
    variation(MIDDLE),
    variation(['interleaved-1f1b', 64, 2, 1024]),
    prices(['interleaved-1f1b', 16, 4, 64]),
    ...(
      [
        ['1f1b', 16, 1, 100_000],
        ['zb-h1', 16, 1, 100_000],
        ['interleaved-1f1b', 16, 4, 100_000],
      ] as const
    ).map(long),
    fresh(MIDDLE, 40, '≤ 2 ms'),
    fresh(HUGE, 4, '≤ 400 ms'),
  ];
}

function scans(which: Case): readonly KernelRow[] {
  const { program, prices: at, shape } = setUp(which);
  const actions = program.order.ids.length;
  const runs = actions > 1e6 ? 8 : 60;
  const end = makeEnds(program);
  const pass = plainPass(program);
  const times = { pass: [], scan: [], idle: [], plain: [], js: [] } as Record<string, number[]>;
  const timed = (name: string, work: () => unknown) => times[name]!.push(best(1, work));
  for (let run = 0; run < runs; run++) {
    timed('pass', pass);
    timed('scan', () => scanEnds(program, at, null));
    timed('idle', () => scanIdle(program, at));
    timed('plain', () => scanMakespan(program, at, end));
    timed('js', () => plainPassInPlace(program, end));
  }
  const ms = (name: string) => Math.min(...times[name]!);
  const row = (measurement: string, name: string, by: string, goal: string): KernelRow => ({
    measurement,
    shape,
    actions,
    ms: ms(name),
    result: `${(ms(name) / ms(by)).toFixed(2)} passes`,
    goal,
  });
  return [
    row('scan, WebAssembly (its own pass)', 'scan', 'pass', '≤ 3'),
    row('scan with idle by cause (its own pass)', 'idle', 'pass', ''),
    row('plain scan (JavaScript pass)', 'plain', 'js', ''),
  ];
}

function variation(which: Case): KernelRow {
  const { program, prices: at, shape } = setUp(which);
  const ms = best(10, () => variationOf(program, at, { sigma: 0.1, samples: 1000, seed: 1 }));
  const actions = program.order.ids.length;
  const each = `${((ms * 1e6) / actions / 1000).toPrecision(2)} ns each`;
  return {
    measurement: '1,000 samples of a variation',
    shape,
    actions,
    ms,
    result: each,
    goal: which === MIDDLE ? '≤ 100 ms' : '',
  };
}

function prices(which: Case): KernelRow {
  const { program, shape } = setUp(which);
  const many = Array.from({ length: 800 }, (_, i) =>
    price(
      program.ops,
      costsOf(64, (_, stage) => 10 + ((i * 7 + stage * 13) % 97) / 10),
      1,
    ),
  );
  const ms = best(6, () => makespansOf(program, many));
  const rate = `${Math.round(many.length / ms)} k a second`;
  return {
    measurement: '800 prices of one program',
    shape,
    actions: program.order.ids.length,
    ms,
    result: rate,
    goal: '≥ 80 k',
  };
}

function long([schedule, pp, vpp, microbatches]: Case): KernelRow {
  const shape = shapeOf(schedule, pp, microbatches, vpp);
  const costs = equalCosts(shape, [1, 1, 1, 0]);
  const actions = scheduleRow(schedule)!.actions(shape);
  const ms = best(40, () => pipelineReport(shape, costs));
  const result = pipelineReport(shape, costs);
  return {
    measurement: 'equal microbatches, order and report',
    shape: named([schedule, pp, vpp, microbatches]),
    actions,
    ms,
    result: result.ok ? `makespan ${result.report.makespan}` : result.reason,
    goal: schedule === '1f1b' ? '≤ 2 ms' : '',
  };
}

function fresh([schedule, pp, vpp, microbatches]: Case, runs: number, goal: string): KernelRow {
  const shape = shapeOf(schedule, pp, microbatches, vpp);
  const costs = equalCosts(shape, [10, 11, 7, 0]);
  const ms = best(runs, () => {
    const compiled = compile(scheduleRow(schedule)!.order(shape, costs));
    return compiled.ok ? reportOf(compiled.program, costs, 1) : null;
  });
  const actions = scheduleRow(schedule)!.actions(shape);
  const rate = `${((ms * 1e6) / actions).toPrecision(3)} ns each`;
  return {
    measurement: 'fresh: order and report',
    shape: named([schedule, pp, vpp, microbatches]),
    actions,
    ms,
    result: rate,
    goal,
  };
}

function setUp(which: Case): { readonly program: Program; readonly prices: Prices; readonly shape: string } {
  const [schedule, pp, vpp, microbatches] = which;
  const shape = shapeOf(schedule, pp, microbatches, vpp);
  const costs = equalCosts(shape, [10, 11, 7, 0.5]);
  const compiled = compile(scheduleRow(schedule)!.order(shape, costs));
  if (!compiled.ok) throw new Error(compiled.reason);
  return { program: compiled.program, prices: price(compiled.program.ops, costs, 1), shape: named(which) };
}

function named([schedule, pp, vpp, microbatches]: Case): string {
  return `${schedule} pp ${pp} vpp ${vpp} m ${microbatches}`;
}

/** Reads both numbers of every node and writes one double. */
function plainPass({ code }: Program): () => unknown {
  const pass = kernel('pass', ['i32', 'i32', 'i32'], null, [], (at, stop, end) =>
    loop(
      'nodes',
      when(
        i32.ltS(at.get, stop.get),
        f64.store(end.get, f64.fromI32(i32.add(i32.load(at.get), i32.load(at.get, 4)))),
        at.set(i32.add(at.get, i32.const(8))),
        end.set(i32.add(end.get, i32.const(8))),
        branch('nodes'),
      ),
    ),
  );
  const endAt = 64 + 4 * code.length;
  const machine = machineSource([pass]).reserve(endAt + 4 * code.length + 64)!;
  machine.i32.set(code, 16);
  return () => machine.call('pass', 64, endAt, endAt);
}

/** The least that reading a program and writing its ends can cost in JavaScript. */
function plainPassInPlace({ code }: Program, end: Float64Array): void {
  const nodes = end.length - 1;
  for (let k = 0; k < nodes; k++) end[k] = code[2 * k]! + code[2 * k + 1]!;
}

/** The least of several runs: what other processes add does not belong to the work. */
function best(runs: number, work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run++) {
    const start = performance.now();
    work();
    least = Math.min(least, performance.now() - start);
  }
  return least;
}
