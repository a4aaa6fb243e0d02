/**
 * How nanotron places pipeline blocks on ranks: in order, moving to the next rank after the block at which the running
 * cost exceeds the rank's share of the total. Mirrors huggingface/nanotron at 2411b022: `build_model` in
 * src/nanotron/models/base.py, `get_block_compute_costs` in src/nanotron/models/{llama,qwen,starcoder2}.py, and
 * `_vocab_size_with_padding` in src/nanotron/helpers.py.
 */

import type { StageContent } from '../model/plan.ts';

export interface NanotronCosts {
  /** Multiply-adds per token of one decoder layer, and of the head. Norms, embedding, cast and loss cost nothing. */
  readonly layer: number;
  readonly head: number;
}

/** The model's vocabulary as nanotron builds it: rounded up so that it divides over the tensor-parallel ranks. */
export function nanotronVocabulary(vocabulary: number, divisibleBy: number, tp: number): number {
  const multiple = divisibleBy * tp;
  return Math.ceil(vocabulary / multiple) * multiple;
}

/** What each of `pp` ranks holds; trailing ranks hold nothing where the blocks run out. */
export function nanotronSplit(pp: number, layers: number, costs: NanotronCosts): readonly StageContent[] {
  const total = layers * costs.layer + costs.head;
  const counts = new Array<number>(pp).fill(0);
  let rank = 0;
  let running = 0;
  const place = (cost: number) => {
    running += cost;
    if (running > total * ((rank + 1) / pp)) rank++;
  };
  // The embedding comes first and costs nothing, so it never moves on; the norm before the head can.
  for (let layer = 0; layer < layers; layer++) {
    counts[rank]!++;
    place(costs.layer);
  }
  place(0);
  const head = rank;
  return counts.map((count, r) => ({ layers: count, embedding: r === 0, head: r === head, mtp: 0 }));
}
