/** The WebAssembly kernels are held against the plain loops that they stand in for, bit for bit. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildSync } from 'esbuild';
import fc from 'fast-check';
import type { Costs } from '../../src/model/costs.ts';
import { fastEnds, fastMakespan, fastTiming } from '../../src/sim/fast-scan.ts';
import { makespansOf } from '../../src/sim/many.ts';
import { price } from '../../src/sim/ops.ts';
import type { Order } from '../../src/sim/order.ts';
import { compile, compilePlain, entryOps, type Program, pairsOf } from '../../src/sim/program.ts';
import { makeEnds, scanMakespan, scanTiming } from '../../src/sim/scan.ts';
import { SCHEDULES, scheduleRow, stageCount } from '../../src/sim/schedules/table.ts';
import type { PipelineShape } from '../../src/sim/shape.ts';
import { assemble, branch, f64, i32, kernel, loop, sequence, when } from '../../src/sim/wasm/assembler.ts';
import { compileNodes, scanEnds, scanIdle } from '../../src/sim/wasm/engine.ts';
import { machineSource } from '../../src/sim/wasm/machine.ts';
import { HOLDS_PAIRS } from '../../src/sim/wasm/order-kernel.ts';
import { anyLegalShape, anyShape, costsOf, equalCosts, shapeOf } from './shapes.ts';

const RUNS = { numRuns: 400 };

/** Any times that doubles can hold, so that sums round. */
function anyRoughCosts(shape: PipelineShape): fc.Arbitrary<Costs> {
  const time = fc.double({ min: 0, max: 1e6, noNaN: true });
  const stages = stageCount(shape);
  return fc
    .array(time, { minLength: 4 * stages, maxLength: 4 * stages })
    .map((times) =>
      costsOf(
        stages,
        (column, i) => times[['forward', 'backwardInput', 'backwardWeight', 'transfer'].indexOf(column) * stages + i]!,
      ),
    );
}

const anyRoughCase = anyShape.chain((shape) => anyRoughCosts(shape).map((costs) => ({ shape, costs })));

function orderOf(shape: PipelineShape): Order {
  return scheduleRow(shape.schedule)!.order(shape, equalCosts(shape, [1, 1, 1, 0]));
}

function plainProgram(shape: PipelineShape): Program {
  const compiled = compilePlain(orderOf(shape));
  assert.ok(compiled.ok);
  return compiled.program;
}

test('the scans give every end, start and idle time of the plain ones', () => {
  fc.assert(
    fc.property(anyRoughCase, ({ shape, costs }) => {
      const program = plainProgram(shape);
      const prices = price(program.ops, costs, 0.9);
      const end = makeEnds(program);
      const { makespan, firstStart, ...plain } = scanTiming(program, prices, end);
      const fast = makeEnds(program).fill(-1);
      const clocks = scanEnds(program, prices, fast);
      assert.deepEqual(fast, end);
      assert.deepEqual(clocks, plain.lastEnd);
      const scanned = scanIdle(program, prices);
      assert.ok(scanned !== null);
      const { firstStart: started, ...rest } = scanned;
      assert.deepEqual(rest, plain);
      assert.deepEqual(
        started.map((time) => Math.max(time, 0)),
        firstStart,
      );
      assert.equal(makespan, Math.max(0, ...clocks!));
    }),
    RUNS,
  );
});

test('an order is compiled into the same program, and the same orders deadlock', () => {
  let compiled = 0;
  let deadlocked = 0;
  fc.assert(
    fc.property(anyLegalShape, (shape) => {
      const order = orderOf(shape);
      const plain = compilePlain(order);
      const { ops } = plain.ok ? plain.program : { ops: null };
      if (ops === null) {
        deadlocked++;
        return;
      }
      const nodes = compileNodes(order, ops, entryOps(order, ops, pairsOf(order)));
      assert.ok(nodes !== null && nodes !== HOLDS_PAIRS && plain.ok);
      assert.equal(nodes.nodes, order.ids.length);
      assert.deepEqual(nodes.code, plain.program.code);
      assert.deepEqual(nodes.occurrences, plain.program.occurrences);
      assert.deepEqual(nodes.peakActivations, plain.program.peakActivations);
      assert.deepEqual(nodes.cursor, order.rankStart.slice(1));
      compiled++;
    }),
    { ...RUNS, seed: 7 },
  );
  assert.ok(compiled > 300 && deadlocked > 0);
});

test('large orders of every schedule, which take the kernels, agree with the plain loops', () => {
  for (const { id, virtualStages } of SCHEDULES.filter((row) => row.id !== 'none')) {
    const shape = shapeOf(id, 8, 96, virtualStages === 'one' ? 1 : 2);
    const order = orderOf(shape);
    assert.ok(order.ids.length >= 1024);
    const fast = compile(order);
    const plain = compilePlain(order);
    assert.deepEqual(fast, plain);
    assert.ok(plain.ok);
    const { program } = plain;
    for (const transfer of [0, 0.1]) {
      const prices = price(program.ops, equalCosts(shape, [1.1, 1.3, 0.7, transfer]), 1);
      const end = makeEnds(program);
      assert.deepEqual(fastTiming(program, prices), scanTiming(program, prices, end));
      assert.equal(fastMakespan(program, prices), scanMakespan(program, prices, makeEnds(program)));
      assert.deepEqual(fastEnds(program, prices), end);
    }
  }
});

test('a large order that deadlocks is refused with the same wait', () => {
  const shape = { ...shapeOf('interleaved-1f1b', 8, 96, 2), groupSize: 5 };
  const order = orderOf(shape);
  const refused = compile(order);
  assert.ok(!refused.ok);
  assert.match(refused.reason, /^the order deadlocks: /);
  assert.deepEqual(refused, compilePlain(order));
});

test('many prices at once give the makespan of each', () => {
  const anyPrices = anyShape.chain((shape) =>
    fc.array(anyRoughCosts(shape), { minLength: 0, maxLength: 20 }).map((costs) => ({ shape, costs })),
  );
  fc.assert(
    fc.property(anyPrices, ({ shape, costs }) => {
      const program = plainProgram(shape);
      const prices = costs.map((each) => price(program.ops, each, 0.9));
      assert.deepEqual(
        makespansOf(program, prices),
        prices.map((each) => scanMakespan(program, each, makeEnds(program))),
      );
    }),
    RUNS,
  );
});

test('programs of different sizes take turns in one memory', () => {
  const programs = [8, 200, 16, 2000].map((microbatches) => plainProgram(shapeOf('1f1b', 4, microbatches)));
  for (const program of [...programs, ...[...programs].reverse()]) {
    const shape = shapeOf('1f1b', 4, program.order.microbatches);
    const prices = price(program.ops, equalCosts(shape, [1, 2, 3, 0.3]), 1);
    const end = makeEnds(program);
    const makespan = scanMakespan(program, prices, end);
    assert.equal(Math.max(...scanEnds(program, prices, null)!), makespan);
  }
});

test('numbers of any size are encoded as the format asks', () => {
  const values = [0, 1, 63, 64, 127, 128, 8191, 8192, 2 ** 30, 2 ** 31 - 1, -1, -64, -65, -8192, -(2 ** 31)];
  const kernels = values.map((value, i) => kernel(`k${i}`, [], 'i32', [], () => i32.const(value)));
  const machine = machineSource(kernels).reserve(0)!;
  assert.deepEqual(
    values.map((_, i) => machine.call(`k${i}`)),
    values,
  );
  const half = machineSource([kernel('half', [], 'f64', [], () => f64.const(-0.1))]).reserve(0)!;
  assert.equal(half.call('half'), -0.1);
});

test('a module holds loops, and one with an unknown instruction makes no machine', () => {
  const sum = kernel('sum', ['i32'], 'i32', ['i32'], (n, total) =>
    sequence(
      loop(
        'each',
        when(
          i32.gtS(n.get, i32.const(0)),
          total.set(i32.add(total.get, n.get)),
          n.set(i32.sub(n.get, i32.const(1))),
          branch('each'),
        ),
      ),
      total.get,
    ),
  );
  assert.equal(machineSource([sum]).reserve(0)!.call('sum', 100), 5050);
  assert.throws(() => assemble([kernel('lost', [], null, [], () => branch('nowhere'))]), /no loop or block nowhere/);
  const unknown = kernel(
    'unknown',
    [],
    null,
    [],
    () =>
      ({ bytes }) =>
        bytes.push(0x27),
  );
  assert.equal(machineSource([unknown]).reserve(0), null);
});

test('without WebAssembly the answers are the same bytes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bubblelens-plain-'));
  try {
    const file = join(folder, 'cli.cjs');
    const entryPoints = [join(process.cwd(), 'src/cli/main.ts')];
    buildSync({
      entryPoints,
      outfile: file,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      mainFields: ['module', 'main'],
    });
    const requests = [
      { schedule: 'interleaved-1f1b', pp: 8, vpp: 2, microbatches: 96, p2p: 0.3, jitter: 0.2, samples: 40 },
      { schedule: 'zb-h1', pp: 8, microbatches: 96, forward: 1.1, stageScale: [1, 2, 1, 1, 1, 1.5, 1, 1] },
      { schedule: '1f1b', pp: 4, microbatches: 100_000, p2p: 0.3 },
    ];
    const input = requests.map((request) => `${JSON.stringify(request)}\n`).join('');
    const run = (flags: readonly string[]) =>
      execFileSync(process.execPath, [...flags, file, 'simulate', '--batch'], {
        input,
        encoding: 'utf8',
        stdio: ['pipe', 'pipe', 'ignore'],
      });
    const plain = run(['--jitless']);
    assert.equal(plain, run([]));
    assert.ok(!plain.includes('"error"') && plain.split('\n').length === 4);
    assert.equal(
      execFileSync(process.execPath, ['--jitless', '-p', 'typeof WebAssembly'], {
        encoding: 'utf8',
        stdio: ['pipe', 'pipe', 'ignore'],
      }).trim(),
      'undefined',
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
