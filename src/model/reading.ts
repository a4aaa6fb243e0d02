/**
 * What a reader returns. Reading never throws: what could not be read is a problem beside the value.
 */

import type { Change, Finding, TextEdit } from './finding.ts';
import type { Plan, Said } from './plan.ts';

/** Files by path relative to the root, with `/`; the document itself is among them. */
export type Texts = Readonly<Record<string, string>>;

export interface Reading {
  readonly plans: readonly Plan[];
  /** About the text, not about a plan: syntax errors, duplicate keys. */
  readonly problems: readonly Finding[];
  /** Companion paths, relative to the root, that the reader would like to see and that are not in `texts`. */
  readonly needs: readonly string[];
  /** Those of `needs` that are only looked for: nobody misses them when they are not there. */
  readonly optional?: readonly string[];
}

export interface Reader {
  readonly id: string;
  readonly title: string;
  /** Globs of the files that it can hold, for activation and the README. */
  readonly files: readonly string[];
  readonly parsers: readonly ParserName[];
  /** Whether the file is this reader's, from its path and a cheap look at the text; well under 0.1 ms. */
  readonly claims: (path: string, text: string) => boolean;
  readonly read: (path: string, texts: Texts, said: Said) => Reading;
  /** The change in the framework's own spelling; null where this file cannot express it. */
  readonly edits: (texts: Texts, plan: Plan, change: Change) => readonly TextEdit[] | null;
  /** What may be typed at `offset`, the likeliest first; empty where nothing fits. Never throws. */
  readonly completions?: (path: string, text: string, offset: number) => readonly Completion[];
}

/** Something that may be typed at a place, and what it means. */
export interface Completion {
  readonly kind: 'key' | 'value';
  readonly label: string;
  readonly insertText: string;
  /** Plain text: what it means and what it takes. */
  readonly documentation: string;
  /** The word to replace, in UTF-16 code units. */
  readonly offset: number;
  readonly length: number;
}

/** Parsers that are loaded on first use. Shell needs none: its lexer is our own and small. */
export type ParserName = 'yaml' | 'jsonc' | 'toml' | 'python';
