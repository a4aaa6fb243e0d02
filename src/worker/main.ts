/** The worker's thread: loads what is heavy, says that it lives, then answers each request, whatever happens. */

import { parentPort } from 'node:worker_threads';
import type { Alive, Reply, Request } from './protocol.ts';

import('./core-chunk.ts').then(({ core }) => {
  parentPort?.postMessage({ alive: true } satisfies Alive);
  parentPort?.on('message', async ({ sequence, job, cancelled }: Request) => {
    const { outcome, buffers } = core.forSending(await core.runJob(job, () => Atomics.load(cancelled, 0) !== 0));
    parentPort?.postMessage({ sequence, outcome } satisfies Reply, [...buffers]);
  });
});
