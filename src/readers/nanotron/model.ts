/**
 * The model of a nanotron config and its split over ranks, which nanotron balances by the cost of each block. Mirrors
 * huggingface/nanotron at 2411b022: src/nanotron/config/models_config.py, src/nanotron/models/base.py, and
 * examples/{moe/llamoe.py,mamba/mamba.py} for the models that live there.
 */

import { type NanotronCosts, nanotronSplit, nanotronVocabulary } from '../../frameworks/nanotron-split.ts';
import type { Finding } from '../../model/finding.ts';
import type { Experts, ModelShape, Said, StageContent } from '../../model/plan.ts';
import {
  byDefault,
  derived,
  firstUnknown,
  rangeOf,
  type Sourced,
  type TextRange,
  unknown,
} from '../../model/source.ts';
import { finding } from '../limits.ts';
import { saidNumber } from '../said.ts';
import { has, type TreeNode } from '../tree.ts';
import { booleanAt, numberAt, textAt, WHOLE, WHOLE_OR_ZERO } from '../values.ts';

const CONFIG = 'model.model_config';

export type NanotronFamily = 'glu' | 'starcoder2' | 'mamba';

export function familyOf(root: TreeNode): NanotronFamily {
  if (has(root, `${CONFIG}.is_starcoder2_config`)) return 'starcoder2';
  return has(root, `${CONFIG}.is_mamba_config`) || has(root, `${CONFIG}.d_model`) ? 'mamba' : 'glu';
}

export function nanotronModel(root: TreeNode, said: Said, findings: Finding[]): ModelShape {
  const family = familyOf(root);
  const number = (key: string, what: string, say: string, absent?: Sourced<number>) =>
    saidNumber(
      said,
      say,
      numberAt(root, `${CONFIG}.${key}`, WHOLE, absent ?? unknown(`the ${what} of the model`, say), findings),
    );
  const hidden = number(family === 'mamba' ? 'd_model' : 'hidden_size', 'hidden size', 'model.hidden');
  const heads = number('num_attention_heads', 'attention heads', 'model.heads');
  const kvName = family === 'starcoder2' ? 'num_kv_heads' : 'num_key_value_heads';
  return {
    layers: number('num_hidden_layers', 'layers', 'model.layers'),
    hidden,
    heads,
    kvHeads: number(kvName, 'key-value heads', 'model.kvHeads', ownOr(heads, 'nanotron: as many as attention heads')),
    ffn: number('intermediate_size', 'feed-forward width', 'model.ffn', defaultWidth(family, hidden)),
    gated: byDefault(
      family === 'glu',
      `nanotron: ${family === 'glu' ? 'llama and qwen2 have' : 'it has no'} gated MLP`,
    ),
    vocabulary: number('vocab_size', 'vocabulary', 'model.vocabulary'),
    recompute: recompute(root, findings),
    dtype: textAt(root, 'model.dtype', unknown('the precision'), findings),
    experts: expertsOf(root, findings),
  };
}

function ownOr(value: Sourced<number>, why: string): Sourced<number> {
  return value.value === null ? value : byDefault(value.value, why);
}

function defaultWidth(family: NanotronFamily, hidden: Sourced<number>): Sourced<number> {
  return family === 'starcoder2' && hidden.value !== null
    ? byDefault(4 * hidden.value, 'nanotron: 4 × hidden size when intermediate_size is absent')
    : unknown('the feed-forward width of the model', 'model.ffn');
}

function recompute(root: TreeNode, findings: Finding[]): ModelShape['recompute'] {
  const layer = booleanAt(
    root,
    'parallelism.recompute_layer',
    byDefault(false, 'nanotron: no recompute when recompute_layer is absent'),
    findings,
  );
  return layer.value === null ? layer : { ...layer, value: layer.value ? 'full' : 'none' };
}

/** qwen2 keeps its experts in `moe_config`, the llama example at the top. */
function expertsOf(root: TreeNode, findings: Finding[]): Experts | null {
  const number = (key: string, absent: Sourced<number>) => numberAt(root, `${CONFIG}.${key}`, WHOLE, absent, findings);
  if (has(root, `${CONFIG}.moe_num_experts`)) {
    return {
      count: number('moe_num_experts', unknown('the experts')),
      topK: number('num_experts_per_tok', unknown('the experts per token')),
      ffn: number('intermediate_size', unknown('the width of an expert')),
      shared: byDefault(0, 'nanotron: no shared expert in this model'),
    };
  }
  if (!has(root, `${CONFIG}.moe_config`)) return null;
  const shared = booleanAt(root, `${CONFIG}.moe_config.enable_shared_expert`, byDefault(false, 'nanotron'), findings);
  const width = byDefault(5632, 'nanotron: 5632 when absent');
  return {
    count: number('moe_config.num_experts', byDefault(8, 'nanotron: 8 when absent')),
    topK: number('moe_config.top_k', byDefault(2, 'nanotron: 2 when absent')),
    ffn: number('moe_config.moe_intermediate_size', byDefault(1408, 'nanotron: 1408 when absent')),
    shared:
      shared.value === true
        ? number('moe_config.shared_expert_intermediate_size', width)
        : byDefault(0, 'nanotron: no shared expert unless enable_shared_expert'),
  };
}

/** More ranks than any run has; a list of them would only cost time. */
const MAX_RANKS = 65_536;
const MAX_LAYERS = 1_000_000;

export interface NanotronSplitInput {
  readonly root: TreeNode;
  readonly model: ModelShape;
  readonly pp: Sourced<number>;
  readonly tp: Sourced<number>;
  readonly anchor: TextRange;
}

/** What each rank holds; ranks that the split leaves empty are a finding. */
export function nanotronStages(
  { root, model, pp, tp, anchor }: NanotronSplitInput,
  findings: Finding[],
): Sourced<readonly StageContent[]> {
  const { layers } = model;
  if (pp.value === null) return pp;
  if (layers.value === null) return layers;
  if (pp.value === 1) {
    return derived([{ layers: layers.value, embedding: true, head: true, mtp: 0 }], 'no pipeline: one rank holds all', [
      'layers',
    ]);
  }
  const costs = blockCosts(root, model, tp, findings);
  if ('value' in costs) return costs;
  if (pp.value > MAX_RANKS || layers.value > MAX_LAYERS) return unknown('a split that can be listed');
  const stages = nanotronSplit(pp.value, layers.value, costs);
  const empty = stages.filter((stage, rank) => rank > 0 && stage.layers === 0 && !stage.head).length;
  if (empty > 0) {
    const related = rangeOf(layers);
    const message = `${empty} of ${pp.value} ranks hold no layer and no head: nanotron moves on only after a whole block, and there are ${layers.value} layers`;
    const places = related === null ? [] : [{ message: 'layers', range: related }];
    findings.push({ ...finding('split-invalid', message, anchor, places), severity: 'warning' });
  }
  const head = costs.layer === 0 ? '' : `, the head counts as ${(costs.head / costs.layer).toFixed(2)} layers`;
  return derived(stages, `nanotron's split by block cost${head}`, ['layers', 'pp']);
}

/** Cost of a layer and of the head as nanotron counts them; an unknown where the shape does not tell. */
function blockCosts(
  root: TreeNode,
  model: ModelShape,
  tp: Sourced<number>,
  findings: Finding[],
): NanotronCosts | (Sourced<never> & { readonly value: null }) {
  const family = familyOf(root);
  if (family === 'mamba') return { layer: 1, head: 0 };
  const { hidden, heads, ffn, vocabulary } = model;
  const divisible = numberAt(root, 'model.make_vocab_size_divisible_by', WHOLE_OR_ZERO, byDefault(1, '1'), findings);
  const missing = firstUnknown([hidden, heads, ffn, vocabulary, divisible, tp]);
  if (missing !== null) return missing;
  if (hidden.value === null || heads.value === null || ffn.value === null || vocabulary.value === null) {
    return unknown("the model's shape");
  }
  const perHead = Math.floor(hidden.value / heads.value);
  const matrices = family === 'glu' ? 3 : 2;
  const padded = nanotronVocabulary(vocabulary.value, Math.max(1, divisible.value ?? 1), tp.value ?? 1);
  return {
    layer: 4 * heads.value * perHead * hidden.value + matrices * ffn.value * hidden.value,
    head: padded * hidden.value,
  };
}
