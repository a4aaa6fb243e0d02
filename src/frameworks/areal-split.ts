/**
 * How AReaL lays layers on stages: by an exact search that makes the heaviest stage as light as it can be, counted in
 * parameters, embedding and head included. Mirrors inclusionAI/AReaL@4aef98d8d
 * areal/engine/megatron_utils/pipeline_parallel.py (configure_pipeline_layer_splits).
 */

interface ArealWeights {
  /** Parameters of each layer. */
  readonly layers: readonly number[];
  readonly embedding: number;
  readonly head: number;
}

/** Layers of each stage in order; null where no split gives every middle stage a layer. Ties keep the earliest cut. */
export function arealSplit(stages: number, { layers, embedding, head }: ArealWeights): readonly number[] | null {
  const prefix = [0];
  for (const weight of layers) prefix.push(prefix.at(-1)! + weight);
  const total = layers.length;
  let best = [0, ...Array<number>(total).fill(Number.POSITIVE_INFINITY)];
  const choices: number[][] = [];
  for (let stage = 1; stage <= stages; stage++) {
    // A single stage counts the embedding only, as in the source.
    const base = stage === 1 ? embedding : stage === stages ? head : 0;
    const next = Array<number>(total + 1).fill(Number.POSITIVE_INFINITY);
    const choice = Array<number>(total + 1).fill(-1);
    for (let end = 0; end <= total; end++) {
      for (let start = 0; start <= end; start++) {
        if (best[start] === Number.POSITIVE_INFINITY) continue;
        if (stage !== 1 && stage !== stages && start === end) continue;
        const candidate = Math.max(best[start]!, base + prefix[end]! - prefix[start]!);
        if (candidate < next[end]!) {
          next[end] = candidate;
          choice[end] = start;
        }
      }
    }
    best = next;
    choices.push(choice);
  }
  if (best[total] === Number.POSITIVE_INFINITY) return null;
  const lengths: number[] = [];
  let at = total;
  for (let stage = stages - 1; stage >= 0; stage--) {
    const cut = choices[stage]![at]!;
    if (cut < 0) return null;
    lengths.unshift(at - cut);
    at = cut;
  }
  return lengths;
}
