/**
 * Orders that frameworks really run, recorded by executing their own code: the simulator's order must be the same
 * action by action, and so must makespan, busy time, ends and peaks for two sets of costs.
 */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { framework } from '../../src/frameworks/table.ts';
import type { FrameworkId, ScheduleId } from '../../src/model/schedule.ts';
import { scheduleRow } from '../../src/sim/schedules/table.ts';
import type { PipelineShape } from '../../src/sim/shape.ts';
import { orderText, pipelineReport } from '../../src/sim/simulate.ts';
import { equalCosts } from './shapes.ts';

interface Golden {
  readonly costs: readonly [number, number, number, number];
  readonly makespan: number;
  readonly busy: readonly number[];
  readonly end: readonly number[];
  readonly peakActivations: readonly number[];
}

interface Recorded {
  readonly source: string;
  readonly schedule: ScheduleId;
  readonly framework: FrameworkId | null;
  readonly cases: readonly {
    readonly pp: number;
    readonly vpp: number;
    readonly microbatches: number;
    readonly groupSize: number | null;
    readonly ranks: readonly string[];
    readonly golden: readonly Golden[];
  }[];
}

const FOLDER = join(process.cwd(), 'test/fixtures/orders');

function shapeFor(recorded: Recorded, each: Recorded['cases'][number]): PipelineShape {
  const rules = recorded.framework === null ? null : framework(recorded.framework);
  const request = { schedule: recorded.schedule, ...each };
  const groupSize =
    each.groupSize ?? rules?.defaultGroupSize(request) ?? scheduleRow(recorded.schedule)!.defaultGroupSize(request);
  return { ...request, groupSize, variant: rules?.variant(recorded.schedule) ?? null };
}

/** An input gradient directly followed by its weight gradient is recorded as a whole backward by some frameworks. */
function merged(line: string): string {
  return line.replace(/\bI(\d+\.\d+) W\1\b/g, 'B$1');
}

for (const file of readdirSync(FOLDER).filter((name) => !name.endsWith('-rejected.json'))) {
  const recorded = JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Recorded;
  test(`${recorded.schedule} runs as recorded from ${recorded.source}`, () => {
    assert.ok(recorded.cases.length >= 5);
    for (const each of recorded.cases) {
      const shape = shapeFor(recorded, each);
      const where = `pp ${shape.pp}, vpp ${shape.vpp}, ${shape.microbatches} microbatches, group ${shape.groupSize}`;
      assert.deepEqual(orderText(shape).map(merged), each.ranks.map(merged), where);
      for (const golden of each.golden) {
        const result = pipelineReport(shape, equalCosts(shape, golden.costs));
        assert.ok(result.ok, where);
        const { report } = result;
        assert.equal(report.makespan, golden.makespan, where);
        assert.deepEqual(
          report.ranks.map((rank) => rank.busy),
          golden.busy,
          where,
        );
        assert.deepEqual(
          report.ranks.map((rank) => rank.end),
          golden.end,
          where,
        );
        assert.deepEqual(
          report.ranks.map((rank) => rank.peakActivations),
          golden.peakActivations,
          where,
        );
      }
    }
  });
}
