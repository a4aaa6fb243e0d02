/** Runs one reader over a folder of fixtures and holds its reading against golden dumps (UPDATE=1 rewrites them). */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { framework } from '../../src/frameworks/table.ts';
import type { Plan } from '../../src/model/plan.ts';
import type { Reader } from '../../src/model/reading.ts';
import { dumpReading } from './native-dump.ts';

/** File names of the fixtures in a folder below `test/fixtures`, without their goldens. */
export function fixtureNames(folder: string): readonly string[] {
  return readdirSync(join(process.cwd(), 'test/fixtures', folder))
    .filter((name) => !name.endsWith('.golden.txt'))
    .sort();
}

export function fixtureText(folder: string, name: string): string {
  return readFileSync(join(process.cwd(), 'test/fixtures', folder, name), 'utf8');
}

/** What the framework says to the schedule of a plan, which the analysis adds to the reader's own findings. */
function refusalLine(plan: Plan): string {
  const { pp, vpp, schedule, microbatches } = plan;
  if (plan.framework === null) return 'no framework\n';
  if (pp.value === null || vpp.value === null || schedule.value === null || microbatches.value === null) {
    return 'schedule not complete\n';
  }
  const sizes = { pp: pp.value, vpp: vpp.value, microbatches: microbatches.value };
  const refusal = framework(plan.framework)?.refuse({ schedule: schedule.value, ...sizes, groupSize: null });
  return refusal == null ? 'schedule accepted\n' : `schedule refused ${refusal.code}: ${refusal.message}\n`;
}

export function goldenReadings(reader: Reader, folder: string): void {
  for (const name of fixtureNames(folder)) {
    test(`reads ${folder}/${name} as its golden says`, () => {
      const text = fixtureText(folder, name);
      assert.ok(reader.claims(name, text));
      const reading = reader.read(name, { [name]: text }, {});
      const dump = dumpReading(reading, text) + reading.plans.map(refusalLine).join('');
      const golden = join(process.cwd(), 'test/fixtures', folder, `${name}.golden.txt`);
      if (process.env.UPDATE === '1') writeFileSync(golden, dump);
      assert.equal(dump, readFileSync(golden, 'utf8'));
    });
  }
}
