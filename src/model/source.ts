/**
 * Where a value comes from. Every number that Bubblelens shows carries one of these, so that a hover can link to
 * the token it was read from, and so that an unknown stays visible as `?` instead of turning into a silent default.
 */

/** A range of UTF-16 code units in a decoded file (a BOM counts). `file` is relative to the root, with `/`. */
export interface TextRange {
  readonly file: string;
  readonly offset: number;
  readonly length: number;
}

export type KnownSource =
  | { readonly kind: 'text'; readonly range: TextRange; readonly note?: string }
  | { readonly kind: 'default'; readonly why: string }
  | { readonly kind: 'derived'; readonly how: string; readonly from: readonly string[] }
  | { readonly kind: 'assumed'; readonly by: string }
  | { readonly kind: 'measured'; readonly how: string; readonly range?: TextRange }
  | { readonly kind: 'estimated'; readonly how: string };

/** `missing` says what is not known; `say` is the native dotted key that would tell it (`cluster.gpus`). */
export interface UnknownSource {
  readonly kind: 'unknown';
  readonly missing: string;
  readonly say?: string;
  readonly range?: TextRange;
}

export type Source = KnownSource | UnknownSource;

export interface Known<T> {
  readonly value: T;
  readonly source: KnownSource;
}

export interface Unknown {
  readonly value: null;
  readonly source: UnknownSource;
}

export type Sourced<T> = Known<T> | Unknown;

/** A value read from a token; `note` tells what a reader should know of it ("from a comment"). */
export function fromText<T>(value: T, range: TextRange, note?: string): Known<T> {
  return { value, source: note === undefined ? { kind: 'text', range } : { kind: 'text', range, note } };
}

/** The framework's own default; `why` names it ("Megatron-LM: 1 when the flag is absent"). */
export function byDefault<T>(value: T, why: string): Known<T> {
  return { value, source: { kind: 'default', why } };
}

/** A value computed from others; `from` names plan keys, `how` shows the arithmetic ("64 / (8 x 4)"). */
export function derived<T>(value: T, how: string, from: readonly string[]): Known<T> {
  return { value, source: { kind: 'derived', how, from } };
}

/** A value that somebody said outside the file (a setting, a command, `--set`). */
export function assumed<T>(value: T, by: string): Known<T> {
  return { value, source: { kind: 'assumed', by } };
}

export function unknown(missing: string, say?: string, range?: TextRange): Unknown {
  return {
    value: null,
    source: {
      kind: 'unknown',
      missing,
      ...(say === undefined ? {} : { say }),
      ...(range === undefined ? {} : { range }),
    },
  };
}

/** The token that a value was read from, where there is one. */
export function rangeOf(sourced: Sourced<unknown>): TextRange | null {
  const { source } = sourced;
  return (source.kind === 'text' || source.kind === 'unknown' || source.kind === 'measured') && source.range
    ? source.range
    : null;
}

/** Copies what was derived from an unknown: the first unknown among the inputs explains the result. */
export function firstUnknown(inputs: readonly Sourced<unknown>[]): Unknown | null {
  return inputs.find((input): input is Unknown => input.value === null) ?? null;
}
