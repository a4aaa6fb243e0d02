/**
 * Parsers that cost too much to load before they are needed: each is a chunk of its own, loaded once, on the first
 * file that wants it. `loadParsers` is called before `read`, so that reading itself is synchronous.
 */

import type { ParserName } from '../model/reading.ts';

const LOADERS = {
  yaml: () => import('./parse/yaml.ts'),
  jsonc: () => import('./parse/jsonc.ts'),
  toml: () => import('./parse/toml.ts'),
  python: () => import('./parse/python.ts'),
} as const satisfies Record<ParserName, () => Promise<unknown>>;

type Parsers = { [N in ParserName]: Awaited<ReturnType<(typeof LOADERS)[N]>> };

const loaded: Partial<Parsers> = {};

export async function loadParsers(names: readonly ParserName[]): Promise<void> {
  if (names.includes('yaml')) loaded.yaml ??= await LOADERS.yaml();
  if (names.includes('jsonc')) loaded.jsonc ??= await LOADERS.jsonc();
  if (names.includes('toml')) loaded.toml ??= await LOADERS.toml();
  if (names.includes('python')) loaded.python ??= await LOADERS.python();
}

export function parsersLoaded(names: readonly ParserName[]): boolean {
  return names.every((name) => loaded[name] !== undefined);
}

/** Throws when the parser was not loaded first: our own bug. */
export function parser<N extends ParserName>(name: N): Parsers[N] {
  const found = loaded[name];
  if (found === undefined) throw new Error(`parser ${name} is not loaded`);
  return found as Parsers[N];
}
