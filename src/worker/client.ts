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

interface WorkerOptions {
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
  const queue = createQueue(file, options);
  let sequence = 0;
  return {
    ask: <K extends JobKind>(topic: string, kind: K, ask: Jobs[K]['ask']) => {
      queue.cancel(topic);
      const cancelled = new Int32Array(new SharedArrayBuffer(4));
      const request: Request = { sequence: ++sequence, job: { kind, ask } as Job, cancelled };
      return new Promise((resolve) => {
        queue.add({ topic, request, settle: resolve as Open['settle'], deaths: 0 });
      });
    },
    cancel: queue.cancel,
    lose: queue.lose,
    dispose: queue.dispose,
  };
}

interface Queue extends Pick<WorkerClient, 'cancel' | 'lose' | 'dispose'> {
  readonly add: (open: Open) => void;
}

/** The requests in their order, one of them at the thread. */
function createQueue(file: string, { resourceLimits = {}, patienceMs = PATIENCE_MS, onLost }: WorkerOptions): Queue {
  const waiting: Open[] = [];
  let thread: Thread | null = null;
  let running: Open | null = null;
  let patience: ReturnType<typeof setTimeout> | null = null;

  const next = (): void => {
    if (running !== null) return;
    running = waiting.shift() ?? null;
    if (running === null) {
      thread?.worker.unref();
      return;
    }
    try {
      thread ??= startThread(file, resourceLimits, { heard, lost });
      thread.worker.ref();
      thread.worker.postMessage(running.request);
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
  const heard = (from: Thread, { sequence, outcome }: Reply): void => {
    if (from === thread && running?.request.sequence === sequence) end(outcome);
  };
  const lost = (from: Thread, reason: string): void => {
    if (from !== thread) return;
    thread = null;
    onLost?.(reason);
    if (running === null) return;
    running.deaths++;
    const again = running.deaths < DEATHS_AT_MOST && !isUnwanted(running);
    if (again) waiting.unshift(running);
    end(again ? null : { status: 'lost', reason, lived: from.lived });
  };
  const drop = async (): Promise<void> => {
    const dropped = thread;
    thread = null;
    await dropped?.worker.terminate();
  };
  /** A job that nobody wants holds the thread: it goes on for a while, since a fresh thread is slow at first. */
  const hurry = (): void => {
    if (running === null || !isUnwanted(running) || waiting.length === 0) return;
    patience ??= setTimeout(() => {
      drop();
      end(null);
    }, patienceMs);
  };
  const cancel = (topic: string): void => {
    const at = waiting.findIndex((open) => open.topic === topic);
    if (at >= 0) waiting.splice(at, 1)[0]?.settle({ status: 'cancelled' });
    if (running?.topic !== topic || isUnwanted(running)) return;
    Atomics.store(running.request.cancelled, 0, 1);
    running.settle({ status: 'cancelled' });
    hurry();
  };
  return {
    add: (open) => {
      waiting.push(open);
      hurry();
      next();
    },
    cancel,
    lose: async () => {
      await thread?.worker.terminate();
    },
    dispose: async () => {
      for (const topic of [running, ...waiting].flatMap((open) => open?.topic ?? [])) cancel(topic);
      running = null;
      if (patience !== null) clearTimeout(patience);
      await drop();
    },
  };
}

interface Hearing {
  readonly heard: (from: Thread, reply: Reply) => void;
  /** Called for each event of a death, the first of which counts. */
  readonly lost: (from: Thread, reason: string) => void;
}

function startThread(file: string, resourceLimits: ResourceLimits, { heard, lost }: Hearing): Thread {
  const started: Thread = { worker: new Worker(file, { resourceLimits }), lived: false };
  started.worker.on('message', (message: Reply | Alive) => {
    if ('alive' in message) started.lived = true;
    else heard(started, message);
  });
  started.worker.on('error', (error) => lost(started, `the worker failed: ${firstLine(error)}`));
  started.worker.on('exit', (code) => lost(started, `the worker ended with code ${code}`));
  return started;
}

function isUnwanted({ request }: Open): boolean {
  return Atomics.load(request.cancelled, 0) !== 0;
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
