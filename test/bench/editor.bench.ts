/**
 * In a real VS Code: activation, from hearing of a change to its diagnostics, and the longest time for which the
 * extension host's thread stands still (by the clock, and in its own processor time).
 */

import { measureEditor } from '../../.dev/bench-editor.mjs';
import type { TypedInto } from './editor-host.ts';
import type { Blocked } from './loop-monitor.ts';

export const title =
  'In the editor: activation (goal: at most 30 ms); change event to diagnostics while typing into 500 lines at pp 16, ' +
  'vpp 4, 256 microbatches (goal: p95 under 50 ms); the longest block of the extension host’s thread, while typing ' +
  'the least of three rounds’ (goal: at most 10 ms)';

type Row = Readonly<Record<string, string | number>>;

export async function rows(): Promise<readonly Row[]> {
  const { editor, loadMs, activateMs, edits, drawing } = await measureEditor();
  const row = (what: string, times: readonly number[], blocks: readonly Blocked[]): Row => ({
    [`VS Code ${editor}`]: what,
    runs: times.length,
    'p50 ms': figure(quantile(times, 0.5)),
    'p95 ms': figure(quantile(times, 0.95)),
    'longest block ms': figure(Math.min(...blocks.map((block) => block.clockMs))),
    'of processor time': figure(Math.min(...blocks.map((block) => block.processorMs))),
  });
  const both = ({ what, opening, typing, times }: TypedInto): readonly Row[] => [
    row(`opening: ${what}`, [], [opening]),
    row(`typing: ${what}`, times, typing),
  ];
  return [
    row('activation: loading the code', [loadMs], []),
    row('activation: activate()', [activateMs], []),
    ...edits.flatMap(both),
    row(`sending: ${drawing.what}`, drawing.times, drawing.typing),
  ];
}

function figure(value: number): string | number {
  return Number.isFinite(value) ? value : '–';
}

function quantile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
