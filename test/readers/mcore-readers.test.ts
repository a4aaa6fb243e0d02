/** The readers of frameworks that feed Megatron-core from YAML against golden readings, one file per construct. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import type { Plan } from '../../src/model/plan.ts';
import type { Texts } from '../../src/model/reading.ts';
import type { Sourced } from '../../src/model/source.ts';
import { loadParsers } from '../../src/readers/parsers.ts';
import { documentsOf, folderOf, gathered, MCORE_READERS, rootOf } from './mcore-fixtures.ts';
import { dump } from './megatron-dump.ts';

before(() => loadParsers(['yaml', 'jsonc']));

for (const reader of MCORE_READERS) {
  describe(`${reader.title}`, () => {
    const root = rootOf(reader);
    const documents = documentsOf(reader);
    it('has fixtures of its own', () => assert.ok(documents.length >= 4, `${documents.length}`));
    for (const file of documents) {
      it(`reads ${file} as its golden says`, () => {
        const { texts, reading } = gathered(reader, file, root);
        const missed = reading.needs.filter((need) => reading.optional?.includes(need) !== true);
        const { needs, ...rest } = reading;
        const actual = dump({ ...rest, needs: missed }, texts);
        const golden = join(folderOf(reader), `${file}.golden.txt`);
        if (process.env.UPDATE === '1') writeFileSync(golden, actual);
        assert.ok(existsSync(golden), `${golden} is missing; UPDATE=1 writes it`);
        assert.equal(actual, readFileSync(golden, 'utf8'));
        assert.ok(
          needs.every((need) => !need.startsWith('/') && !need.split('/').includes('..')),
          needs.join(' '),
        );
      });
      it(`finds the values of ${file} again at their places`, () => {
        const { texts, reading } = gathered(reader, file, root);
        for (const plan of reading.plans) reread(plan, texts);
      });
    }
  });
}

/** A value from the text stands at its range, unless a note says whose figure it is. */
function reread(plan: Plan, texts: Texts): void {
  const { experts, ...model } = plan.model;
  const values: Record<string, Sourced<unknown>> = { ...(experts ?? {}), ...model, ...plan.cluster, ...plan.run };
  for (const key of ['pp', 'vpp', 'tp', 'cp', 'ep', 'dp', 'gpus', 'microbatches', 'microBatchSize'] as const)
    values[key] = plan[key];
  for (const key of ['globalBatchSize', 'sequenceLength', 'groupSize'] as const) values[key] = plan[key];
  for (const [key, sourced] of Object.entries(values)) {
    if (sourced?.source?.kind !== 'text' || sourced.value === null) continue;
    if (sourced.source.note !== undefined && /registry|list|devices|mesh/.test(sourced.source.note)) continue;
    if (typeof sourced.value !== 'number') continue;
    const { file, offset, length } = sourced.source.range;
    const token = texts[file]!.slice(offset, offset + length);
    assert.equal(Number(token.replaceAll('_', '')), sourced.value, `${plan.id} ${key}: "${token}"`);
  }
  assert.ok(Object.hasOwn(texts, plan.anchor.file));
}
