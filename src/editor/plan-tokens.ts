/**
 * The tokens that a plan's values were read from: where the hover explains the numbers. The plan is walked as plain
 * data, so that a value added to the model is found without a change here.
 */

import type { Plan } from '../model/plan.ts';
import type { TextRange } from '../model/source.ts';

export interface PlanToken {
  /** The plan's own word for the value: `microbatches`, `model.hidden`. */
  readonly key: string;
  readonly range: TextRange;
}

const NOT_VALUES: ReadonlySet<string> = new Set(['findings', 'source']);

/** Every value of the plan that has a token, in the order of the plan's fields. */
export function tokensOf(plan: Plan): readonly PlanToken[] {
  const tokens: PlanToken[] = [{ key: 'pp', range: plan.anchor }];
  walk('', plan, tokens);
  return tokens;
}

/** The token at an offset of a file; the shortest where several cover it. */
export function tokenAt(tokens: readonly PlanToken[], file: string, offset: number): PlanToken | null {
  let best: PlanToken | null = null;
  for (const token of tokens) {
    const { range } = token;
    if (range.file !== file || offset < range.offset || offset > range.offset + range.length) continue;
    if (best === null || range.length < best.range.length) best = token;
  }
  return best;
}

function walk(key: string, value: unknown, tokens: PlanToken[]): void {
  if (typeof value !== 'object' || value === null) return;
  const range = rangeOfSource((value as { source?: unknown }).source);
  if (range !== null) tokens.push({ key, range });
  if (Array.isArray(value)) return;
  for (const [name, child] of Object.entries(value)) {
    if (!NOT_VALUES.has(name)) walk(key === '' ? name : `${key}.${name}`, child, tokens);
  }
}

function rangeOfSource(source: unknown): TextRange | null {
  if (typeof source !== 'object' || source === null) return null;
  const { kind, range } = source as { kind?: unknown; range?: TextRange };
  return kind === 'text' || kind === 'measured' ? (range ?? null) : null;
}
