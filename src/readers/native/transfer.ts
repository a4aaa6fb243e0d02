/**
 * The time of one transfer: as written, or latency + bytes / bandwidth. A missing latency is left out and said so; a
 * missing size or bandwidth leaves the time unknown.
 */

import type { Finding } from '../../model/finding.ts';
import { derived, rangeOf, type Sourced, unknown } from '../../model/source.ts';
import { finding } from '../limits.ts';
import type { Values } from './values.ts';

const BYTES_PER_GB_MS = 1e6;

export function transferMs(values: Values): { readonly value: Sourced<number>; readonly findings: readonly Finding[] } {
  const ms = values.number('transfer.ms', 'the time of a transfer');
  const bytes = values.number('transfer.bytes', 'the size of a transfer');
  const latencyUs = values.number('transfer.latencyUs', 'the latency of a transfer');
  const gbPerSecond = values.number('transfer.gbPerSecond', 'the bandwidth of a link');
  const parts = [bytes, latencyUs, gbPerSecond].filter((part) => part.value !== null);
  if (ms.value !== null) {
    const at = rangeOf(ms);
    const related = parts.flatMap((part) => {
      const range = rangeOf(part);
      return range === null ? [] : [{ message: 'given here too', range }];
    });
    const message = 'transfer.ms is given, so bytes, latencyUs and gbPerSecond do not count: keep one of the two';
    return {
      value: ms,
      findings: at === null || related.length === 0 ? [] : [finding('options-conflict', message, at, related)],
    };
  }
  if (parts.length === 0 || ms.source.range !== undefined) return { value: ms, findings: [] };
  if (bytes.value === null) return { value: unknown('the size of a transfer', 'transfer.bytes'), findings: [] };
  if (gbPerSecond.value === null)
    return { value: unknown('the bandwidth of a link', 'transfer.gbPerSecond'), findings: [] };
  const wireMs = bytes.value / (gbPerSecond.value * BYTES_PER_GB_MS);
  const wire = `${bytes.value} B / ${gbPerSecond.value} GB/s`;
  const value =
    latencyUs.value === null
      ? derived(wireMs, `${wire}; the latency is not known and left out`, ['transfer.bytes', 'transfer.gbPerSecond'])
      : derived(latencyUs.value / 1000 + wireMs, `${latencyUs.value} us + ${wire}`, [
          'transfer.latencyUs',
          'transfer.bytes',
          'transfer.gbPerSecond',
        ]);
  return { value, findings: [] };
}
