/**
 * The `config.json` of a local Hugging Face model, as a companion: the shape of the model with the place of every
 * figure. Keys as in huggingface/transformers' configurations; a model for pictures keeps its language model below
 * `text_config` or `llm_config`.
 */

import type { MegatronKey } from '../../frameworks/megatron-core/keys.ts';
import { fromText, type TextRange } from '../../model/source.ts';
import { readJsonc } from '../jsonc/read.ts';
import { candidates } from '../shell/paths.ts';
import { nodeAt, type TreeNode } from '../tree.ts';
import { type Companions, mapAt, need } from './config.ts';
import type { Settings } from './settings.ts';

const NAMES: Readonly<Partial<Record<MegatronKey, readonly string[]>>> = {
  layers: ['num_hidden_layers', 'n_layer', 'num_layers'],
  hidden: ['hidden_size', 'n_embd'],
  heads: ['num_attention_heads', 'n_head'],
  queryGroups: ['num_key_value_heads', 'multi_query_group_num'],
  ffn: ['intermediate_size', 'ffn_hidden_size'],
  vocabulary: ['vocab_size', 'padded_vocab_size'],
  experts: ['num_experts', 'n_routed_experts', 'num_local_experts'],
  topK: ['num_experts_per_tok', 'experts_per_token'],
  moeFfn: ['moe_intermediate_size'],
  sharedFfn: ['shared_expert_intermediate_size'],
};

/** Where the config of a model that is named by a path may lie; empty for a name that is no path. */
function configPaths(name: string, from: string): readonly string[] {
  if (!/^\.{1,2}\/|^[^/]+\/[^/]+\/./.test(name)) return [];
  return candidates(`${name.replace(/\/+$/, '')}/config.json`, from);
}

/** Fills in what the local model's own config says; false where there is none at hand. Needs the `jsonc` parser. */
export function withLocalModel(
  settings: Settings,
  companions: Companions,
  model: { readonly name: string; readonly range: TextRange } | null,
): boolean {
  if (model === null) return false;
  const paths = configPaths(model.name, companions.file);
  const path = paths.find((each) => Object.hasOwn(companions.texts, each));
  if (path === undefined) {
    // A script is started in the root or beside its config: one of the places is enough.
    for (const [i, each] of paths.entries())
      need(companions, each, i === 0 && model.name.startsWith('.') ? 'named' : 'looked for');
    return false;
  }
  const { root } = readJsonc(path, companions.texts[path]!);
  const shape = mapAt(root, 'text_config') ?? mapAt(root, 'llm_config') ?? root;
  let found = false;
  for (const [key, names] of Object.entries(NAMES) as [MegatronKey, readonly string[]][]) {
    const node = firstNumber(shape, names);
    if (node === null || settings.has(key)) continue;
    found = true;
    const value = fromText(node.text, node.range, 'from the model');
    settings.set(key, { value, spelled: names[0]!, place: node.range });
    if (key === 'queryGroups' && !settings.has('groupQuery'))
      settings.set('groupQuery', { value: fromText('true', node.range), spelled: names[0]!, place: node.range });
  }
  return found;
}

function firstNumber(
  root: TreeNode,
  names: readonly string[],
): { readonly text: string; readonly range: TextRange } | null {
  for (const name of names) {
    const node = nodeAt(root, name);
    if (node.kind === 'scalar' && typeof node.value === 'number') return node;
  }
  return null;
}
