/** The pure rooms as the editor sees them: loaded once, with the first document that may be a config. */

type Core = typeof import('./core-chunk.ts')['core'];

let loaded: Core | null = null;

export async function loadCore(): Promise<Core> {
  loaded ??= (await import('./core-chunk.ts')).core;
  return loaded;
}

/** The core where it is at hand; null before it was loaded. */
export function coreAtHand(): Core | null {
  return loaded;
}

/** The core for what only happens after an analysis. Throws when there was none: our own bug. */
export function loadedCore(): Core {
  if (loaded === null) throw new Error('the core is not loaded');
  return loaded;
}
