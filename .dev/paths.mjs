// Where the tools work: the repository, its build outputs and the cache that git ignores.
// One place, so that every script agrees, and so that BUBBLELENS_CACHE can move the cache
// (two checkouts can then share the editor hosts, which take a minute to set up).

import { mkdirSync, mkdtempSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's root, absolute. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

/** Built files that ship. */
export const dist = path.join(root, 'dist');

/** Built files that do not ship: test bundles, reports, the package's staging folder. */
export const out = path.join(root, 'out');

/** The cache's root, absolute. */
export function cacheRoot() {
  const override = process.env.BUBBLELENS_CACHE;
  return override ? path.resolve(override) : path.join(root, '.cache');
}

/** A fresh folder below the cache for one run; whoever asks deletes it. */
export function runFolder(name) {
  const runs = path.join(cacheRoot(), 'runs');
  mkdirSync(runs, { recursive: true });
  return mkdtempSync(path.join(runs, `${name}-`));
}
