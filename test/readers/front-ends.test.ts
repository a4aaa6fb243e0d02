/** Each front end against golden readings of small configs: one per construct, one per refusal. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { loadParsers } from '../../src/readers/parsers.ts';
import { READERS } from '../../src/readers/table.ts';
import { FRONT_ENDS, fixtureTexts, refusalLine, saidIn } from './front-ends.ts';
import { dump } from './megatron-dump.ts';

before(() => loadParsers(['yaml', 'jsonc']));

for (const { reader, folder, isConfig } of FRONT_ENDS) {
  describe(`${reader.title} (${folder})`, () => {
    const texts = fixtureTexts(folder);
    const configs = Object.keys(texts).filter(isConfig);
    assert.ok(configs.length >= 3, folder);
    for (const name of configs) {
      it(`reads ${name}`, () => {
        const reading = reader.read(name, texts, saidIn(texts[name]!));
        const actual = dump(reading, texts) + reading.plans.map(refusalLine).join('');
        const golden = join(process.cwd(), 'test/fixtures', folder, `${name}.golden.txt`);
        if (process.env.UPDATE === '1') writeFileSync(golden, actual);
        assert.ok(existsSync(golden), `${golden} is missing; UPDATE=1 writes it`);
        assert.equal(actual, readFileSync(golden, 'utf8'));
      });
      it(`claims ${name} before any other`, () => {
        assert.equal(READERS.find((each) => each.claims(name, texts[name]!))?.id, reader.id);
      });
    }
  });
}
