/**
 * The loop over the companions that a reader asks for: analyse with what is at hand, fetch what is still needed,
 * begin again. It ends, because every round adds a text and their number is limited. Where the analyses are made
 * elsewhere, the loop waits for each; where they are made here, it only ends or says what to wait for.
 */

import { settled } from '../advice/missing-companions.ts';
import type { AnalysisInput } from '../analysis.ts';
import type { Analysis } from '../model/analysis.ts';
import type { Texts } from '../model/reading.ts';

/** At most so many companions of one config. */
export const COMPANIONS_AT_MOST = 16;

export interface Analysed {
  readonly input: AnalysisInput;
  readonly analysis: Analysis;
}

/** The companions below one root. */
export interface CompanionSource {
  /** `undefined` before it was asked for, `null` where there is none. */
  readonly text: (path: string) => string | null | undefined;
  readonly key: (path: string) => string | null;
  readonly load: (paths: readonly string[]) => Promise<void>;
}

export type Gathered<A extends Analysed> = A & {
  /** Identities of the companions asked for, found or not: a change in one of them concerns this analysis. */
  readonly companionKeys: ReadonlySet<string>;
};

/**
 * The analysis with all companions that can be had; the promise of further ones where some are not known yet; null
 * where one of the analyses is not made.
 */
export function gather<A extends Analysed>(
  file: string,
  text: string,
  source: CompanionSource | null,
  run: (texts: Texts) => A | null,
): Gathered<A> | Promise<void> | null {
  const asking = createAsking(file, text, source);
  for (;;) {
    const analysed = run({ ...asking.texts });
    if (analysed === null) return null;
    const next = asking.next(analysed.analysis.needs);
    if (source === null) return { ...analysed, companionKeys: asking.keys };
    if (next.length === 0) return finished(analysed, text, asking.keys);
    const unread = asking.unread(next);
    if (unread.length > 0) return source.load(unread);
    asking.read(next);
  }
}

/**
 * The same with analyses that are waited for; null where one of them did not come. `heard` is told whom a change
 * concerns before the companions are read, lest a change meanwhile is missed.
 */
export async function gatherFrom<A extends Analysed>(
  file: string,
  text: string,
  source: CompanionSource | null,
  run: (texts: Texts) => Promise<A | null>,
  heard: (companionKeys: ReadonlySet<string>) => void,
): Promise<Gathered<A> | null> {
  const asking = createAsking(file, text, source);
  for (;;) {
    const analysed = await run({ ...asking.texts });
    if (analysed === null) return null;
    const next = asking.next(analysed.analysis.needs);
    if (source === null) return { ...analysed, companionKeys: asking.keys };
    if (next.length === 0) return finished(analysed, text, asking.keys);
    asking.ask(next);
    heard(asking.keys);
    await source.load(asking.unread(next));
    asking.read(next);
  }
}

function finished<A extends Analysed>(analysed: A, text: string, companionKeys: ReadonlySet<string>): Gathered<A> {
  return { ...analysed, analysis: settled(analysed.analysis, text), companionKeys };
}

/** What was asked for so far, and the texts that came of it. */
function createAsking(file: string, text: string, source: CompanionSource | null) {
  // Without a prototype: a config may name a file `constructor`.
  const texts: Record<string, string> = Object.assign(Object.create(null), { [file]: text });
  const keys = new Set<string>();
  const asked = new Set<string>();
  const ask = (next: readonly string[]): void => {
    for (const need of next) {
      asked.add(need);
      const key = source?.key(need) ?? null;
      if (key !== null) keys.add(key);
    }
  };
  return {
    texts,
    keys,
    ask,
    next: (needs: readonly string[]): readonly string[] =>
      needs.filter((need) => !asked.has(need) && need !== file).slice(0, COMPANIONS_AT_MOST - asked.size),
    unread: (next: readonly string[]) => next.filter((need) => source?.text(need) === undefined),
    read: (next: readonly string[]): void => {
      ask(next);
      for (const need of next) {
        const companion = source?.text(need);
        if (typeof companion === 'string') texts[need] = companion;
      }
    },
  };
}
