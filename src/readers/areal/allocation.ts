/**
 * AReaL's backend strings: `megatron:d4p2t2`, and for mixtures of experts `megatron:(attn:d4p4t2|ffn:d2p4e4)`. Letters
 * are data, pipeline, tensor, context and expert sizes. Mirrors inclusionAI/AReaL@4aef98d8d areal/api/alloc_mode.py.
 */

/** One size with the place of its number in the string. */
export interface Dimension {
  readonly value: number;
  readonly at: number;
  readonly length: number;
}

export type Dimensions = ReadonlyMap<string, Dimension>;

export type Allocation =
  | { readonly ok: true; readonly attention: Dimensions; readonly experts: Dimensions | null }
  | { readonly ok: false; readonly reason: string };

const PLAIN = /^\s*megatron(?:\[\w+\])?:((?:\s*[dptce]\s*[1-9]\d{0,8})+)\s*$/;
const HYBRID =
  /^\s*megatron(?:\[\w+\])?:\s*\(?\s*attn\s*:((?:\s*[cdtp]\s*[1-9]\d{0,8})+)\s*\|\s*ffn\s*:((?:\s*[detp]\s*[1-9]\d{0,8})+)\s*\)?\s*$/;

/** Whether a backend string is Megatron's at all. */
export function isMegatron(text: string): boolean {
  return /^\s*megatron(?:\[\w+\])?:/.test(text);
}

export function parseAllocation(text: string): Allocation {
  if (text.length > 400) return { ok: false, reason: 'the backend string is too long' };
  const plain = PLAIN.exec(text);
  if (plain !== null) return { ok: true, attention: dimensions(text, plain[1]!), experts: null };
  const hybrid = HYBRID.exec(text);
  if (hybrid === null) {
    return {
      ok: false,
      reason: `AReaL cannot parse the backend "${text.slice(0, 60)}": letters d, p, t, c, e with a number from 1 each`,
    };
  }
  const attention = dimensions(text, hybrid[1]!);
  const experts = dimensions(text, hybrid[2]!, text.indexOf('|'));
  const [p, q] = [attention.get('p')?.value ?? 1, experts.get('p')?.value ?? 1];
  if (p !== q)
    return {
      ok: false,
      reason: `Pipeline parallel size for attention and FFN modules must be identical: ${p} and ${q}`,
    };
  return { ok: true, attention, experts };
}

function dimensions(text: string, part: string, from = 0): Dimensions {
  const start = text.indexOf(part, from);
  return new Map(
    [...part.matchAll(/([dptce])\s*(\d+)/g)].map((found) => {
      const at = start + found.index + found[0].length - found[2]!.length;
      return [found[1]!, { value: Number(found[2]), at, length: found[2]!.length }];
    }),
  );
}
