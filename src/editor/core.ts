/** The pure rooms as the editor sees them: a chunk that is loaded once, and only where the worker's thread cannot do. */

type Core = typeof import('../worker/core-chunk.ts')['core'];

let loaded: Core | null = null;

export async function loadCore(): Promise<Core> {
  loaded ??= (await import('../worker/core-chunk.ts')).core;
  return loaded;
}

/** The core where it is at hand; null before it was loaded. */
export function coreAtHand(): Core | null {
  return loaded;
}
