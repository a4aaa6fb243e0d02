/**
 * What was said outside the file (`--gpus 64`, `--set cluster.gpus=64`, a remembered answer) stands in front of what
 * the file says. Readers pass every value that has a native dotted key through here before they derive from it.
 */

import type { Said } from '../model/plan.ts';
import { assumed, type Sourced } from '../model/source.ts';

/** The said number for a native dotted key, else the value as read. */
export function saidNumber(said: Said, key: string, read: Sourced<number>): Sourced<number> {
  const entry = said[key];
  const value = entry === undefined ? Number.NaN : Number(entry.value);
  return entry !== undefined && Number.isFinite(value) ? assumed(value, entry.by) : read;
}

export function saidText(said: Said, key: string, read: Sourced<string>): Sourced<string> {
  const entry = said[key];
  return entry === undefined ? read : assumed(String(entry.value), entry.by);
}
