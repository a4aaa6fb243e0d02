/**
 * Megatron's hybrid layer pattern, `M-M-|M-M*-/MM/MM`: one letter a layer, `|` between pipeline segments, `/` before
 * each multi-token-prediction depth. Mirrors NVIDIA/Megatron-LM@d98e8a64dd
 * megatron/core/models/hybrid/hybrid_layer_allocation.py.
 */

const VALID = 'MG*D+-E';

export type HybridParse =
  | {
      readonly ok: true;
      readonly segments: readonly number[];
      readonly layers: number;
      readonly mtpDepths: number;
    }
  | { readonly ok: false; readonly reason: string };

/** Layers per segment and the number of prediction depths, or Megatron's reason against the pattern. */
export function parseHybridPattern(pattern: string): HybridParse {
  const [main = '', ...mtp] = pattern.split('/');
  const reason = checkLetters(main, 'main', true) ?? checkDepths(mtp);
  if (reason !== null) return { ok: false, reason };
  const segments = main.split('|').map((segment) => segment.length);
  const mtpDepths = mtp.every((each) => each === '') ? 0 : mtp.length;
  return { ok: true, segments, layers: segments.reduce((sum, each) => sum + each, 0), mtpDepths };
}

function checkDepths(mtp: readonly string[]): string | null {
  const [first] = mtp;
  if (first === undefined || mtp.every((each) => each === '')) return null;
  const other = mtp.findIndex((each) => each !== first);
  if (other > 0) {
    return `All MTP patterns must be identical. Pattern 1 is '${first}', but pattern ${other + 1} is '${mtp[other]}'.`;
  }
  return checkLetters(first, 'MTP', false);
}

function checkLetters(pattern: string, name: string, pipes: boolean): string | null {
  const wrong = [...pattern].find((letter) => !VALID.includes(letter) && !(pipes && letter === '|'));
  if (wrong !== undefined)
    return `In ${name} pattern, '${wrong}' is not a valid layer symbol. Valid symbols are: ${[...VALID].join(' ')}`;
  return pattern.includes('*') && /[D+]/.test(pattern)
    ? 'Not supported to have both Attention and MLA/DSA in one model'
    : null;
}
