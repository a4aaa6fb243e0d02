/** What frameworks refuse of a schedule: recorded refusals with their own figures, and the rules one by one. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ScheduleRequest } from '../../src/frameworks/framework.ts';
import { FRAMEWORKS, framework } from '../../src/frameworks/table.ts';
import type { FrameworkId, ScheduleId } from '../../src/model/schedule.ts';
import { SCHEDULES } from '../../src/sim/schedules/table.ts';

interface Refused {
  readonly source: string;
  readonly framework: FrameworkId;
  readonly cases: readonly (ScheduleRequest & { readonly error: string })[];
}

/** The numbers of a message, those in the schedule's name left out. */
function figures(text: string): readonly string[] {
  return text.replace(/1F1B/gi, '').match(/\d+/g) ?? [];
}

for (const file of ['megatron-rejected.json', 'torch-rejected.json']) {
  const recorded = JSON.parse(readFileSync(join(process.cwd(), 'test/fixtures/orders', file), 'utf8')) as Refused;
  test(`${recorded.framework} refuses what ${recorded.source} refuses, with its figures`, () => {
    assert.ok(recorded.cases.length >= 16);
    for (const each of recorded.cases) {
      const refusal = framework(recorded.framework)!.refuse(each);
      assert.ok(refusal !== null, JSON.stringify(each));
      for (const figure of figures(each.error)) assert.ok(figures(refusal.message).includes(figure), refusal.message);
      assert.ok(refusal.about.length > 0 && !refusal.message.includes('\n'));
    }
  });
}

const ask = (
  id: FrameworkId,
  schedule: ScheduleId,
  pp: number,
  microbatches: number,
  vpp = 1,
  groupSize: number | null = null,
) => framework(id)!.refuse({ schedule, pp, vpp, microbatches, groupSize });

test('Megatron-LM takes any group between pp and the microbatches whose remainder is none or a whole pipeline', () => {
  assert.equal(ask('megatron-lm', 'interleaved-1f1b', 4, 10, 2, 5), null);
  assert.equal(ask('megatron-lm', 'interleaved-1f1b', 4, 12, 2), null);
  assert.equal(ask('megatron-lm', 'interleaved-1f1b', 4, 10, 2)?.code, 'group-size-out-of-range');
  assert.match(ask('megatron-lm', 'interleaved-1f1b', 4, 10, 2)!.message, /it is 2$/);
  assert.match(ask('megatron-lm', 'interleaved-1f1b', 4, 2, 2)!.message, /PP=4, M=2/);
  assert.deepEqual(ask('megatron-lm', 'interleaved-1f1b', 4, 8, 2, 3)?.about, ['groupSize', 'microbatches', 'pp']);
  assert.equal(ask('megatron-lm', 'interleaved-1f1b', 1, 8, 2)?.code, 'schedule-not-legal');
  assert.equal(ask('megatron-lm', '1f1b', 8, 1), null);
  assert.equal(ask('megatron-lm', 'none', 1, 8), null);
});

test('torch groups microbatches by whole rounds and refuses what does not divide', () => {
  const group = (pp: number, microbatches: number) =>
    framework('torch')!.defaultGroupSize({ schedule: 'interleaved-1f1b', pp, vpp: 2, microbatches, groupSize: null });
  assert.deepEqual([group(4, 10), group(4, 8), group(4, 3), group(4, 0)], [5, 4, 3, 1]);
  assert.equal(ask('torch', 'interleaved-1f1b', 4, 10, 2), null);
  assert.equal(ask('torch', 'interleaved-1f1b', 4, 9, 2)?.code, 'batch-not-divisible');
  assert.equal(ask('torch', '1f1b', 4, 3)?.code, 'microbatches-below-minimum');
  assert.equal(ask('torch', 'gpipe', 4, 3), null);
  assert.match(ask('torch', 'zbv', 4, 8, 3)!.message, /exactly 2 stages per rank/);
  assert.equal(ask('torch', 'dualpipev', 4, 7, 2)?.code, 'microbatches-below-minimum');
});

test('DeepSpeed runs 1F1B with any number of microbatches, and nothing else', () => {
  assert.equal(ask('deepspeed', '1f1b', 8, 2), null);
  assert.equal(ask('deepspeed', '1f1b', 8, 8, 2)?.code, 'schedule-not-legal');
  assert.equal(ask('deepspeed', 'interleaved-1f1b', 8, 8, 2)?.code, 'unknown-schedule');
});

test('DualPipe needs even ranks and microbatches, and twice as many of those', () => {
  assert.equal(ask('dualpipe', 'dualpipe', 4, 8, 2), null);
  assert.match(ask('dualpipe', 'dualpipe', 3, 8, 2)!.message, /num_ranks must be even/);
  assert.match(ask('dualpipe', 'dualpipe', 4, 9, 2)!.message, /num_chunks must be even/);
  assert.match(ask('dualpipe', 'dualpipe', 4, 6, 2)!.message, /num_chunks=6, num_ranks=4/);
  assert.equal(ask('dualpipe', 'dualpipev', 3, 7, 2), null);
});

test('the zero-bubble fork runs ZB-H1 in its quick-start variant and interleaves whole pipelines', () => {
  const rules = framework('zero-bubble')!;
  assert.equal(rules.variant('zb-h1'), 'quick-start');
  assert.equal(rules.variant('zb-h2'), null);
  assert.equal(ask('zero-bubble', 'interleaved-1f1b', 4, 8, 2), null);
  assert.equal(ask('zero-bubble', 'interleaved-1f1b', 4, 6, 2)?.code, 'batch-not-divisible');
});

test('every framework names its own schedules when it refuses another one', () => {
  // torchtitan and nanotron speak through others.
  for (const rules of FRAMEWORKS.filter(({ id }) => id !== 'torchtitan' && id !== 'nanotron')) {
    const foreign = SCHEDULES.find((row) => !rules.schedules.includes(row.id))!;
    const refusal = rules.refuse({ schedule: foreign.id, pp: 4, vpp: 2, microbatches: 16, groupSize: null });
    assert.equal(refusal?.code, 'unknown-schedule', rules.id);
    for (const id of rules.schedules) assert.ok(refusal.message.includes(id), `${rules.id}: ${refusal.message}`);
  }
});
