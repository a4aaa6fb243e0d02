/**
 * The loop over the companions that a reader asks for: analyse with what is at hand, fetch what is still needed,
 * begin again. It ends, because every round adds a text and their number is limited.
 */

import type { AnalysisInput } from '../analysis.ts';
import type { Analysis } from '../model/analysis.ts';
import type { Texts } from '../model/reading.ts';

/** At most so many companions of one config. */
export const COMPANIONS_AT_MOST = 16;

export interface Analysed {
  readonly input: AnalysisInput;
  readonly analysis: Analysis;
}

export interface Gathered extends Analysed {
  /** Identities of the companions asked for, found or not: a change in one of them concerns this analysis. */
  readonly companionKeys: ReadonlySet<string>;
}

export interface Work extends Gathered {
  readonly analysisMs: number;
}

/** The companions below one root. */
export interface CompanionSource {
  /** `undefined` before it was asked for, `null` where there is none. */
  readonly text: (path: string) => string | null | undefined;
  readonly key: (path: string) => string | null;
  readonly load: (paths: readonly string[]) => Promise<void>;
}

/** The analysis with all companions that can be had; the promise of further ones where some are not known yet. */
export function gather(
  file: string,
  text: string,
  source: CompanionSource | null,
  run: (texts: Texts) => Analysed,
): Gathered | Promise<void> {
  // Without a prototype: a config may name a file `constructor`.
  const texts: Record<string, string> = Object.assign(Object.create(null), { [file]: text });
  const companionKeys = new Set<string>();
  const asked = new Set<string>();
  for (;;) {
    const analysed = run({ ...texts });
    const wanted = source === null ? [] : analysed.analysis.needs.filter((need) => !asked.has(need) && need !== file);
    const next = wanted.slice(0, COMPANIONS_AT_MOST - asked.size);
    if (source === null || next.length === 0) return { ...analysed, companionKeys };
    const unread = next.filter((need) => source.text(need) === undefined);
    if (unread.length > 0) return source.load(unread);
    for (const need of next) {
      asked.add(need);
      const key = source.key(need);
      if (key !== null) companionKeys.add(key);
      const companion = source.text(need);
      if (typeof companion === 'string') texts[need] = companion;
    }
  }
}
