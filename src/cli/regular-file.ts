/** The text of a file that a user names: a regular file of a size that can be read, and nothing that never ends. */

import { readFileSync, statSync } from 'node:fs';
import { grouped } from '../model/counted.ts';

/** Throws what the file system throws, and for a folder, a device, a pipe or a file above `maxMiB` a clear line. */
export function readRegularFile(path: string, maxMiB: number): string {
  const stats = statSync(path);
  if (!stats.isFile()) throw new Error(stats.isDirectory() ? 'it is a folder, not a file' : 'it is not a regular file');
  if (stats.size > maxMiB * 2 ** 20) throw new Error(`it is larger than ${maxMiB} MiB (${grouped(stats.size)} bytes)`);
  return readFileSync(path, 'utf8');
}
