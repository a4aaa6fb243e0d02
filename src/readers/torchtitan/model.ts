/**
 * The model of a torchtitan config: its shape by flavor, and what recompute and precision say. Mirrors
 * pytorch/torchtitan torchtitan/config/job_config.py (Model, ActivationCheckpoint, Training).
 */

import type { Experts, ModelShape } from '../../model/plan.ts';
import { byDefault, fromText, rangeOf, type Sourced, type TextRange, unknown } from '../../model/source.ts';
import { type Flavor, modelFlavor } from '../model-flavors.ts';
import { saidNumber } from '../said.ts';
import { choiceAt, textAt } from '../values.ts';
import type { TitanConfig } from './config.ts';

const RECOMPUTE = ['none', 'selective', 'full', 'memory_budget'] as const;

export function titanModel(config: TitanConfig): ModelShape {
  const { root, findings } = config;
  const name = textAt(root, 'model.name', byDefault('llama3', 'torchtitan: llama3 when absent'), findings);
  const flavor = textAt(root, 'model.flavor', byDefault('debugmodel', 'torchtitan: debugmodel when absent'), findings);
  const found =
    name.value === null || flavor.value === null ? null : modelFlavor(name.value, flavor.value, config.era === 'count');
  const range = rangeOf(flavor) ?? rangeOf(name);
  const label = `${name.value ?? '?'} ${flavor.value ?? '?'}`;
  const shape = (key: 'layers' | 'hidden' | 'heads' | 'kvHeads' | 'ffn' | 'vocabulary', what: string) =>
    fromFlavor(found?.[key] ?? null, `${what} of ${label}`, `model.${key}`, label, range);
  return {
    layers: saidNumber(config.said, 'model.layers', shape('layers', 'the layers')),
    hidden: shape('hidden', 'the hidden size'),
    heads: shape('heads', 'the attention heads'),
    kvHeads: shape('kvHeads', 'the key-value heads'),
    ffn: shape('ffn', 'the feed-forward width'),
    gated: byDefault(true, "torchtitan's language models have a gated feed-forward"),
    vocabulary: shape('vocabulary', 'the vocabulary'),
    recompute: recompute(config),
    dtype: textAt(root, 'training.mixed_precision_param', byDefault('bfloat16', 'torchtitan: bfloat16'), findings),
    experts: experts(found, label, range),
  };
}

/** From the registry: the token is the flavor's, and the note says that the figure is not in the file. */
function fromFlavor(
  value: number | null,
  missing: string,
  say: string,
  label: string,
  range: TextRange | null,
): Sourced<number> {
  if (value === null) return unknown(missing, say, range ?? undefined);
  const note = `${label} in the registry of torchtitan's flavors`;
  return range === null ? byDefault(value, note) : fromText(value, range, note);
}

function experts(found: Flavor | null, label: string, range: TextRange | null): Experts | null {
  if (found?.experts == null) return null;
  const { count, topK, ffn, shared } = found.experts;
  const value = (n: number) => fromFlavor(n, '', '', label, range);
  return { count: value(count), topK: value(topK), ffn: value(ffn), shared: value(shared) };
}

function recompute(config: TitanConfig): ModelShape['recompute'] {
  const absent = byDefault('selective' as const, 'torchtitan: activation_checkpoint.mode is selective when absent');
  const mode = choiceAt(config.root, 'activation_checkpoint.mode', RECOMPUTE, absent, config.findings);
  if (mode.value === null) return mode;
  return mode.value === 'memory_budget'
    ? unknown('what a memory budget recomputes', undefined, rangeOf(mode) ?? undefined)
    : { ...mode, value: mode.value };
}
