/** The worker's thread: takes requests one by one and answers each, whatever happens. */

import { parentPort } from 'node:worker_threads';
import { buffersOf, runJob } from './jobs.ts';
import type { Reply, Request } from './protocol.ts';

parentPort?.on('message', ({ sequence, job, cancelled }: Request) => {
  const outcome = outcomeOf(job, () => Atomics.load(cancelled, 0) !== 0);
  parentPort?.postMessage({ sequence, outcome } satisfies Reply, [...buffersOf(outcome)]);
});

/** A bug of ours refuses the one request, and the next ones are served. */
function outcomeOf(job: Request['job'], isCancelled: () => boolean): Reply['outcome'] {
  try {
    return runJob(job, isCancelled);
  } catch (error) {
    return { status: 'refused', reason: error instanceof Error ? error.message : String(error) };
  }
}
