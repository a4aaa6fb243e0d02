/** Numbers as the timeline writes them: ticks of the time axis at round steps, durations, shares. Pure. */

import type { Timeline } from '../src/model/timeline.ts';
import type { Span } from './viewport.ts';

type TimeUnit = Timeline['unit'];

export interface Tick {
  readonly time: number;
  readonly label: string;
}

/** The round step (1, 2 or 5 times a power of ten) that puts at most `most` ticks into `length`. */
export function roundStep(length: number, most: number): number {
  const rough = length / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= rough * (1 - 1e-9)) ?? 10;
  return factor * power;
}

export function ticksOf(span: Span, most: number): readonly Tick[] {
  const length = span.to - span.from;
  if (!(length > 0)) return [];
  const step = roundStep(length, most);
  const first = Math.ceil(span.from / step - 1e-9);
  const last = Math.floor(span.to / step + 1e-9);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return Array.from({ length: last - first + 1 }, (_, i) => ({
    time: (first + i) * step,
    label: grouped(((first + i) * step).toFixed(digits)),
  }));
}

/** "12.35 ms", "4 layer times": four significant digits. */
export function formatDuration(value: number, unit: TimeUnit): string {
  return unit === 'ms' ? `${formatTime(value)} ms` : `${formatTime(value)} layer ${value === 1 ? 'time' : 'times'}`;
}

export function formatTime(value: number): string {
  if (value === 0) return '0';
  const digits = Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(Math.abs(value)))));
  const text = value.toFixed(digits);
  return grouped(text.includes('.') ? text.replace(/\.?0+$/, '') : text);
}

/** "21.1 %", rounded as every other surface rounds. */
export function formatShare(fraction: number): string {
  const rounded = Math.round(fraction * 1000) / 10;
  return `${(rounded === 0 ? 0 : rounded).toFixed(1)} %`;
}

export function axisTitle(unit: TimeUnit): string {
  return unit === 'ms' ? 'ms' : 'layer times';
}

function grouped(text: string): string {
  const [whole = '', decimals] = text.split('.');
  const spaced = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  return decimals === undefined ? spaced : `${spaced}.${decimals}`;
}
