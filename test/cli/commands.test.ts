/** The command line before any command runs: its version, its help, and what is no command. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { runCommand } from '../../src/cli/commands.ts';
import { keptStreams } from './streams.ts';

async function run(...args: readonly string[]) {
  const kept = keptStreams();
  const code = await runCommand(args, kept.streams);
  return { code, out: kept.out(), err: kept.err() };
}

test('--version tells the version of the package', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  assert.deepEqual(await run('--version'), { code: 0, out: `bubblelens ${version}\n`, err: '' });
});

test('without a command the usage is told and the exit code is 2; with --help it is 0', async () => {
  const [bare, help] = [await run(), await run('--help')];
  assert.deepEqual([bare.code, help.code, help.err], [2, 0, '']);
  assert.equal(bare.out, help.out);
  for (const word of ['explain', 'simulate', 'schedules', 'readers', '--version']) assert.ok(help.out.includes(word));
});

test('what is no command, and what a list does not take, is one line on stderr', async () => {
  assert.deepEqual(await run('toString'), {
    code: 2,
    out: '',
    err: 'bubblelens: there is no command "toString"; known: explain, simulate, schedules, readers\n',
  });
  const stray = await run('schedules', '--jsno');
  assert.deepEqual([stray.code, stray.out], [2, '']);
  assert.match(stray.err, /^bubblelens schedules: it takes --json and nothing else, not "--jsno"\n$/);
  assert.equal((await run('simulate', '--pp', '-1')).code, 2);
});
