/** The loop over companions ends, asks for nothing twice, and stays within its limit. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMPANIONS_AT_MOST, type CompanionSource, gather, gatherFrom } from '../../src/editor/gather.ts';
import type { Texts } from '../../src/model/reading.ts';
import { DEFAULT_ANALYSIS_SETTINGS } from '../../src/model/settings.ts';

function reader(needsOf: (texts: Texts) => readonly string[]) {
  return (texts: Texts) => ({
    input: { file: 'a.sh', texts, said: {}, settings: DEFAULT_ANALYSIS_SETTINGS },
    analysis: { file: 'a.sh', reader: 'x', problems: [], needs: needsOf(texts), plans: [] },
  });
}

function source(files: Readonly<Record<string, string>>): CompanionSource & { readonly loads: string[] } {
  const known = new Map<string, string | null>();
  const loads: string[] = [];
  return {
    loads,
    text: (path) => known.get(path),
    key: (path) => `file:///${path}`,
    load: async (paths) => {
      loads.push(...paths);
      for (const path of paths) known.set(path, Object.hasOwn(files, path) ? (files[path] ?? null) : null);
    },
  };
}

async function finish(files: Readonly<Record<string, string>>, needsOf: (texts: Texts) => readonly string[]) {
  const companions = source(files);
  for (let round = 0; round < 100; round++) {
    const work = gather('a.sh', 'text', companions, reader(needsOf));
    assert.ok(work !== null);
    if (!(work instanceof Promise)) return { work, loads: companions.loads };
    await work;
  }
  return assert.fail('never finished');
}

test('companions of companions are fetched, each once', async () => {
  const files = { 'b.sh': 'c.sh', 'c.sh': 'b.sh' };
  const { work, loads } = await finish(files, (texts) =>
    ['b.sh', ...(texts['b.sh'] === undefined ? [] : ['c.sh'])].filter((path) => texts[path] === undefined),
  );
  assert.deepEqual(loads, ['b.sh', 'c.sh']);
  assert.deepEqual({ ...work.input.texts }, { 'a.sh': 'text', ...files });
  assert.deepEqual([...work.companionKeys], ['file:///b.sh', 'file:///c.sh']);
});

test('a missing companion is asked for once and still concerns the analysis', async () => {
  const { work, loads } = await finish({}, () => ['gone.sh']);
  assert.deepEqual(loads, ['gone.sh']);
  assert.deepEqual([...work.companionKeys], ['file:///gone.sh']);
});

test('an endless chain stops at the limit', async () => {
  const files = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`${i}.sh`, 'x']));
  const { loads } = await finish(files, (texts) => [`${Object.keys(texts).length - 1}.sh`]);
  assert.equal(loads.length, COMPANIONS_AT_MOST);
});

test('names of the prototype are names', async () => {
  const names = ['__proto__', 'constructor', 'toString'];
  const { work } = await finish({ constructor: 'of mine' }, () => names);
  assert.equal(Object.entries(work.input.texts).find(([name]) => name === 'constructor')?.[1], 'of mine');
  assert.equal(work.companionKeys.size, names.length);
});

test('without a root nothing is asked for', () => {
  const work = gather(
    'a.sh',
    'text',
    null,
    reader(() => ['b.sh']),
  );
  assert.ok(work !== null && !(work instanceof Promise));
  assert.equal(work.companionKeys.size, 0);
});

test('waited-for analyses come to the same, and tell whom a change concerns before they read it', async () => {
  const files = { 'b.sh': 'c.sh', 'c.sh': 'b.sh' };
  const needs = (texts: Texts) =>
    ['b.sh', ...(texts['b.sh'] === undefined ? [] : ['c.sh'])].filter((path) => texts[path] === undefined);
  const companions = source(files);
  const heard: (readonly string[])[] = [];
  const work = await gatherFrom(
    'a.sh',
    'text',
    companions,
    async (texts) => reader(needs)(texts),
    (keys) => heard.push([...keys, ...companions.loads]),
  );
  assert.deepEqual({ ...work?.input.texts }, { 'a.sh': 'text', ...files });
  assert.deepEqual(heard, [['file:///b.sh'], ['file:///b.sh', 'file:///c.sh', 'b.sh']]);
  assert.deepEqual([...(work?.companionKeys ?? [])], ['file:///b.sh', 'file:///c.sh']);
});

test('an analysis that does not come ends the gathering', async () => {
  const none = () => assert.fail('nothing is heard');
  assert.equal(await gatherFrom('a.sh', 'text', source({}), async () => null, none), null);
  assert.equal(
    gather('a.sh', 'text', source({}), () => null),
    null,
  );
});
