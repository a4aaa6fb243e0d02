/**
 * The models that OLMo-core's `TransformerConfig` has by name (`TransformerConfig.smallmoe(…)`), with what a call
 * replaces. Figures as in allenai/OLMo-core@fa6c5014c src/olmo_core/nn/transformer/config.py.
 */

import type { ModelShape, Said } from '../../model/plan.ts';
import { byDefault, fromText, type Sourced, unknown } from '../../model/source.ts';
import { treeOf } from '../python/tree.ts';
import { lastPart, type PyObject, partAt } from '../python/value.ts';
import { saidNumber } from '../said.ts';
import { numberAt, WHOLE } from '../values.ts';

type Row = readonly [layers: number, hidden: number, heads: number, kvHeads: number];

const FACTORIES: Readonly<Record<string, Row>> = {
  olmo2_190M: [12, 768, 12, 12],
  olmo2_370M: [16, 1024, 16, 16],
  olmo2_600M: [16, 1344, 16, 16],
  olmo2_760M: [16, 1536, 16, 16],
  olmo2_1B: [18, 2048, 16, 16],
  olmo2_1B_v2: [16, 2048, 16, 16],
  olmo2_3B: [16, 3328, 16, 16],
  olmo2_7B: [32, 4096, 32, 32],
  olmo2_13B: [40, 5120, 40, 40],
  olmo2_32B: [64, 5120, 40, 8],
  smallmoe: [12, 768, 12, 12],
  small_hybrid_moe: [12, 768, 12, 12],
  olmoe_1B_7B: [16, 2048, 16, 16],
  ngpt_271M: [16, 1024, 16, 16],
  ngpt_1B: [18, 2048, 16, 16],
  llama2_271M: [16, 1024, 8, 8],
  llama2_1B: [18, 2048, 16, 16],
  llama2_7B: [32, 4096, 32, 32],
  llama2_13B: [40, 5120, 40, 40],
  llama2_26B: [80, 5120, 40, 40],
  llama2_70B: [80, 8192, 64, 8],
  llama3_1B: [16, 2048, 32, 8],
  llama3_8B: [32, 4096, 32, 8],
  llama3_70B: [80, 8196, 64, 8],
  llama3_405B: [126, 16384, 128, 8],
};

const NAMES = { layers: 'n_layers', hidden: 'd_model', heads: 'n_heads', kvHeads: 'n_kv_heads' } as const;

export function olmoModel(model: PyObject | null, said: Said, train: PyObject | null): ModelShape {
  const name = model === null ? '' : lastPart(model.callee);
  const row = Object.hasOwn(FACTORIES, name) ? FACTORIES[name]! : null;
  const tree = model === null ? null : treeOf(model);
  const figure = (key: keyof typeof NAMES, index: number, what: string): Sourced<number> => {
    const missing = unknown(model === null ? what : `${what} of ${name}`, `model.${key}`, model?.range);
    const note = `${name} in the model registry, from OLMo-core's TransformerConfig`;
    const known = row === null || model === null ? missing : fromText(row[index]!, model.range, note);
    const given = tree === null ? known : numberAt(tree, NAMES[key], WHOLE, known, []);
    return saidNumber(said, `model.${key}`, given);
  };
  const ac = partAt(train ?? undefined, 'ac_config');
  return {
    layers: figure('layers', 0, 'the layers'),
    hidden: figure('hidden', 1, 'the hidden size'),
    heads: figure('heads', 2, 'the attention heads'),
    kvHeads: figure('kvHeads', 3, 'the key-value heads'),
    ffn: saidNumber(said, 'model.ffn', unknown('the feed-forward size', 'model.ffn')),
    gated: byDefault(true, "OLMo-core's models have a gated feed-forward"),
    vocabulary: saidNumber(
      said,
      'model.vocabulary',
      unknown('the vocabulary, which the tokenizer has', 'model.vocabulary'),
    ),
    recompute:
      ac === undefined || (ac.kind === 'scalar' && ac.value === null)
        ? byDefault('none', 'OLMo-core: none without ac_config')
        : unknown('what the activation checkpointing recomputes', 'model.recompute'),
    dtype: byDefault('bf16', 'OLMo-core trains in bf16'),
    experts: null,
  };
}
