/**
 * What every part of the resolver works with: typed values out of the keys, the framework's defaults with their
 * reason, and refusals placed on the tokens that are at fault.
 */

import type { Finding, RelatedPlace } from '../../model/finding.ts';
import { FINDING_CODES, type FindingCode } from '../../model/finding-codes.ts';
import { byDefault, type Known, rangeOf, type Sourced, type TextRange, unknown } from '../../model/source.ts';
import { flagOf, type MegatronInput, type MegatronKey, type Setting } from './keys.ts';

export interface Context {
  readonly input: MegatronInput;
  readonly findings: Finding[];
  /** Keys whose value was already refused, so that it is told once. */
  readonly refused: Set<MegatronKey>;
}

export function createContext(input: MegatronInput): Context {
  return { input, findings: [], refused: new Set() };
}

export function given(context: Context, key: MegatronKey): Setting | undefined {
  return context.input.keys.get(key);
}

/** Whether a switch is on; null when that is not known. */
export function isOn(context: Context, key: MegatronKey): boolean | null {
  const setting = given(context, key);
  if (setting === undefined) return false;
  if (setting.value.value === null) return null;
  return setting.value.value !== 'false';
}

/** Where a key's value is written, else the key. */
export function placeOf(context: Context, key: MegatronKey): TextRange | null {
  const setting = given(context, key);
  return setting === undefined ? null : (rangeOf(setting.value) ?? setting.place);
}

/** Reports a refusal at the first of the keys that is written; the other keys and the GPU count become related places. */
export function refuse(
  context: Context,
  code: FindingCode,
  message: string,
  keys: readonly MegatronKey[],
  aboutWorld = false,
): void {
  const places = keys.flatMap((key): readonly RelatedPlace[] => {
    const range = placeOf(context, key);
    const setting = given(context, key);
    if (range === null || setting === undefined) return [];
    const value = setting.value.value;
    return [{ message: value === null || value === 'true' ? setting.spelled : `${setting.spelled} ${value}`, range }];
  });
  const related = [...places, ...(aboutWorld ? context.input.worldParts : [])];
  const [first, ...rest] = related;
  context.findings.push({
    code,
    severity: FINDING_CODES[code].severity,
    message,
    range: first?.range ?? context.input.anchor,
    related: rest,
    fixes: [],
  });
}

/** The default of a key that is not written, unless it may be given elsewhere. */
export function defaulted<T>(context: Context, key: MegatronKey, value: T, why: string, say?: string): Sourced<T> {
  const { elsewhere, passed } = context.input;
  return elsewhere === null
    ? byDefault(value, `Megatron-LM: ${why}${passed === null ? '' : ` (${passed} may add it)`}`)
    : unknown(`${flagOf(key)}, which may be given in ${elsewhere}`, say);
}

const INTEGER = /^\s*[+-]?\p{Nd}+(?:_\p{Nd}+)*\s*$/u;
const DIGIT = /\p{Nd}/u;

/** A whole number as Python's `int` reads it: in the digits of any script, and with `_` between them; NaN for others. */
function pythonInteger(text: string): number {
  return INTEGER.test(text) ? Number(text.replaceAll('_', '').replace(/\p{Nd}/gu, asciiDigit)) : Number.NaN;
}

/** Unicode has the ten digits of a script in a row, from zero on. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0)!;
  let before = 0;
  while (DIGIT.test(String.fromCodePoint(code - before - 1))) before++;
  return String(before % 10);
}

/**
 * The number of a key as Python's `int` reads it. Null where the key is not written. A text that is no number, or a
 * number below `least`, is refused and unknown.
 */
export function numberOf(context: Context, key: MegatronKey, least: number, say?: string): Sourced<number> | null {
  const setting = given(context, key);
  if (setting === undefined) return null;
  const { value, source } = setting.value;
  if (value === null) {
    return say === undefined || source.say !== undefined ? setting.value : { value, source: { ...source, say } };
  }
  const range = placeOf(context, key) ?? undefined;
  const number = pythonInteger(value);
  if (Number.isSafeInteger(number) && number >= least) return { value: number, source } as Known<number>;
  if (!context.refused.has(key)) {
    context.refused.add(key);
    const shown = value.length > 40 ? `${value.slice(0, 40)}…` : value;
    const message = Number.isNaN(number)
      ? `argument ${setting.spelled}: invalid int value: '${shown}'`
      : `${setting.spelled} takes a whole number from ${least}, not ${shown}`;
    refuse(context, 'invalid-value', message, [key]);
  }
  return unknown(`a number for ${setting.spelled}`, say, range);
}

/** The number of a key, or the framework's default. */
export function numberOr(
  context: Context,
  key: MegatronKey,
  least: number,
  fallback: number,
  why: string,
  say?: string,
): Sourced<number> {
  return numberOf(context, key, least, say) ?? defaulted(context, key, fallback, why, say);
}

export function textOf(context: Context, key: MegatronKey): Sourced<string> | null {
  return given(context, key)?.value ?? null;
}
