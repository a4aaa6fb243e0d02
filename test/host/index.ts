/**
 * The tests that run inside a real VS Code: a plain array of named functions, run one after the other in the extension
 * host. Every result is appended to a file as a line of JSON at once, so that the count is right even when the host
 * goes down. A test says which window it wants; each kind of window is a run of its own.
 */

import { appendFileSync } from 'node:fs';
import { tests as activation } from './activation.host.ts';
import { tests as commands } from './commands.host.ts';
import { tests as editor } from './editor.host.ts';
import { tests as examples } from './examples.host.ts';
import type { HostTest } from './host-test.ts';
import { tests as kinds } from './kinds.host.ts';
import { tests as worker } from './worker.host.ts';

const ALL: readonly HostTest[] = [...activation, ...examples, ...editor, ...commands, ...kinds, ...worker];

const DEFAULT_TIMEOUT_MS = 30_000;

export async function run(): Promise<void> {
  const window = process.env.BUBBLELENS_HOST_WINDOW ?? 'folder';
  const words = (process.env.BUBBLELENS_HOST_TESTS ?? '').split(' ').filter((word) => word !== '');
  const chosen = ALL.filter(
    (test) =>
      (test.window ?? 'folder') === window &&
      (words.length === 0 || words.some((word) => test.name.toLowerCase().includes(word.toLowerCase()))),
  );
  report({ planned: chosen.length });
  const failures: string[] = [];
  for (const test of chosen) {
    const startedAt = performance.now();
    const error = await failure(test);
    const ms = Math.round(performance.now() - startedAt);
    report({ name: test.name, ok: error === undefined, ms, error });
    if (error !== undefined) failures.push(test.name);
  }
  if (failures.length > 0) throw new Error(`failed: ${failures.join(', ')}`);
}

function report(record: unknown): void {
  const file = process.env.BUBBLELENS_HOST_RESULTS;
  if (file === undefined) console.log(JSON.stringify(record));
  else appendFileSync(file, `${JSON.stringify(record)}\n`);
}

/** Why a test failed, as text; undefined when it passed. A test that hangs has failed. */
async function failure(test: HostTest): Promise<string | undefined> {
  const limitMs = test.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`did not end within ${limitMs} ms`)), limitMs);
  });
  try {
    await Promise.race([test.run(), late]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  } finally {
    clearTimeout(timer);
  }
}
