/**
 * A finding: one thing to tell the user, at a place. Problems are findings about the text itself. A change is in
 * the model's words; only the reader that read the plan can spell it as edits.
 */

import type { FindingCode, Severity } from './finding-codes.ts';
import type { TextRange } from './source.ts';

export interface RelatedPlace {
  readonly message: string;
  readonly range: TextRange;
}

/** One plan value to set; keys are the native dotted ones (`pipeline.microbatches`). */
export interface Change {
  readonly key: string;
  readonly value: number | string;
}

export interface TextEdit {
  readonly file: string;
  readonly offset: number;
  readonly length: number;
  readonly text: string;
}

export interface Fix {
  readonly title: string;
  readonly edits: readonly TextEdit[];
  readonly predicted: { readonly bubbleFraction: number | null; readonly usdPerDaySaved: number | null };
}

export interface Finding {
  readonly code: FindingCode;
  readonly severity: Severity;
  /** Short and self-sufficient: other extensions show it at the end of the line. */
  readonly message: string;
  readonly range: TextRange;
  readonly related: readonly RelatedPlace[];
  readonly fixes: readonly Fix[];
}
