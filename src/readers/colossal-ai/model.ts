/**
 * The model of a script that builds on Hugging Face: a config class with its figures (`LlamaConfig(num_hidden_layers=…)`)
 * or a name (`AutoConfig.from_pretrained("…")`), whose shape the registry has.
 */

import type { ModelShape, Said } from '../../model/plan.ts';
import { byDefault, fromText, type Sourced, unknown } from '../../model/source.ts';
import { type KnownModel, modelByName } from '../model-registry.ts';
import type { Program } from '../python/program.ts';
import { besideSite, type Site } from '../python/sites.ts';
import { treeOf } from '../python/tree.ts';
import { lastPart, type PyObject, partAt, textOf } from '../python/value.ts';
import { saidNumber } from '../said.ts';
import type { TreeNode } from '../tree.ts';
import { numberAt, WHOLE } from '../values.ts';

const KEYS = {
  layers: ['num_hidden_layers', 'n_layer', 'num_layers'],
  hidden: ['hidden_size', 'n_embd'],
  heads: ['num_attention_heads', 'n_head'],
  kvHeads: ['num_key_value_heads'],
  ffn: ['intermediate_size', 'n_inner'],
  vocabulary: ['vocab_size'],
} as const;

export function colossalModel(program: Program, site: Site, said: Said): ModelShape {
  const config = besideSite(
    program,
    site,
    (each) => /Config$/.test(lastPart(each.callee)) && KEYS.layers.some((key) => each.fields.has(key)),
  );
  const named = config === null ? besideSite(program, site, isNamed) : null;
  const name = named === null ? null : nameIn(named);
  const known = name === null ? null : modelByName(name.text);
  const tree = config === null ? null : treeOf(config);
  const figure = (key: keyof typeof KEYS, what: string): Sourced<number> =>
    saidNumber(
      said,
      `model.${key}`,
      (tree === null ? null : written(tree, KEYS[key])) ?? registered(known, key, what, name),
    );
  return {
    layers: figure('layers', 'the layers'),
    hidden: figure('hidden', 'the hidden size'),
    heads: figure('heads', 'the attention heads'),
    kvHeads: figure('kvHeads', 'the key-value heads'),
    ffn: figure('ffn', 'the feed-forward size'),
    gated:
      known === null
        ? unknown('whether the feed-forward is gated')
        : byDefault(true, `${known.label} has a gated feed-forward`),
    vocabulary: figure('vocabulary', 'the vocabulary'),
    recompute: unknown('whether gradient checkpointing is on', 'model.recompute'),
    dtype: precision(site.record.object),
    experts: null,
  };
}

function written(tree: TreeNode, names: readonly string[]): Sourced<number> | null {
  const absent = unknown('');
  for (const name of names) {
    const found = numberAt(tree, name, WHOLE, absent, []);
    if (found !== absent) return found;
  }
  return null;
}

function isNamed(object: PyObject): boolean {
  return /(?:Config|Model\w*|LM|Classification)\.from_pretrained$/.test(object.callee) && nameIn(object) !== null;
}

function nameIn(object: PyObject) {
  const value = object.positional[0] ?? partAt(object, 'pretrained_model_name_or_path');
  const text = textOf(value);
  if (text === null || value?.kind !== 'scalar') return null;
  return { text, range: value.source?.kind === 'text' ? value.source.range : value.range };
}

function registered(
  known: KnownModel | null,
  key: keyof typeof KEYS,
  what: string,
  name: ReturnType<typeof nameIn>,
): Sourced<number> {
  if (known === null || name === null)
    return unknown(name === null ? `${what} of the model` : `${what} of ${name.text}`, `model.${key}`, name?.range);
  return fromText(known[key], name.range, `${known.label} in the model registry, from ${known.source}`);
}

function precision(plugin: PyObject): Sourced<string> {
  const value = partAt(plugin, 'precision');
  const text = textOf(value);
  if (value === undefined) return byDefault('fp16', 'Colossal-AI: precision is fp16 when absent');
  return text === null || !('range' in value)
    ? unknown('the number format', 'model.dtype')
    : fromText(text, value.range);
}
