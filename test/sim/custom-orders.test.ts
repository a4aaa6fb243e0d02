/** Custom orders: what is written is read back the same, torch's CSV in both of its forms, and what is refused. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readOrder } from '../../src/sim/order-read.ts';
import { orderLines } from '../../src/sim/order-text.ts';
import { compile, type Program } from '../../src/sim/program.ts';
import { scheduleRow } from '../../src/sim/schedules/table.ts';
import type { PipelineShape } from '../../src/sim/shape.ts';
import { pipelineReport } from '../../src/sim/simulate.ts';
import { torchCsv } from '../../src/sim/torch-csv.ts';
import { anyCase, equalCosts, shapeOf } from './shapes.ts';

function programOf(shape: PipelineShape, costs = equalCosts(shape, [1, 1, 1, 0])): Program {
  const compiled = compile(scheduleRow(shape.schedule)!.order(shape, costs));
  assert.ok(compiled.ok);
  return compiled.program;
}

const readLines = (text: string) => {
  const read = readOrder(text);
  assert.ok(read.ok, read.ok ? '' : read.reason);
  return read.order;
};

test('an order that is written and read again is the same order with the same timing, in every form', () => {
  fc.assert(
    fc.property(anyCase, fc.constantFrom('text', 'csv', 'csv-comms'), ({ shape, costs }, form) => {
      const program = programOf(shape, costs);
      const lines = orderLines(program.order);
      if (shape.microbatches === 0 && form !== 'text') return;
      const csv = torchCsv(program, form === 'csv-comms');
      if (form !== 'text' && !csv.ok) return assert.equal(shape.schedule, 'dualpipe');
      const text =
        form === 'text' ? lines.map((line, rank) => `rank ${rank}: ${line}`).join('\n') : csv.ok ? csv.text : '';
      const read = readLines(text);
      assert.deepEqual(read.lines, lines);
      const expected = pipelineReport(shape, costs, { order: lines });
      const actual = pipelineReport(shape, costs, { order: read.lines });
      const own = pipelineReport(shape, costs);
      assert.ok(expected.ok && actual.ok && own.ok);
      assert.deepEqual(actual.report, own.report);
      assert.deepEqual(actual.timeline, own.timeline);
      if (read.sizes === null) return;
      const { pp, vpp, microbatches } = read.sizes;
      assert.deepEqual([pp, vpp, microbatches], [shape.pp, shape.vpp, shape.microbatches]);
      assert.equal(scheduleRow(read.sizes.schedule)!.placement === 'bidirectional', shape.schedule === 'dualpipe');
    }),
    { numRuns: 300 },
  );
});

/** Lists that torch prints for Interleaved1F1B on two ranks (pytorch/pytorch#172668), less the sharding steps. */
test('transfers stand in the CSV where torch puts them', () => {
  const csv = torchCsv(programOf(shapeOf('interleaved-1f1b', 2, 2, 2)), true);
  assert.ok(csv.ok);
  assert.deepEqual(csv.text.trim().split('\n'), [
    '0F0,0SEND_F0,2RECV_F0,0F1,0SEND_F1,2RECV_F1,2F0,2SEND_F0,2F1,2SEND_F1,2RECV_B0,2B0,2SEND_B0,2RECV_B1,2B1,2SEND_B1,0RECV_B0,0B0,0RECV_B1,0B1',
    '1RECV_F0,1F0,1SEND_F0,1RECV_F1,1F1,1SEND_F1,3RECV_F0,3F0,3RECV_F1,3B0,3SEND_B0,1RECV_B0,3F1,3B1,3SEND_B1,1RECV_B1,1B0,1SEND_B0,1B1,1SEND_B1',
  ]);
});

test('overlapped pairs, sharding steps, quotes and empty cells are read as torch reads them', () => {
  const read = readLines('0UNSHARD,0F0,,"0F1", 0B0,0B1,0REDUCE_GRAD\r\n,1F0,1F1,(1F2;1B0)OVERLAP_F_B\r\n,,\r\n');
  assert.deepEqual(read.lines, ['F0.0 F0.1 B0.0 B0.1', 'F1.0 F1.1 O(F1.2|B1.0)']);
  assert.deepEqual(read.notes, [
    "2 empty cells are passed over: torch shows a rank's idle steps with them",
    '2 sharding steps (UNSHARD, RESHARD, REDUCE_GRAD) are passed over',
  ]);
});

test('the last rank of torch’s 1F1B display is one off: said, and read as it runs', () => {
  const shown = [
    '0F0,0F1,,,0F2,0B0,0F3,0B1,,0B2,,0B3',
    ',1F0,,1F1,1B0,1F2,1B1,1F3,1B2,,1B3',
    ',,2F1,2B0,2F2,2B1,2F3,2B2,2F4,2B3',
  ].join('\n');
  const read = readLines(shown);
  assert.equal(read.lines[2], 'F2.0 B2.0 F2.1 B2.1 F2.2 B2.2 F2.3 B2.3');
  assert.match(read.notes[1]!, /^rank 2 lists its forwards from microbatch 1 to 4: .*; read as 0 to 3$/);
  assert.deepEqual(read.sizes, { schedule: '1f1b', pp: 3, vpp: 1, microbatches: 4 });
  const shape = shapeOf('1f1b', 3, 4);
  const run = pipelineReport(shape, equalCosts(shape, [1, 1, 1, 0]), { order: read.lines });
  assert.ok(run.ok);
  assert.equal(run.report.makespan, 18);
});

test('an order that no run can follow is refused with what is wrong with it, in one line', () => {
  const run = (text: string): string => {
    const read = readOrder(text);
    if (!read.ok) return read.reason;
    const { sizes, lines } = read.order;
    const shape = { ...shapeOf(sizes!.schedule, sizes!.pp, sizes!.microbatches, sizes!.vpp), groupSize: 1 };
    const result = pipelineReport(shape, equalCosts(shape, [1, 1, 1, 0]), { order: lines });
    return result.ok ? 'it runs' : result.reason;
  };
  const cases: readonly (readonly [string, RegExp])[] = [
    ['0F0,0F1,0B0,0B1\n1F0,1B0,1F1', /^B1\.1 is missing from the order$/],
    ['0F0,0F1,0B0,0I1\n1F0,1B0,1F1,1B1', /^W0\.1 is missing from the order$/],
    ['0F0,0B0,0F0\n1F0,1B0', /^F0\.0 stands in the order twice$/],
    ['0F0,0B0\n1F0,1B0,0F1', /^rank 1: F0\.1 belongs on rank 0$/],
    [
      '0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1',
      /^the order deadlocks: rank 0 at B0\.0 waits for .* on rank 1; rank 1 at F1\.1 waits for F0\.1 on rank 0$/,
    ],
    ['0F0,0W0,0I0\n1F0,1B0', /^the order deadlocks: rank 0 at W0\.0 waits for I0\.0 which it has not run yet$/],
    ['0F0,0X0\n1F0,1B0', /^rank 0: "0X0" is not an action of torch's CSV such as 2F0$/],
    ['0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0', /^0SEND_F0 is missing from the order: rank 1 would wait for it$/],
    ['0F0,0SEND_F0,0RECV_B0,0B0\n1F0,1B0,1SEND_B0', /^1RECV_F0 is missing from the order: rank 1 uses what it brings$/],
    ['0SEND_F0,0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0', /^0SEND_F0 does not come after what it sends, on rank 0$/],
    ['0F0,0SEND_F0,0RECV_B0,0B0\n1F0,1RECV_F0,1B0,1SEND_B0', /^1RECV_F0 does not come before its use, on rank 1$/],
    ['0F0,0SEND_F0,0SEND_F0\n1RECV_F0,1F0', /^rank 0: 0SEND_F0 stands in the order twice$/],
    [
      '0F0,0SEND_F0,0RECV_B0,0B0,0SEND_B0\n1RECV_F0,1F0,1B0,1SEND_B0',
      /^rank 0: 0SEND_B0 belongs to no result that another rank uses$/,
    ],
  ];
  for (const [text, expected] of cases) {
    const reason = run(text);
    assert.match(reason, expected, text);
    assert.ok(!reason.includes('\n'));
  }
});
