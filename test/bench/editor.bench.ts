/** In a real VS Code: activation, and from hearing of a change to its diagnostics, in the extension host. */

import { measureEditor } from '../../.dev/bench-editor.mjs';

export const title =
  'In the editor: activation (goal: at most 30 ms), and change event to diagnostics while typing into 500 lines at ' +
  'pp 16, vpp 4, 256 microbatches (goal: p95 under 50 ms)';

export async function rows(): Promise<readonly Readonly<Record<string, string | number>>[]> {
  const { editor, loadMs, activateMs, edits } = await measureEditor();
  const row = (what: string, times: readonly number[]) => ({
    [`VS Code ${editor}`]: what,
    runs: times.length,
    'p50 ms': quantile(times, 0.5),
    'p95 ms': quantile(times, 0.95),
  });
  return [
    row('activation: loading the code', [loadMs]),
    row('activation: activate()', [activateMs]),
    ...edits.map(({ what, times }) => row(what, times)),
  ];
}

function quantile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
