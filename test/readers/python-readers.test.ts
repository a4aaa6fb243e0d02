/** The Python readers against golden readings, one file per construct, and every value found again at its place. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import type { Plan } from '../../src/model/plan.ts';
import type { Sourced } from '../../src/model/source.ts';
import { loadParsers } from '../../src/readers/parsers.ts';
import { READERS } from '../../src/readers/table.ts';
import { dump } from './megatron-dump.ts';
import { fixtureFolder, PYTHON_READERS, pythonFixtures } from './python-fixtures.ts';

before(() => loadParsers(['python', 'jsonc']));

for (const reader of PYTHON_READERS) {
  describe(reader.title, () => {
    const files = pythonFixtures(reader);
    it('has fixtures of its own', () => assert.ok(Object.keys(files).length >= 4));
    for (const [name, text] of Object.entries(files)) {
      it(`claims ${name}, and nobody else does`, () => {
        const claimants = READERS.filter((each) => each.claims(name, text)).map(({ id }) => id);
        assert.deepEqual(claimants, [reader.id]);
      });
      it(`reads ${name} as its golden says`, () => {
        const actual = dump(reader.read(name, { [name]: text }, {}), { [name]: text });
        const golden = join(fixtureFolder(reader), `${name}.golden.txt`);
        if (process.env.UPDATE === '1') writeFileSync(golden, actual);
        assert.ok(existsSync(golden), `${golden} is missing; UPDATE=1 writes it`);
        assert.equal(actual, readFileSync(golden, 'utf8'));
      });
      it(`finds the values of ${name} again at their places`, () => {
        for (const plan of reader.read(name, { [name]: text }, {}).plans) reread(plan, text);
      });
    }
  });
}

/** A number from the text stands at its range, unless a note says how it was computed or whose figure it is. */
function reread(plan: Plan, text: string): void {
  const { experts, ...model } = plan.model;
  const values: Record<string, Sourced<unknown>> = { ...(experts ?? {}), ...model, ...plan.cluster, ...plan.run };
  for (const key of ['pp', 'vpp', 'tp', 'cp', 'ep', 'dp', 'gpus', 'microbatches', 'microBatchSize'] as const)
    values[key] = plan[key];
  for (const key of ['globalBatchSize', 'sequenceLength', 'groupSize'] as const) values[key] = plan[key];
  for (const [key, sourced] of Object.entries(values)) {
    if (sourced.source.kind !== 'text' || typeof sourced.value !== 'number') continue;
    const { offset, length } = sourced.source.range;
    const token = text.slice(offset, offset + length);
    const note = sourced.source.note ?? '';
    if (/registry|computed|tokens|batch|default, since|list of stages/.test(note)) continue;
    if (/trainer's own default/.test(note)) continue;
    assert.equal(Number(token.replaceAll('_', '')), sourced.value, `${plan.id} ${key}: "${token}" (${note})`);
  }
}
