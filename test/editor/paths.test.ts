/** Companions are read below the workspace folder only. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { insideRoot, relativeTo, steps } from '../../src/editor/paths.ts';

test('a path below the root is made plain', () => {
  assert.equal(insideRoot('a/b.sh'), 'a/b.sh');
  assert.equal(insideRoot('./a/./b.sh'), 'a/b.sh');
  assert.equal(insideRoot('a/../b.sh'), 'b.sh');
  assert.equal(insideRoot('a\\b.sh'), 'a/b.sh');
});

test('a path that leaves the root, or is none, is refused', () => {
  for (const path of [
    '',
    '.',
    '..',
    '../b',
    'a/../../b',
    '/etc/passwd',
    'C:\\x',
    'C:/x',
    'file:///x',
    'a\0b',
    '\\\\host\\x',
  ]) {
    assert.equal(insideRoot(path), null, JSON.stringify(path));
  }
});

test('whatever is let through has no step upwards', () => {
  const part = fc.constantFrom('..', '.', '', 'a', 'b c', 'ä', '...', '~');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), fc.constantFrom('/', '\\'), (parts, slash) => {
      const inside = insideRoot(parts.join(slash));
      if (inside !== null) assert.ok(!inside.startsWith('/') && !inside.split('/').includes('..'));
    }),
  );
});

test('a full path is told apart from its folder and its neighbours', () => {
  assert.equal(relativeTo('/ws', '/ws/a/b'), 'a/b');
  assert.equal(relativeTo('/ws/', '/ws/a'), 'a');
  assert.equal(relativeTo('/ws', '/ws2/a'), null);
  assert.equal(relativeTo('/ws', '/ws'), null);
});

test('every folder on the way is named', () => {
  assert.deepEqual(steps('a/b/c'), ['a', 'a/b', 'a/b/c']);
});
