/**
 * The asker's side of a worker: starts the thread on the first request, keeps it, and starts another where it died.
 * Requests are numbered and sent one at a time, so that a death concerns the one that ran: it is tried once more, and
 * the others only wait. A newer request about the same topic cancels the one before, running or waiting; one that runs
 * on though nobody wants its answer is ended with its thread when others have waited long enough.
 */

import { type ResourceLimits, Worker } from 'node:worker_threads';
import type { Alive, Job, JobKind, Jobs, Outcome, Reply, Request } from './protocol.ts';

export interface WorkerClient {
  /** The outcome of a job; `cancelled` where a newer request about the topic, or `cancel`, came first. */
  readonly ask: <K extends JobKind>(topic: string, kind: K, ask: Jobs[K]['ask']) => Promise<Outcome<Jobs[K]['answer']>>;
  readonly cancel: (topic: string) => void;
  /** Ends the thread as a crash would; what runs is tried again. Nothing where there is no thread. */
  readonly lose: () => Promise<void>;
  /** Ends the thread; what is open is cancelled. */
  readonly dispose: () => Promise<void>;
}

export interface WorkerOptions {
  readonly resourceLimits?: ResourceLimits;
  /** How long others wait for a running job that was cancelled, in ms. */
  readonly patienceMs?: number;
  /** Hears of each death, in one line. */
  readonly onLost?: (reason: string) => void;
}

interface Open {
  readonly topic: string;
  readonly request: Request;
  readonly settle: (outcome: Reply['outcome']) => void;
  /** How often a thread died of it. */
  deaths: number;
}

interface Thread {
  readonly worker: Worker;
  /** Whether its code was loaded. */
  lived: boolean;
}

const PATIENCE_MS = 1500;
const DEATHS_AT_MOST = 2;

/** `file` is the built worker, `dist/worker.js`. An idle worker does not keep the process alive. */
export function workerClient(file: string, options: WorkerOptions = {}): WorkerClient {
  const { resourceLimits = {}, patienceMs = PATIENCE_MS, onLost } = options;
  const waiting: Open[] = [];
  let thread: Thread | null = null;
  let running: Open | null = null;
  let patience: ReturnType<typeof setTimeout> | null = null;
  let sequence = 0;

  const unwanted = ({ request }: Open): boolean => Atomics.load(request.cancelled, 0) !== 0;
  const start = (): Thread => {
    const started: Thread = { worker: new Worker(file, { resourceLimits }), lived: false };
    started.worker.on('message', (message: Reply | Alive) => {
      if (started !== thread) return;
      if ('alive' in message) started.lived = true;
      else if (running?.request.sequence === message.sequence) end(message.outcome);
    });
    started.worker.on('error', (error) => lost(started, `the worker failed: ${firstLine(error)}`));
    started.worker.on('exit', (code) => lost(started, `the worker ended with code ${code}`));
    return started;
  };
  const next = (): void => {
    if (running !== null) return;
    const open = waiting.shift();
    if (open === undefined) {
      thread?.worker.unref();
      return;
    }
    running = open;
    try {
      thread ??= start();
      thread.worker.ref();
      thread.worker.postMessage(open.request);
    } catch (error) {
      // There are no threads here, or the request cannot be sent.
      const reason = firstLine(error);
      end(thread === null ? { status: 'lost', reason, lived: false } : { status: 'refused', reason });
    }
  };
  const end = (outcome: Reply['outcome'] | null): void => {
    if (patience !== null) clearTimeout(patience);
    patience = null;
    const ended = running;
    running = null;
    if (outcome !== null) ended?.settle(outcome);
    next();
  };
  const lost = (from: Thread, reason: string): void => {
    if (from !== thread) return;
    thread = null;
    onLost?.(reason);
    if (running === null) return;
    running.deaths++;
    const again = running.deaths < DEATHS_AT_MOST && !unwanted(running);
    if (again) waiting.unshift(running);
    end(again ? null : { status: 'lost', reason, lived: from.lived });
  };
  /** A job that nobody wants holds the thread: it goes on for a while, since a fresh thread is slow at first. */
  const hurry = (): void => {
    if (running === null || !unwanted(running) || waiting.length === 0 || patience !== null) return;
    patience = setTimeout(() => {
      const ended = thread;
      thread = null;
      ended?.worker.terminate();
      end(null);
    }, patienceMs);
  };
  const cancel = (topic: string): void => {
    const at = waiting.findIndex((open) => open.topic === topic);
    if (at >= 0) waiting.splice(at, 1)[0]?.settle({ status: 'cancelled' });
    if (running?.topic !== topic || unwanted(running)) return;
    Atomics.store(running.request.cancelled, 0, 1);
    running.settle({ status: 'cancelled' });
    hurry();
  };

  return {
    ask: <K extends JobKind>(topic: string, kind: K, ask: Jobs[K]['ask']) => {
      cancel(topic);
      const cancelled = new Int32Array(new SharedArrayBuffer(4));
      const request: Request = { sequence: ++sequence, job: { kind, ask } as Job, cancelled };
      return new Promise((resolve) => {
        waiting.push({ topic, request, settle: resolve as Open['settle'], deaths: 0 });
        hurry();
        next();
      });
    },
    cancel,
    lose: async () => {
      await thread?.worker.terminate();
    },
    dispose: async () => {
      for (const topic of [running, ...waiting].flatMap((open) => open?.topic ?? [])) cancel(topic);
      const ending = thread;
      thread = null;
      running = null;
      if (patience !== null) clearTimeout(patience);
      await ending?.worker.terminate();
    },
  };
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
