/** A companion that is not there is said where the config names it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingCompanions, settled } from '../../src/advice/missing-companions.ts';

test('the finding stands on the name', () => {
  const text = 'PP=2\nsource conf/CONFIG.sh\n';
  const [finding] = missingCompanions('run.sh', text, ['conf/CONFIG.sh']);
  assert.equal(finding?.code, 'companion-missing');
  assert.equal(text.slice(finding.range.offset, finding.range.offset + finding.range.length), 'conf/CONFIG.sh');
});

test('a parent that is named without its ending is found too', () => {
  const text = 'defaults:\n  - train: 70b\n';
  const [finding] = missingCompanions('train.yaml', text, ['train/70b.yaml']);
  assert.equal(text.slice(finding!.range.offset, finding!.range.offset + finding!.range.length), '70b');
});

test('a path that the text does not spell stands at the start', () => {
  assert.deepEqual(missingCompanions('a.sh', 'source $X', ['b.sh'])[0]?.range, { file: 'a.sh', offset: 0, length: 0 });
});

test('a companion that the reader only guessed is not missed', () => {
  const analysis = {
    file: 'a.yaml',
    reader: 'x',
    problems: [],
    needs: ['b.yaml', 'c.yaml'],
    optional: ['c.yaml'],
    plans: [],
  };
  assert.deepEqual(
    settled(analysis, 'b').problems.map((each) => each.message),
    ['b.yaml was not found here: what it says is not known'],
  );
});
