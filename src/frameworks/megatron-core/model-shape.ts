/**
 * The model's shape with Megatron's own defaults, each with its reason. Mirrors NVIDIA/Megatron-LM@d98e8a64dd
 * megatron/training/arguments.py (the feed-forward default) and megatron/core/transformer/transformer_config.py.
 */

import type { Experts, ModelShape } from '../../model/plan.ts';
import { byDefault, derived, fromText, type Sourced, unknown } from '../../model/source.ts';
import { type Context, defaulted, given, isOn, numberOf, placeOf, refuse, textOf } from './context.ts';
import type { MegatronKey } from './keys.ts';

export function resolveShape(context: Context, layers: Sourced<number>): ModelShape {
  const hidden =
    numberOf(context, 'hidden', 1, 'model.hidden') ?? unknown('the hidden size (--hidden-size)', 'model.hidden');
  const heads =
    numberOf(context, 'heads', 1, 'model.heads') ??
    unknown('the attention heads (--num-attention-heads)', 'model.heads');
  const gated = switchValue(context, 'swiglu');
  const ffn = numberOf(context, 'ffn', 1, 'model.ffn') ?? defaultFfn(hidden, gated);
  return {
    layers,
    hidden,
    heads,
    kvHeads: kvHeads(context, heads),
    ffn,
    gated,
    vocabulary:
      numberOf(context, 'vocabulary', 1, 'model.vocabulary') ??
      unknown('the vocabulary (--vocab-size)', 'model.vocabulary'),
    recompute: recompute(context),
    dtype: dtype(context),
    experts: experts(context, ffn),
  };
}

function switchValue(context: Context, key: MegatronKey): Sourced<boolean> {
  const on = isOn(context, key);
  const setting = given(context, key);
  if (on === true && setting !== undefined && placeOf(context, key) !== null && setting.value.value !== null)
    return { value: true, source: setting.value.source };
  if (on === null) return unknown(`whether --${key} is given`);
  return defaulted(context, key, on === true, `off when --${key} is absent`);
}

function kvHeads(context: Context, heads: Sourced<number>): Sourced<number> {
  const grouped = isOn(context, 'groupQuery');
  if (grouped === null) return unknown('whether --group-query-attention is given', 'model.kvHeads');
  if (grouped) {
    return (
      numberOf(context, 'queryGroups', 1, 'model.kvHeads') ??
      byDefault(1, 'Megatron-LM: 1 query group when --num-query-groups is absent')
    );
  }
  const direct = given(context, 'queryGroups');
  if (direct !== undefined && direct.place === null) return numberOf(context, 'queryGroups', 1) ?? heads;
  return heads.value === null
    ? heads
    : derived(heads.value, 'as many as heads without --group-query-attention', ['heads']);
}

function defaultFfn(hidden: Sourced<number>, gated: Sourced<boolean>): Sourced<number> {
  if (hidden.value === null || gated.value === null)
    return unknown('the feed-forward size (--ffn-hidden-size)', 'model.ffn');
  if (!gated.value)
    return derived(4 * hidden.value, `Megatron-LM: 4 x ${hidden.value} when --ffn-hidden-size is absent`, ['hidden']);
  const size = Math.trunc((4 * hidden.value * 2) / 3 / 64) * 64;
  return derived(size, `Megatron-LM: int(4 x ${hidden.value} x 2/3 / 64) x 64 with --swiglu`, ['hidden']);
}

function recompute(context: Context): Sourced<'none' | 'selective' | 'full'> {
  const activations = isOn(context, 'recomputeActivations');
  const place = placeOf(context, 'recomputeActivations');
  if (activations === true && place !== null) return fromText('selective', place);
  const granularity = textOf(context, 'recomputeGranularity');
  if (granularity === null) {
    if (activations === null) return unknown('whether --recompute-activations is given', 'model.recompute');
    return defaulted(
      context,
      'recomputeGranularity',
      'none',
      'no recomputation when --recompute-granularity is absent',
    );
  }
  const { value, source } = granularity;
  if (value === null) return granularity;
  if (value === 'full' || value === 'selective' || (value === 'none' && source.kind === 'assumed'))
    return { value, source };
  const message = `argument --recompute-granularity: invalid choice: '${value.slice(0, 40)}' (choose from 'full', 'selective')`;
  refuse(context, 'invalid-value', message, ['recomputeGranularity']);
  return unknown('the recompute granularity', 'model.recompute');
}

function dtype(context: Context): Sourced<string> {
  const [bf16, fp16] = [isOn(context, 'bf16'), isOn(context, 'fp16')];
  if (bf16 === true && fp16 === true)
    refuse(context, 'options-conflict', '--fp16 and --bf16 exclude each other (assert not args.bf16)', [
      'fp16',
      'bf16',
    ]);
  if (bf16 === null || fp16 === null) return unknown('the number format', 'model.dtype');
  const key = bf16 ? 'bf16' : fp16 ? 'fp16' : null;
  if (key === null)
    return defaulted(context, 'bf16', 'fp32', 'fp32 when neither --bf16 nor --fp16 is given', 'model.dtype');
  const low = (['fp8', 'fp4'] as const).find((each) => given(context, each) !== undefined);
  const place = placeOf(context, key);
  const note = low === undefined ? undefined : `matrix products in ${low}`;
  return place === null ? byDefault(key, 'as said') : fromText(key, place, note);
}

function experts(context: Context, ffn: Sourced<number>): Experts | null {
  const amount = numberOf(context, 'experts', 0);
  if (amount === null || amount.value === 0) return null;
  const each = numberOf(context, 'moeFfn', 1) ?? ffn;
  const shared = numberOf(context, 'sharedFfn', 0);
  return {
    count: amount,
    topK: numberOf(context, 'topK', 1) ?? defaulted(context, 'topK', 2, '2 when --moe-router-topk is absent'),
    ffn: each,
    shared: sharedExperts(context, shared, each),
  };
}

/** Megatron gives the width of the shared expert; as a number of experts it is that width over one expert's. */
function sharedExperts(context: Context, shared: Sourced<number> | null, each: Sourced<number>): Sourced<number> {
  if (shared === null) return defaulted(context, 'sharedFfn', 0, 'no shared expert');
  if (shared.value === null || each.value === null) return unknown('the width of the shared expert');
  return derived(shared.value / each.value, `${shared.value} / ${each.value}`, ['ffn']);
}
