/**
 * How long the event loop of this thread stands still. A timer of one millisecond goes round; the time from one round
 * to the next is at least the longest task between them. By the clock that holds other programs' turns on a busy
 * machine too, so the thread's own processor time is told as well where node tells it (from 23.9 on).
 */

export interface Blocked {
  readonly clockMs: number;
  /** NaN where node does not tell it. */
  readonly processorMs: number;
}

export interface LoopMonitor {
  /** The longest block since the last call. */
  readonly take: () => Blocked;
  readonly stop: () => void;
}

const usage: (() => { user: number; system: number }) | undefined = (
  process as { threadCpuUsage?: () => { user: number; system: number } }
).threadCpuUsage?.bind(process);

function processorMs(): number {
  if (usage === undefined) return Number.NaN;
  const { user, system } = usage();
  return (user + system) / 1000;
}

export function monitorLoop(): LoopMonitor {
  let longest: Blocked = { clockMs: 0, processorMs: 0 };
  let clock = performance.now();
  let processor = processorMs();
  const timer = setInterval(() => {
    const now = performance.now();
    const worked = processorMs();
    longest = {
      clockMs: Math.max(longest.clockMs, now - clock),
      processorMs: Math.max(longest.processorMs, worked - processor),
    };
    clock = now;
    processor = worked;
  }, 1);
  return {
    take: () => {
      const taken = longest;
      longest = { clockMs: 0, processorMs: 0 };
      return taken;
    },
    stop: () => clearInterval(timer),
  };
}
