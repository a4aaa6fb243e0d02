/**
 * The work of the model's parts in units of one transformer layer's forward pass, counted in multiply-adds per token.
 * Dense matrices do the same work in F, I and W; attention scores have no weights, so no W, and twice the work in I.
 * Sources: Narayanan et al. 2021 (arXiv 2104.04473, appendix: FLOPs of a transformer layer and of the logit layer),
 * Qi et al. 2023 (arXiv 2401.10241, table 1: F, B and W of a layer).
 */

import type { ModelShape } from '../model/plan.ts';

/** Times of one pass, in forward times of one layer. */
export interface PassWork {
  readonly forward: number;
  readonly backwardInput: number;
  readonly backwardWeight: number;
}

export interface ModelWork {
  readonly layer: PassWork;
  /** Final norm, output head and loss; null where the shape does not tell. */
  readonly head: PassWork | null;
  readonly how: string;
}

const EQUAL: PassWork = { forward: 1, backwardInput: 1, backwardWeight: 1 };

/**
 * @param sequence tokens per sample; null leaves the attention scores out.
 */
export function modelWork(model: ModelShape, sequence: number | null): ModelWork {
  const weights = layerWeights(model);
  if (weights === null) {
    return { layer: EQUAL, head: null, how: "a layer's F, I and W equal; the head's share is not known" };
  }
  const scores = sequence === null || model.hidden.value === null ? 0 : sequence * model.hidden.value;
  const unit = weights + scores;
  const layer = { forward: 1, backwardInput: (weights + 2 * scores) / unit, backwardWeight: weights / unit };
  const vocabulary = model.vocabulary.value;
  if (vocabulary === null || model.hidden.value === null) {
    return { layer, head: null, how: "layers from the model's shape; the head's share is not known (vocabulary ?)" };
  }
  const share = (vocabulary * model.hidden.value) / unit;
  const head = { forward: share, backwardInput: share, backwardWeight: share };
  return { layer, head, how: `layers from the model's shape; the head counts as ${share.toFixed(2)} layers` };
}

/** Multiply-adds per token in the matrices of one layer (causal attention, experts that are active); null if unknown. */
function layerWeights(model: ModelShape): number | null {
  const { hidden, heads, kvHeads, ffn, gated } = model;
  if (hidden.value === null) return null;
  const groups = kvHeads.value !== null && heads.value !== null && heads.value > 0 ? kvHeads.value / heads.value : 1;
  const attention = hidden.value * hidden.value * (2 + 2 * groups);
  const width = activeFfn(model) ?? ffn.value;
  if (width === null) return null;
  return attention + (gated.value === true ? 3 : 2) * hidden.value * width;
}

/** Width of the experts that one token passes: the routed ones and the shared ones, which count in the same width. */
function activeFfn(model: ModelShape): number | null {
  const { experts } = model;
  if (experts === null || experts.topK.value === null) return null;
  const width = experts.ffn.value ?? model.ffn.value;
  if (width === null) return null;
  return (experts.topK.value + (experts.shared.value ?? 0)) * width;
}
