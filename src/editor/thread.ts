/**
 * The one worker thread, where everything that may take long is done: cold starts, slow analyses, fixes, timelines. It
 * starts with the first request and stays. Where there are no threads (a browser, a host that forbids them) the jobs
 * are done in the editor's own thread. A death is written to the log.
 */

import type { JobKind, Jobs, Outcome } from '../worker/protocol.ts';
import { loadCore } from './core.ts';
import type { Log } from './log.ts';

export interface Thread {
  /** The outcome of a job; `cancelled` where a newer request about the topic, or `cancel`, came first. Never rejects. */
  readonly ask: <K extends JobKind>(topic: string, kind: K, ask: Jobs[K]['ask']) => Promise<Outcome<Jobs[K]['answer']>>;
  readonly cancel: (topic: string) => void;
  /** Whether jobs are done in the editor's own thread. */
  readonly isMissing: () => boolean;
  /** Ends the thread as a crash would. */
  readonly lose: () => Promise<void>;
  readonly dispose: () => void;
}

type Client = ReturnType<typeof import('../worker/client.ts')['workerClient']>;

/** Far above what any plan takes; what goes beyond ends the thread and not the extension host. */
const HEAP_MB_AT_MOST = 1024;

/** `file` is the built worker. */
export function createThread(file: string, log: Log): Thread {
  const latest = new Map<string, number>();
  let client: Promise<Client | null> | null = null;
  let sequence = 0;
  let isMissing = false;

  const missing = (reason: string): null => {
    if (!isMissing) log.info(`no worker thread, so that long work is done in the editor's own: ${reason}`);
    isMissing = true;
    return null;
  };
  const start = async (): Promise<Client | null> => {
    try {
      const { workerClient } = await import('../worker/client.ts');
      const resourceLimits = { maxOldGenerationSizeMb: HEAP_MB_AT_MOST };
      return workerClient(file, { resourceLimits, onLost: (reason) => log.failed('worker', reason) });
    } catch (error) {
      return missing(String(error));
    }
  };
  const ask: Thread['ask'] = async (topic, kind, asked) => {
    const at = ++sequence;
    latest.set(topic, at);
    const isCancelled = (): boolean => latest.get(topic) !== at;
    client ??= start();
    const worker = isMissing ? null : await client;
    if (isCancelled()) return { status: 'cancelled' };
    if (worker !== null) {
      const outcome = await worker.ask(topic, kind, asked);
      if (outcome.status !== 'lost' || outcome.lived) return isCancelled() ? { status: 'cancelled' } : outcome;
      missing(outcome.reason);
    }
    return here(kind, asked, isCancelled);
  };
  return {
    ask,
    cancel: (topic) => {
      latest.delete(topic);
      client?.then((worker) => worker?.cancel(topic));
    },
    isMissing: () => isMissing,
    lose: async () => {
      await (await client)?.lose();
    },
    dispose: () => {
      latest.clear();
      client?.then((worker) => worker?.dispose());
    },
  };
}

async function here<K extends JobKind>(
  kind: K,
  ask: Jobs[K]['ask'],
  isCancelled: () => boolean,
): Promise<Outcome<Jobs[K]['answer']>> {
  const { runJob } = await loadCore();
  return runJob({ kind, ask } as Parameters<typeof runJob>[0], isCancelled) as Promise<Outcome<Jobs[K]['answer']>>;
}
