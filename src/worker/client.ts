/**
 * The asker's side of a worker: starts the thread on the first request, keeps it, and starts another where it died.
 * Requests are numbered; a newer one about the same topic cancels the one before, running or waiting.
 */

import { Worker } from 'node:worker_threads';
import type { Job, JobKind, Jobs, Outcome, Reply, Request } from './protocol.ts';

export interface WorkerClient {
  /** The outcome of a job; `cancelled` where a newer request about the topic, or `cancel`, came first. */
  readonly ask: <K extends JobKind>(topic: string, kind: K, ask: Jobs[K]['ask']) => Promise<Outcome<Jobs[K]['answer']>>;
  readonly cancel: (topic: string) => void;
  /** Ends the thread; what is open is cancelled. */
  readonly dispose: () => Promise<void>;
}

interface Open {
  readonly cancelled: Request['cancelled'];
  readonly settle: (outcome: Reply['outcome']) => void;
}

/** `file` is the built worker, `dist/worker.js`. An idle worker does not keep the process alive. */
export function workerClient(file: string): WorkerClient {
  const open = new Map<number, Open>();
  const latest = new Map<string, number>();
  let worker: Worker | null = null;
  let sequence = 0;

  const settle = (at: number, outcome: Reply['outcome']) => {
    const request = open.get(at);
    open.delete(at);
    if (open.size === 0) worker?.unref();
    request?.settle(outcome);
  };
  const lost = (from: Worker, reason: string) => {
    if (from !== worker) return;
    worker = null;
    for (const at of [...open.keys()]) settle(at, { status: 'refused', reason });
  };
  const start = (): Worker => {
    const started = new Worker(file);
    started.on('message', ({ sequence: at, outcome }: Reply) => settle(at, outcome));
    started.on('error', (error) => lost(started, `the worker failed: ${error.message}`));
    started.on('exit', (code) => lost(started, `the worker ended with code ${code}`));
    return started;
  };
  const cancel = (topic: string) => {
    const at = latest.get(topic);
    latest.delete(topic);
    const request = at === undefined ? undefined : open.get(at);
    if (at === undefined || request === undefined) return;
    Atomics.store(request.cancelled, 0, 1);
    settle(at, { status: 'cancelled' });
  };

  return {
    ask: <K extends JobKind>(topic: string, kind: K, ask: Jobs[K]['ask']) => {
      cancel(topic);
      const at = ++sequence;
      const cancelled = new Int32Array(new SharedArrayBuffer(4));
      latest.set(topic, at);
      worker ??= start();
      worker.ref();
      worker.postMessage({ sequence: at, job: { kind, ask } as Job, cancelled } satisfies Request);
      return new Promise((resolve) => {
        open.set(at, { cancelled, settle: resolve as Open['settle'] });
      });
    },
    cancel,
    dispose: async () => {
      for (const topic of [...latest.keys()]) cancel(topic);
      const ending = worker;
      worker = null;
      await ending?.terminate();
    },
  };
}
