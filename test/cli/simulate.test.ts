/** `bubblelens simulate`: golden answers, the batch, refusals in one line, the trace. UPDATE=1 rewrites the goldens. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { schedulesJson, schedulesText } from '../../src/cli/schedules.ts';
import { simulate } from '../../src/cli/simulate.ts';
import { SCHEDULES } from '../../src/sim/schedules/table.ts';
import { keptStreams } from './streams.ts';

const FOLDER = join(process.cwd(), 'test/fixtures/simulate');

async function run(args: readonly string[], input = '') {
  const kept = keptStreams(input);
  const code = await simulate(args, kept.streams);
  return { code, out: kept.out(), err: kept.err() };
}

const words = (line: string) => line.trim().split(/\s+/);

for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.args'))) {
  test(`simulate answers ${file} as recorded`, async () => {
    const args = words(readFileSync(join(FOLDER, file), 'utf8'));
    const { code, out, err } = await run(args);
    assert.deepEqual([code, err], [0, '']);
    const text = args.includes('--json') ? `${JSON.stringify(JSON.parse(out), null, 1)}\n` : out;
    const golden = join(FOLDER, file.replace(/\.args$/, '.golden.txt'));
    if (process.env.UPDATE === '1') writeFileSync(golden, text);
    assert.equal(text, readFileSync(golden, 'utf8'));
  });
}

test('what cannot be simulated is one line on stderr and exit code 2', async () => {
  const sound = '--schedule 1f1b --pp 4 --microbatches 8';
  const cases: readonly (readonly [string, RegExp])[] = [
    ['', /--schedule is missing/],
    ['--schedule 1f1b --pp 4', /--microbatches is missing/],
    ['--schedule 2f2b --pp 4 --microbatches 8', /--schedule takes one of none, gpipe, .*, not "2f2b"/],
    ['--schedule 1f1b --pp x --microbatches 8', /--pp takes a whole number from 1, not "x"/],
    ['--schedule 1f1b --pp 2.5 --microbatches 8', /--pp takes a whole number/],
    ['--schedule 1f1b --pp 0x10 --microbatches 8', /--pp takes a whole number/],
    ['--schedule 1f1b --pp=-1 --microbatches 8', /--pp takes a whole number/],
    ['--schedule 1f1b --pp NaN --microbatches 8', /--pp takes a whole number/],
    ['--schedule 1f1b --pp 1e9 --microbatches 8', /1,000,000,000 ranks .* too many/],
    ['--schedule gpipe --pp 16 --microbatches 10000000', /320,000,000 actions are too many/],
    ['--schedule 1f1b --pp 16 --microbatches 10000000 --orders', /320,000,000 actions are too many/],
    ['--schedule 1f1b --pp 16 --microbatches 10000000 --trace x.json', /too long to write every action/],
    ['--schedule 1f1b --pp 16 --microbatches 10000000 --jitter 0.1', /needs the whole run: 320,000,000 actions/],
    [`${sound} --samples 10`, /samples says how a run varies, but jitter is missing/],
    [`${sound} --seed 1`, /seed says how a run varies/],
    [`${sound} --jitter x`, /--jitter takes a number of at least 0/],
    [`${sound} --jitter 5`, /the jitter is 5; .* at most 2/],
    [`${sound} --jitter 0.1 --samples 0`, /--samples takes a whole number from 1/],
    [`${sound} --jitter 0.1 --samples 10000000`, /10,000,000 samples are too many \(at most 1,000,000\)/],
    ['--schedule 1f1b --pp 1 --microbatches 1 --stage-scale 1,2', /the stage scale has 2 factors for 1 stage\n$/],
    ['--schedule 1f1b --pp 2 --microbatches 1 --p2p-edges 1,2', /2 transfer times for 1 edge between stages/],
    [`${sound} --jitter 0.1 --seed 1.5`, /--seed takes a whole number from 0/],
    [`${sound} --jitter 0.1 --rank-scale 1,2`, /the rank scale has 2 factors for 4 ranks/],
    [`${sound} --jitter 0.1 --microbatch-scale 1,2`, /the microbatch scale has 2 factors for 8 microbatches/],
    [`${sound} --vpp 2`, /one stage per rank, not 2/],
    [`${sound} --forward=-1`, /--forward takes a number of at least 0, not "-1"/],
    [`${sound} --forward -1`, /--forward takes a number of at least 0, not "-1"/],
    ['--schedule 1f1b --pp -1 --microbatches 8', /--pp takes a whole number from 1, not "-1"/],
    [`${sound} --stage-scale -1,2,3,4`, /--stage-scale takes numbers of at least 0, a,b,…, not "-1,2,3,4"/],
    [`${sound} --p2p -.5`, /--p2p takes a number of at least 0, not "-.5"/],
    [`${sound} --forward 1e308 --backward-input 1e308`, /the times of the run add up to more than a number can hold/],
    ['--schedule 1f1b --pp 4 --microbatches 1000000 --forward 1e305', /the times of the run add up/],
    [`${sound} --stage-scale 1e308,1,1,1 --forward 10`, /a forward time is Infinity/],
    [`${sound} --jitter 0.1 --rank-scale 1,1e308,1,1`, /the times of the varied run add up/],
    [`${sound} --activation-bytes 1e308 --memory-curve`, /the activation bytes add up/],
    ['--pp --vpp 2', /--pp is given without a value; usage/],
    [`${sound} --backward-weight Infinity`, /--backward-weight takes a number/],
    [`${sound} --p2p 1,2`, /--p2p takes a number/],
    [`${sound} --stage-scale 1,2`, /2 factors for 4 stages/],
    [`${sound} --stage-scale 1,2,x,4`, /--stage-scale takes numbers/],
    [`${sound} --p2p-edges 1,2,3,4`, /4 transfer times for 3 edges between stages/],
    [`${sound} --framework keras`, /--framework takes one of megatron-lm, .*, not "keras"/],
    [`${sound} --framework torch --microbatches 3`, /microbatches \(3\) must be .* stages \(4\)/],
    [`${sound} --communication smoke`, /--communication takes one of async, blocking, .*, one-stream, not "smoke"/],
    [`${sound} --communication overlap --framework megatron-lm`, /does not support overlapping p2p communication/],
    [
      `${sound} --communication blocking --jitter 0.1`,
      /how a run varies is told for async transfers, not for blocking/,
    ],
    [
      '--schedule 1f1b --pp 4 --microbatches 1000000 --communication blocking',
      /8,000,000 actions are too many .* blocking/,
    ],
    [
      '--schedule zbv --pp 2 --vpp 2 --microbatches 9 --communication sequential',
      /the transfers deadlock: rank 0 waits/,
    ],
    [`${sound} --p2p-cross-node 1`, /but not how many ranks share a node/],
    [`${sound} --ranks-per-node 0`, /--ranks-per-node takes a whole number from 1/],
    [`${sound} --activation-bytes 1,2`, /activation bytes are given for 2 of 4 stages/],
    [`${sound} --memory-curve --freed-at B`, /--freed-at takes one of I, W, not "B"/],
    [`${sound} --order-format csv`, /--order-format is given without --order-out/],
    [`${sound} --order-out x --order-format xml`, /--order-format takes one of text, csv, csv-comms, not "xml"/],
    [`${sound} --order-out /nonexistent/folder/x`, /--order-out .*ENOENT/],
    [`${sound} --order-out ${FOLDER}`, /--order-out .*EISDIR/],
    [`${sound} --trace ${FOLDER}`, /--trace .*EISDIR/],
    [`${sound} --order ${FOLDER}`, /--order .*: it is a folder, not a file/],
    [`${sound} --order /dev/zero`, /--order \/dev\/zero: it is not a regular file/],
    [
      '--schedule dualpipe --pp 2 --vpp 2 --microbatches 4 --order-out x.csv',
      /torch's CSV has every stage on one rank/,
    ],
    [`${sound} --nonsense 1`, /Unknown option '--nonsense'/],
    [`${sound} --trace /nonexistent/folder/x.json`, /--trace .*ENOENT/],
    [`${sound} extra`, /Unexpected argument 'extra'/],
    ['--batch --pp 4', /--batch takes its requests from stdin/],
  ];
  for (const [line, expected] of cases) {
    const { code, out, err } = await run(line === '' ? [] : words(line));
    assert.deepEqual([code, out], [2, ''], line);
    assert.match(err, /^bubblelens simulate: [^\n]+\n$/, line);
    assert.match(err, expected);
  }
});

test('what a framework or a schedule refuses is its reason, in one line', async () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['dualpipe --pp 3 --vpp 2 --microbatches 8 --framework dualpipe', /DualPipe: num_ranks must be even, but it is 3/],
    ['dualpipe --pp 4 --vpp 2 --microbatches 9 --framework dualpipe', /DualPipe: num_chunks must be even, .* is 9/],
    ['dualpipe --pp 4 --vpp 2 --microbatches 6 --framework dualpipe', /num_chunks must be at least num_ranks \* 2 = 8/],
    ['dualpipe --pp 3 --vpp 2 --microbatches 8', /even/],
    ['dualpipe --pp 4 --vpp 2 --microbatches 9', /even/],
    ['dualpipe --pp 4 --vpp 2 --microbatches 6', /8/],
    [
      'dualpipev --pp 4 --vpp 2 --microbatches 6 --framework torch',
      /at least as many microbatches as stages, but got 6/,
    ],
    ['1f1b --pp 4 --microbatches 3 --framework torch', /microbatches \(3\) must be greater than or equal to .* \(4\)/],
    [
      'interleaved-1f1b --pp 4 --vpp 2 --microbatches 8 --group-size 3 --framework megatron-lm',
      /\[PP=4, M=8\], but it is 3/,
    ],
    [
      'interleaved-1f1b --pp 4 --vpp 2 --microbatches 8 --group-size 9 --framework megatron-lm',
      /\[PP=4, M=8\], but it is 9/,
    ],
    ['interleaved-1f1b --pp 4 --vpp 2 --microbatches 10 --framework megatron-lm', /remainder of M=10 .* but it is 2/],
    ['grouped-interleaved --pp 4 --vpp 2 --microbatches 8 --group-size 5', /group/],
    ['interleaved-1f1b --pp 3 --vpp 2 --microbatches 3 --group-size 1', /the order deadlocks: rank 0 at .* waits for /],
  ];
  for (const [line, expected] of cases) {
    const { code, out, err } = await run(words(`--schedule ${line}`));
    assert.deepEqual([code, out], [2, ''], line);
    assert.match(err, /^bubblelens simulate: [^\n]+\n$/, line);
    assert.match(err, expected, line);
  }
});

test('the order of any schedule goes out as text or CSV and comes back, with its sizes, to the same answer', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bubblelens-'));
  try {
    const flags = ['1f1b --pp 3', 'zb-1p --pp 4', 'v-half --pp 2 --vpp 2', 'dualpipev --pp 2 --vpp 2'];
    for (const form of ['text', 'csv', 'csv-comms']) {
      for (const schedule of flags) {
        const file = join(folder, form === 'text' ? 'order.txt' : 'order.csv');
        const ask = words(`--schedule ${schedule} --microbatches 6 --json --order-format ${form} --order-out`);
        const first = await run([...ask, file]);
        assert.deepEqual([first.code, first.err], [0, ''], schedule);
        const again = await run(['--json', '--order', file]);
        const [made, read] = [first, again].map(({ out }) => JSON.parse(out));
        assert.deepEqual([read.pp, read.vpp, read.microbatches, read.customOrder], [made.pp, made.vpp, 6, true]);
        assert.deepEqual([read.makespan, read.ranks], [made.makespan, made.ranks]);
        assert.equal(read.notes?.length ?? 0, form === 'csv-comms' ? 1 : 0);
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a batch takes modes, edges, memory curves and a CSV as the order', async () => {
  const base = { schedule: '1f1b', pp: 2, microbatches: 2, p2p: 1 };
  const lines = [
    { ...base, communication: 'sequential' },
    { ...base, memoryCurve: true, activationBytes: [4, 2] },
    { ...base, ranksPerNode: 1, p2pCrossNode: 3 },
    { order: '0F0,0F1,,0B0,0B1\n,1F1,1B0,1F2,1B1\n', p2p: 1 },
    { ...base, order: ['F0.0 F0.1 B0.0', 'F1.0 B1.0 F1.1 B1.1'] },
  ];
  const { out } = await run(['--batch'], lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const [sequential, memory, nodes, csv, broken] = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(sequential.communication, 'sequential');
  assert.deepEqual(memory.memoryCurve.freedAt, 'W');
  assert.deepEqual(memory.memoryCurve.ranks[1].live, [0, 1, 0, 1, 0]);
  assert.deepEqual(memory.memoryCurve.ranks[0].bytes, [0, 4, 8, 4, 0]);
  assert.equal(memory.ranks[0].peakBytes, 8);
  assert.ok(nodes.makespan > memory.makespan);
  assert.equal(csv.makespan, memory.makespan);
  assert.match(csv.notes[1], /^rank 1 lists its forwards from microbatch 1 to 2/);
  assert.equal(broken.error, 'B0.1 is missing from the order');
});

test('a batch answers line by line in order, and goes on after a refusal', async () => {
  const lines = [
    '{"schedule":"1f1b","pp":4,"microbatches":8,"orders":true}',
    'not json',
    '',
    '[1]',
    '{"schedule":"1f1b","pp":4,"microbatches":8,"forwrad":2}',
    '{"schedule":"1f1b","pp":"4","microbatches":8.5}',
    '{"__proto__":{"schedule":"1f1b"},"pp":4,"microbatches":8}',
    '{"schedule":"interleaved-1f1b","framework":"megatron-lm","pp":4,"vpp":2,"microbatches":8,"groupSize":null,"stageScale":[1,1,1,1,1,1,1,2]}',
    '{"schedule":"interleaved-1f1b","pp":3,"vpp":2,"microbatches":3,"groupSize":1}',
  ];
  const { code, out, err } = await run(['--batch'], `${lines.join('\r\n')}\n`);
  assert.deepEqual([code, err], [0, '']);
  const answers = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(answers.length, lines.length);
  assert.equal(answers[0].makespan, 33);
  assert.equal(answers[0].orders.length, 4);
  assert.equal(answers[1].error, 'the request is not JSON');
  assert.match(answers[2].error, /^the line is blank/);
  assert.equal(answers[3].error, 'the request is not a JSON object');
  assert.match(answers[4].error, /^there is no key "forwrad"; known: /);
  assert.match(answers[5].error, /^microbatches takes a whole number from 0, not 8\.5$/);
  assert.match(answers[6].error, /__proto__/);
  assert.equal(answers[7].placement, 'loop');
  assert.equal(answers[7].orders, undefined);
  assert.match(answers[8].error, /^the order deadlocks: /);
});

test('the trace holds every action once, in microseconds, on its rank', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bubblelens-'));
  try {
    const file = join(folder, 'trace.json');
    const flags = '--schedule 1f1b --pp 2 --microbatches 3 --p2p 0.5 --json --trace';
    assert.equal((await run([...words(flags), file])).code, 0);
    const trace = JSON.parse(readFileSync(file, 'utf8'));
    const events = trace.traceEvents.filter((event: { ph: string }) => event.ph === 'X');
    assert.equal(events.length, 12);
    assert.equal(new Set(events.map((event: { name: string }) => event.name)).size, 12);
    assert.deepEqual(events[0], {
      name: 'F0.0',
      cat: 'forward',
      ph: 'X',
      pid: 0,
      tid: 0,
      ts: 0,
      dur: 1000,
      args: { stage: 0, microbatch: 0 },
    });
    const backward = events.find((event: { name: string }) => event.name === 'B0.0');
    assert.deepEqual([backward.ts, backward.dur, backward.args.waitedForRank], [5000, 2000, 1]);
    assert.equal(trace.traceEvents.length, 14);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('--order runs a custom order from lines or from an answer, and names what is wrong with it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bubblelens-'));
  try {
    const file = join(folder, 'order');
    const flags = words('--schedule 1f1b --pp 2 --microbatches 2 --json --order');
    const ask = async (text: string) => {
      writeFileSync(file, text);
      return run([...flags, file]);
    };
    const lines = '# mine\r\nrank 0: F0.0 F0.1 I0.1 W0.1 B0.0  # late\r\nrank 1: F1.0 F1.1 B1.1 B1.0\r\n';
    const mine = JSON.parse((await ask(lines)).out);
    assert.deepEqual([mine.makespan, mine.customOrder], [9, true]);
    const printed = (await run(words('--schedule 1f1b --pp 2 --microbatches 2 --json --orders'))).out;
    assert.equal(JSON.parse((await ask(printed)).out).makespan, JSON.parse(printed).makespan);
    const wrong: readonly (readonly [string, RegExp])[] = [
      ['F0.0 B0.0 F0.1 B0.1\nF1.0 F1.1 B1.0 B1.1', /the order deadlocks: rank 0 at B0\.0 waits/],
      ['F0.0', /1 line for 2 ranks/],
      ['{"orders": 3}', /holds no list of lines/],
      ['[', /it is not JSON/],
    ];
    for (const [text, expected] of wrong) {
      const { code, err } = await ask(text);
      assert.equal(code, 2);
      assert.match(err, expected);
    }
    assert.match((await run([...flags, join(folder, 'none')])).err, /--order .*ENOENT/);
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    assert.match((await run([...flags, pipe])).err, /--order .*pipe: it is not a regular file\n$/);
    const large = join(folder, 'large');
    writeFileSync(large, '');
    truncateSync(large, 2 ** 28 + 1);
    assert.match(
      (await run([...flags, large])).err,
      /--order .*large: it is larger than 256 MiB \(268,435,457 bytes\)/,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('--timing measures fresh runs of every action', async () => {
  const { out } = await run(words('--schedule interleaved-1f1b --pp 4 --vpp 2 --microbatches 8 --timing --json'));
  const { timing } = JSON.parse(out);
  assert.deepEqual([timing.actions, timing.runs], [128, 21]);
  for (const ms of [timing.orderMs, timing.simulateMs, timing.cachedMs]) assert.ok(ms > 0 && ms < 1000);
});

test('the list of schedules tells every row of the table', () => {
  const text = schedulesText();
  for (const row of SCHEDULES) assert.ok(text.includes(row.title) && text.includes(row.source));
  assert.deepEqual(
    schedulesJson().map((row) => row.id),
    SCHEDULES.map((row) => row.id),
  );
  assert.ok(
    schedulesJson()
      .find((row) => row.id === '1f1b')!
      .frameworks.includes('megatron-lm'),
  );
});

test('a batch tells how a run varies, the same for the same seed', async () => {
  const request = { schedule: '1f1b', pp: 4, microbatches: 8, jitter: 0.1, samples: 200, seed: 7 };
  const requests = [
    request,
    request,
    { ...request, seed: 8 },
    { ...request, jitter: 0 },
    { ...request, rankScale: [1, 1, 1.5, 1] },
  ];
  const { out } = await run(['--batch'], requests.map((each) => `${JSON.stringify(each)}\n`).join(''));
  const answers = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const [first, again, other, still, slow] = answers.map((answer) => answer.variation);
  assert.deepEqual(first, again);
  assert.notDeepEqual(first.makespan, other.makespan);
  assert.deepEqual([first.samples, first.seed], [200, 7]);
  assert.ok(first.makespan.p5 < first.makespan.p50 && first.makespan.p50 < first.makespan.p95);
  const { makespan, bubbleFraction } = answers[3];
  assert.deepEqual(still.makespan, { p5: makespan, p50: makespan, p95: makespan, mean: makespan });
  assert.equal(still.bubbleFraction.p50, bubbleFraction);
  assert.ok(slow.makespan.p50 > first.makespan.p95);
});

test('very many microbatches are answered in full but for the order and the timeline', async () => {
  const args = '--schedule 1f1b --pp 16 --microbatches 10000000 --timing --json';
  const { code, out } = await run(words(args));
  assert.equal(code, 0);
  const answer = JSON.parse(out);
  assert.equal(answer.makespan, 3 * (10_000_000 + 15));
  assert.equal(answer.ranks.length, 16);
  assert.equal(answer.timing.actions, 320_000_000);
  const text = await run(words(args.replace('--json', '')));
  assert.match(text.out, /10,000,000 microbatches/);
});

test('the memory of very many microbatches is drawn', async () => {
  const { code, out } = await run(words('--schedule gpipe --pp 2 --microbatches 200000 --memory-curve'));
  assert.equal(code, 0);
  assert.match(out, /live stage-microbatches, at most 200,000/);
});
