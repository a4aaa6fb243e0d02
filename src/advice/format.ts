/**
 * How numbers are written, once for every surface: the same value reads the same in hint, lens, hover, squiggle,
 * terminal and timeline.
 */

import type { CostsBadge } from '../model/costs.ts';
import { grouped } from '../model/counted.ts';

/** 0.2113 -> "21.1 %". A tiny negative is not written as "-0.0 %". */
export function percent(fraction: number): string {
  const rounded = Math.round(fraction * 1000) / 10;
  return `${(rounded === 0 ? 0 : rounded).toFixed(1)} %`;
}

/** 1204.4 -> "$1,204"; below ten dollars with cents. */
export function dollars(usd: number): string {
  if (Math.abs(usd) < 10) return `$${usd.toFixed(2)}`;
  return `$${grouped(Math.round(usd))}`;
}

/** 812.54 -> "813 ms", 12.345 -> "12.3 ms", 1333 -> "1.33 s", 61234 -> "61.2 s". */
export function duration(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(ms >= 10_000 ? 1 : 2)} s`;
  return `${ms >= 100 ? Math.round(ms) : ms.toFixed(1)} ms`;
}

/** 27.77 -> "27.8". */
export function number(value: number): string {
  if (Number.isInteger(value)) return grouped(value);
  return Math.abs(value) >= 1000 ? grouped(Math.round(value)) : value.toFixed(Math.abs(value) < 1 ? 2 : 1);
}

export function gibibytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}

export function badgeText(badge: CostsBadge): string {
  return `${badge} costs`;
}

/** Text that came from a file on one line of a bearable length: squiggles, lenses and terminals show one line. */
export function oneLine(text: string, longest = 400): string {
  const line = printable(text.replace(/[\s\u0085\u2028\u2029]+/g, ' ')).trim();
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line;
}

/** Text without the characters that command a terminal or turn the writing direction; line breaks stay. */
export function printable(text: string): string {
  return text.replace(/(?!\n)[\p{Cc}\p{Cf}]/gu, '');
}
