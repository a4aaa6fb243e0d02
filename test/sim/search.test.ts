/**
 * Searched orders against what is known of them: the makespans and peaks that their authors' own searches reach, the
 * bubble rates that their papers publish, and values worked out by hand.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ScheduleId } from '../../src/model/schedule.ts';
import { legality } from '../../src/sim/schedules/table.ts';
import type { PipelineShape } from '../../src/sim/shape.ts';
import { pipelineReport } from '../../src/sim/simulate.ts';
import { equalCosts, shapeOf } from './shapes.ts';

type Times = readonly [number, number, number, number];

interface Sizes {
  readonly schedule: ScheduleId;
  readonly pp: number;
  readonly vpp: number;
  readonly microbatches: number;
}

function casesOf<T>(name: string): readonly T[] {
  const file = join(process.cwd(), 'test/fixtures/searched', name);
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly cases: readonly T[] }).cases;
}

function reportFor({ schedule, pp, vpp, microbatches }: Sizes, times: Times, memoryLimit: number | null = null) {
  const shape: PipelineShape = { ...shapeOf(schedule, pp, microbatches, vpp), memoryLimit };
  const result = pipelineReport(shape, equalCosts(shape, times));
  if (!result.ok) throw new Error(result.reason);
  return result.report;
}

const peakOf = (report: ReturnType<typeof reportFor>) => Math.max(...report.ranks.map((rank) => rank.peakActivations));

test("a search never takes longer than its authors', within their memory", () => {
  const cases = casesOf<Sizes & { readonly makespan: number; readonly peak: number }>('authors.json');
  assert.ok(cases.length >= 70);
  for (const each of cases) {
    const where = `${each.schedule} pp ${each.pp}, ${each.microbatches} microbatches`;
    const report = reportFor(each, [1, 1, 1, 0]);
    assert.ok(report.makespan <= each.makespan, `${where}: ${report.makespan}, the authors reach ${each.makespan}`);
    assert.ok(peakOf(report) <= each.peak, `${where}: peak ${peakOf(report)}, the authors stay within ${each.peak}`);
  }
});

/**
 * The span of rank 0 that no ZB-2p order goes below when a microbatch counts until its weight gradient: before its
 * last forward the last rank has done all but `limit` weight gradients, and before its last input gradient all
 * forwards; that gradient then travels to rank 0.
 */
function leastSpan({ pp, microbatches }: Sizes, [F, I, W, C]: Times, limit: number): number {
  const cleared = Math.max(0, microbatches - limit);
  return (pp - 1) * (F + I + 2 * C) + microbatches * (F + I) + cleared * W + W;
}

test('published bubble rates are met, and where the memory limit rules them out, what it admits is', () => {
  const cases = casesOf<Sizes & { readonly times: Times; readonly rate: number }>('paper.json');
  assert.equal(cases.length, 22);
  let ruledOut = 0;
  for (const each of cases) {
    const { schedule, pp, microbatches, times } = each;
    const [F, I, W] = times;
    const limit = schedule === 'zb-1p' ? pp : 2 * pp;
    const report = reportFor(each, times, limit);
    assert.ok(peakOf(report) <= limit);
    const work = each.vpp * microbatches * (F + I + W);
    const admitted = schedule === 'zb-2p' ? 1 - work / leastSpan(each, times, limit) : 0;
    if (admitted > each.rate + 0.003) ruledOut++;
    const rate = Math.max(each.rate, admitted);
    assert.ok(
      report.spanBubbleFraction <= rate + 0.003,
      `${schedule} ${pp} ${microbatches}: ${report.spanBubbleFraction}`,
    );
    assert.ok(report.spanBubbleFraction >= admitted - 1e-9, 'no order goes below the bound');
  }
  assert.equal(ruledOut, 8, 'the paper counts less for a microbatch that waits for its weight gradient');
});

test('makespans for whole stages of F = 1, B = 2', () => {
  const expected = [
    ['zb-1p', 16, 1, 256, 783],
    ['zbv', 16, 2, 256, 775.5],
    ['v-half', 4, 2, 8, 26.5],
    ['v-min', 4, 2, 8, 29.5],
    ['zb-2p', 8, 1, 64, 199],
  ] as const;
  for (const [schedule, pp, vpp, microbatches, most] of expected) {
    const each = 1 / vpp;
    const { makespan } = reportFor({ schedule, pp, vpp, microbatches }, [each, each, each, 0]);
    assert.ok(makespan <= most, `${schedule}: ${makespan}`);
  }
});

test('more memory never makes a search at equal times slower from V-Min over V-Half to ZB-V', () => {
  for (const pp of [2, 3, 4, 7, 8, 12, 16]) {
    const spans = (['v-min', 'v-half', 'zbv'] as const).map((schedule) =>
      reportFor({ schedule, pp, vpp: 2, microbatches: 3 * pp }, [1, 1, 1, 0]),
    );
    const [min, half, whole] = spans.map((report) => report.makespan);
    assert.ok(min! >= half! && half! >= whole!, `pp ${pp}: ${min}, ${half}, ${whole}`);
    assert.ok(peakOf(spans[0]!) <= peakOf(spans[1]!) && peakOf(spans[1]!) <= peakOf(spans[2]!));
  }
});

test('long runs are searched at a part of their length and still reach the bound', () => {
  const { makespan } = reportFor({ schedule: 'zb-1p', pp: 8, vpp: 1, microbatches: 4000 }, [1, 1, 1, 0]);
  assert.equal(makespan, 3 * 4000 + 7);
  const v = reportFor({ schedule: 'zbv', pp: 8, vpp: 2, microbatches: 2000 }, [1, 1, 1, 0]);
  assert.equal(v.makespan, 6 * 2000 + 7);
  const half = reportFor({ schedule: 'v-half', pp: 8, vpp: 2, microbatches: 2000 }, [1, 1, 1, 0]);
  assert.equal(half.makespan, 6 * 2000 + 17);
});

test('a memory limit belongs to searched schedules, and leaves a microbatch its way', () => {
  assert.match(legality({ ...shapeOf('1f1b', 4, 8), memoryLimit: 4 })!, /memory limit .* order of 1f1b is fixed/);
  assert.match(legality({ ...shapeOf('zbv', 4, 8, 2), memoryLimit: 1 })!, /memory limit is 1/);
  assert.match(legality({ ...shapeOf('v-min', 4, 8, 2), memoryLimit: 1 })!, /memory limit is 1/);
  assert.equal(legality({ ...shapeOf('zb-1p', 4, 8), memoryLimit: 1 }), null);
  assert.equal(legality({ ...shapeOf('v-min', 4, 8, 2), memoryLimit: 2 }), null);
});
