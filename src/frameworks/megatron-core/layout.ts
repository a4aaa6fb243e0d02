/**
 * Megatron's layout string, `Et*3|(tt|)*29,m|L`: which layers each stage holds. The grammar is exact: commas are
 * dropped, `(…)*n` and then `x*n` are unrolled, and `|` parts the stages, which lie vpp-major (stage i is chunk
 * i / pp of rank i % pp). Mirrors NVIDIA/Megatron-LM@d98e8a64dd
 * megatron/core/transformer/pipeline_parallel_layer_layout.py.
 */

/** Letters of an unrolled layout; no model comes near it. */
const MAX_LETTERS = 100_000;

const NAMES: Readonly<Record<string, string>> = { E: 'embedding', L: 'loss', t: 'decoder', m: 'mtp' };

export type LayoutParse =
  | { readonly ok: true; readonly stages: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/** The stages of a layout string as strings of `E`, `t`, `m` and `L`, or Megatron's reason against it. */
export function parseLayout(text: string): LayoutParse {
  const plain = text.replaceAll(',', '');
  const groups = unroll(plain, /\(([^)]+)\)\*(\d+)/g);
  const letters = groups === null ? null : unroll(groups, /([^\n])\*(\d+)/g);
  if (letters === null) return { ok: false, reason: `the layout unrolls to more than ${MAX_LETTERS} layers` };
  const stages = letters.split('|');
  for (const stage of stages) {
    const wrong = [...stage].find((letter) => !Object.hasOwn(NAMES, letter));
    if (wrong !== undefined) {
      const shown = stage.length > 40 ? `${stage.slice(0, 40)}…` : stage;
      return {
        ok: false,
        reason: `Invalid layer character: ${wrong} (stage='${shown}'), known layer characters: ['E', 'L', 't', 'm']`,
      };
    }
  }
  return { ok: true, stages };
}

/** Repeats what `pattern` finds; null when the result would grow past MAX_LETTERS. */
function unroll(text: string, pattern: RegExp): string | null {
  const parts: string[] = [];
  let length = 0;
  let reached = 0;
  const add = (part: string, times: number): boolean => {
    length += part.length * times;
    if (length > MAX_LETTERS) return false;
    parts.push(part.repeat(times));
    return true;
  };
  for (const found of text.matchAll(pattern)) {
    if (!add(text.slice(reached, found.index), 1) || !add(found[1]!, Number(found[2]))) return null;
    reached = found.index + found[0].length;
  }
  return add(text.slice(reached), 1) ? parts.join('') : null;
}

interface LayoutExpectation {
  readonly pp: number;
  /** null: not known, so not compared. */
  readonly layers: number | null;
  readonly mtpLayers: number | null;
}

/** Megatron's first reason against a parsed layout; null when it is legal. */
export function checkLayout(stages: readonly string[], { pp, layers, mtpLayers }: LayoutExpectation): string | null {
  if (stages.length % pp !== 0) {
    return `The length of pipeline_model_parallel_layout must be divisible by pipeline_model_parallel_size (num_stages=${stages.length}, pipeline_model_parallel_size=${pp})`;
  }
  const flat = stages.join('');
  if (flat[0] !== 'E') return `The first layer must be embedding, but got ${NAMES[flat[0] ?? ''] ?? 'nothing'}`;
  if (flat.at(-1) !== 'L') return `The last layer must be loss, but got ${NAMES[flat.at(-1) ?? ''] ?? 'nothing'}`;
  if (count(flat, 'E') !== 1) return 'Embedding must be specified exactly once';
  if (count(flat, 'L') !== 1) return 'Loss must be specified exactly once';
  if (layers !== null && count(flat, 't') !== layers) {
    return `Number of decoder layers ${count(flat, 't')} must match num_layers ${layers}`;
  }
  return checkMtp(stages, flat, pp, mtpLayers);
}

function checkMtp(stages: readonly string[], flat: string, pp: number, expected: number | null): string | null {
  const layers = count(flat, 'm');
  if (expected !== null && layers !== expected) {
    return `Number of mtp layers in layout must match mtp_num_layers (${layers} in the layout, mtp_num_layers=${expected})`;
  }
  if (layers === 0) return null;
  if (flat.indexOf('m') < flat.lastIndexOf('t')) return 'decoder layers must be placed before MTP layers';
  const vpp = stages.length / pp;
  const early = stages.findIndex((stage, i) => Math.floor(i / pp) < vpp - 1 && stage.includes('m'));
  if (early >= 0) {
    return `Currently we restrict that the MTP should be always in the last virtual pipeline stage of that rank. But got ${stages[early]}`;
  }
  if (stages.some((stage) => stage.includes('m') && count(stage, 'm') !== layers)) {
    return 'All of the MTP layers must be in the same one virtual pipeline stage';
  }
  return null;
}

export function count(text: string, letter: string): number {
  return text.split(letter).length - 1;
}
