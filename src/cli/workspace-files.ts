/**
 * Files for the command line: the document and the companions that its reader asks for. Companions are read only
 * below the root (links are followed first, then checked), at most 16 of them, 1 MiB each, and nothing is executed.
 */

import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Texts } from '../model/reading.ts';

export const MAX_COMPANIONS = 16;
export const MAX_FILE_BYTES = 1 << 20;

export interface Located {
  readonly root: string;
  /** Relative to the root, with `/`. */
  readonly file: string;
}

/** The nearest folder upwards with `.git`, else the file's own; `root` where it was given. */
export function locate(path: string, root: string | null): Located {
  const absolute = resolve(path);
  const base = root === null ? nearestRepository(dirname(absolute)) : resolve(root);
  const inside = relative(base, absolute);
  if (inside.startsWith('..') || isAbsolute(inside))
    return { root: dirname(absolute), file: relative(dirname(absolute), absolute) };
  return { root: base, file: inside.split(sep).join('/') };
}

function nearestRepository(start: string): string {
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder;
    if (dirname(folder) === folder) return start;
  }
}

/** Throws what the file system throws, and for a folder or a file that is too large a clear error. */
export function readDocument(path: string): string {
  const stats = statSync(path);
  if (!stats.isFile()) throw new Error('not a file');
  if (stats.size > MAX_FILE_BYTES) throw new Error(`larger than 1 MiB (${stats.size} bytes); a config is not`);
  return readFileSync(path, 'utf8');
}

/** The companions of `wanted` that lie inside the root and can be read; the others are left out. */
export function readCompanions(root: string, wanted: readonly string[], have: Texts): Texts {
  const texts: Record<string, string> = {};
  for (const path of wanted) {
    if (Object.hasOwn(have, path) || Object.keys(have).length + Object.keys(texts).length > MAX_COMPANIONS) continue;
    const text = readInside(root, path);
    if (text !== null) texts[path] = text;
  }
  return texts;
}

function readInside(root: string, path: string): string | null {
  try {
    const real = realpathSync(join(root, path));
    const inside = relative(realpathSync(root), real);
    if (inside.startsWith('..') || isAbsolute(inside)) return null;
    return readDocument(real);
  } catch {
    return null;
  }
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
