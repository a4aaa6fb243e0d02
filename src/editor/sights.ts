/**
 * What there is to show in a document: the plans of the config that it is, and those of other open configs that read
 * it as a companion. So the number also stands at `PP=8` in the script that a launch script sources.
 */

import type * as vscode from 'vscode';
import { rangeOf } from '../model/source.ts';
import type { DocumentAnalysis } from './document-analysis.ts';
import type { ShownPlan } from './last-good.ts';
import { uriOf } from './places.ts';

export interface Sight {
  readonly result: DocumentAnalysis;
  readonly plan: ShownPlan;
  /** The name that the analysis knows the document by. */
  readonly file: string;
  /** The line of the plan's numbers, from 0; null where it lies in another file. */
  readonly line: number | null;
  /** The document is the config itself, not a companion. */
  readonly own: boolean;
}

/** The plans to show, as far as they were computed from the document's present text. */
export function sightsOf(
  document: vscode.TextDocument,
  own: DocumentAnalysis | null,
  sharing: readonly DocumentAnalysis[],
): readonly Sight[] {
  const ofOwn = own === null || own.version !== document.version ? [] : sights(own, own.place.file, true);
  const ofOthers = sharing.flatMap((result) => {
    const file = companionName(document, result);
    return file === null ? [] : sights(result, file, false);
  });
  return [...ofOwn, ...ofOthers];
}

function sights(result: DocumentAnalysis, file: string, own: boolean): readonly Sight[] {
  return result.shown.plans.map((plan) => {
    const size = [plan.anchor, rangeOf(plan.analysis.plan.pp)].find((range) => range?.file === file);
    // A size that stands in another file has no line here: it is told at the top of the config.
    const line = size ? result.locate(size).start.line : own ? 0 : null;
    return { result, plan, file, line, own };
  });
}

function companionName(document: vscode.TextDocument, { place, input }: DocumentAnalysis): string | null {
  const wanted = document.uri.toString();
  const name = Object.keys(input.texts).find(
    (file) => file !== place.file && uriOf(place, file)?.toString() === wanted,
  );
  return name === undefined || input.texts[name] !== document.getText() ? null : name;
}
