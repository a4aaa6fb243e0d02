/**
 * From a framework's spelling to Megatron-core's keys: one table per framework says under which dotted paths each key
 * may stand. Also what a model name or a local `config.json` tells of the shape, where the config itself is silent.
 */

import { MEGATRON_KEYS, type MegatronKey, type Setting } from '../../frameworks/megatron-core/keys.ts';
import { byDefault, fromText, type Sourced, type TextRange, unknown } from '../../model/source.ts';
import { modelByName } from '../model-registry.ts';
import { entryAt, type ListNode, type TreeNode } from '../tree.ts';
import { isHalfWritten } from '../values.ts';
import { type Interpolation, textOf } from './interpolate.ts';

/** Dotted paths of each key, the one that counts most first. */
export type Spelling = Readonly<Partial<Record<MegatronKey, readonly string[]>>>;

export type Settings = Map<MegatronKey, Setting>;

const KEYS = Object.keys(MEGATRON_KEYS) as readonly MegatronKey[];

/** Names of Megatron's command line, with `_` for `-`: FlagScale, Primus. */
export const ARGUMENT_NAMES: Spelling = Object.fromEntries(
  // The number of microbatches has no flag: it follows from the batches.
  KEYS.filter((key) => key !== 'microbatches').map((key) => [key, [MEGATRON_KEYS[key].flag.replaceAll('-', '_')]]),
);

/** The same without the options that only a command line refuses for being old. */
export const ATTRIBUTE_NAMES: Spelling = Object.fromEntries(
  Object.entries(ARGUMENT_NAMES).filter(([key]) => !key.startsWith('old')),
);

/** Names of `ModelParallelConfig` and `TransformerConfig`, where they are not those of the command line. */
export const CONFIG_NAMES: Spelling = {
  pp: ['pipeline_model_parallel_size'],
  tp: ['tensor_model_parallel_size'],
  cp: ['context_parallel_size'],
  ep: ['expert_model_parallel_size'],
  etp: ['expert_tensor_parallel_size'],
  virtualStages: ['virtual_pipeline_model_parallel_size'],
  layout: ['pipeline_model_parallel_layout'],
  firstLayers: ['num_layers_in_first_pipeline_stage'],
  lastLayers: ['num_layers_in_last_pipeline_stage'],
  accountEmbedding: ['account_for_embedding_in_pipeline_split'],
  accountLoss: ['account_for_loss_in_pipeline_split'],
  groupSize: ['microbatch_group_size_per_vp_stage'],
  layers: ['num_layers'],
  mtpLayers: ['mtp_num_layers'],
  hybridPattern: ['hybrid_layer_pattern'],
  hybridOverride: ['hybrid_override_pattern'],
  hidden: ['hidden_size'],
  heads: ['num_attention_heads'],
  queryGroups: ['num_query_groups'],
  ffn: ['ffn_hidden_size'],
  vocabulary: ['vocab_size'],
  sequence: ['seq_length'],
  recomputeGranularity: ['recompute_granularity'],
  experts: ['num_moe_experts'],
  topK: ['moe_router_topk'],
  moeFfn: ['moe_ffn_hidden_size'],
  sharedFfn: ['moe_shared_expert_intermediate_size'],
  overlapExperts: ['overlap_moe_expert_parallel_comm'],
};

/** The same names below a section: `under('policy.megatron_cfg', CONFIG_NAMES)`. */
export function under(section: string, names: Spelling): Spelling {
  return Object.fromEntries(
    Object.entries(names).map(([key, paths]) => [key, paths.map((path) => `${section}.${path}`)]),
  );
}

/** Several spellings of one framework; of a key that two give, the paths of the first count more. */
export function both(...spellings: readonly Spelling[]): Spelling {
  const result: Partial<Record<MegatronKey, readonly string[]>> = {};
  for (const spelling of spellings) {
    for (const key of KEYS) {
      const paths = spelling[key];
      if (paths !== undefined) result[key] = [...(result[key] ?? []), ...paths];
    }
  }
  return result;
}

export function settingsOf(interpolation: Interpolation, spelling: Spelling): Settings {
  const settings: Settings = new Map();
  for (const key of KEYS) {
    const setting = settingAt(interpolation, spelling[key] ?? [], MEGATRON_KEYS[key].takes === 'switch');
    // -1 is Lightning's and transformers' way to say that something else ends the run.
    const noSteps = key === 'trainIters' && Number(setting?.value.value ?? 1) <= 0;
    if (setting !== null && !noSteps) settings.set(key, setting);
  }
  return settings;
}

/** The first of the paths that holds a value; null is the framework's way to say nothing. */
function settingAt(interpolation: Interpolation, paths: readonly string[], isSwitch: boolean): Setting | null {
  for (const path of paths) {
    const entry = entryAt(interpolation.root, path);
    if (entry === null) continue;
    const value = isHalfWritten(entry.value)
      ? unknown(`a value for ${path}`, undefined, entry.keyRange)
      : settingValue(entry.value, path, interpolation);
    if (value === null) continue;
    return { value: isSwitch ? switchOf(value) : value, spelled: entry.key, place: entry.keyRange };
  }
  return null;
}

function settingValue(node: TreeNode, path: string, interpolation: Interpolation): Sourced<string> | null {
  if (node.kind === 'list') return layoutOf(node) ?? unknown(`one value for ${path}`, undefined, node.range);
  if (node.kind === 'map') return unknown(`one value for ${path}`, undefined, { ...node.range, length: 0 });
  if (node.kind === 'missing' || node.value === null) return null;
  const value = textOf(node, path, interpolation);
  return value.value !== null && /^(?:null|none|~)$/i.test(value.value) ? null : value;
}

/** YAML 1.1, which PyYAML reads, has more words for on and off than YAML 1.2. */
function switchOf(value: Sourced<string>): Sourced<string> {
  if (value.value === null) return value;
  return { ...value, value: /^(?:true|yes|on|1)$/i.test(value.value) ? 'true' : 'false' };
}

const LETTERS: Readonly<Record<string, string>> = { embedding: 'E', decoder: 't', mtp: 'm', loss: 'L' };

/** A layout as a list of stages, each a list of layer names, as Megatron's layout string. */
function layoutOf(list: ListNode): Sourced<string> | null {
  const stages = list.items.map((stage) => {
    if (stage.kind !== 'list') return null;
    const letters = stage.items.map((item) =>
      item.kind === 'scalar' && typeof item.value === 'string' && Object.hasOwn(LETTERS, item.value)
        ? LETTERS[item.value]!
        : null,
    );
    return letters.includes(null) ? null : letters.join('');
  });
  return stages.length === 0 || stages.includes(null)
    ? null
    : fromText(stages.join('|'), list.range, 'a list of stages');
}

/** A default of the framework that differs from Megatron's own, where nothing is written. */
export function withDefaults(
  settings: Settings,
  defaults: Readonly<Partial<Record<MegatronKey, string>>>,
  why: string,
) {
  for (const key of KEYS) {
    const value = defaults[key];
    if (value !== undefined && !settings.has(key)) {
      settings.set(key, { value: byDefault(value, why), spelled: MEGATRON_KEYS[key].flag, place: null });
    }
  }
}

/** `num_query_groups` alone groups the queries; only Megatron's command line asks for a switch beside it. */
export function groupedByCount(settings: Settings): void {
  const groups = settings.get('queryGroups');
  if (groups === undefined || settings.has('groupQuery')) return;
  settings.set('groupQuery', {
    ...groups,
    value: { ...groups.value, value: groups.value.value === null ? null : 'true' } as Sourced<string>,
  });
}

export interface NamedModel {
  readonly name: string;
  readonly range: TextRange;
}

/** The shape behind a model's name, for the keys that nothing gives. */
export function withNamedModel(settings: Settings, model: NamedModel | null): void {
  const known = model === null ? null : modelByName(model.name);
  if (model === null) return;
  if (known === null) {
    const missing = unknown(
      `the layers of ${shortName(model.name)}, which the model registry does not hold`,
      'model.layers',
      model.range,
    );
    if (!settings.has('layers')) settings.set('layers', { value: missing, spelled: 'layers', place: model.range });
    return;
  }
  const note = `${known.label} in the model registry, from ${known.source}`;
  const fill = (key: MegatronKey, value: number | string) => {
    if (settings.has(key)) return;
    settings.set(key, {
      value: fromText(String(value), model.range, note),
      spelled: shortName(model.name),
      place: model.range,
    });
  };
  fill('layers', known.layers);
  fill('hidden', known.hidden);
  fill('heads', known.heads);
  fill('queryGroups', known.kvHeads);
  fill('groupQuery', 'true');
  fill('ffn', known.ffn);
  fill('vocabulary', known.vocabulary);
  fill('swiglu', 'true');
  if (known.experts === null) return;
  fill('experts', known.experts.count);
  fill('topK', known.experts.topK);
  fill('moeFfn', known.experts.ffn);
  if (known.experts.shared > 0) fill('sharedFfn', known.experts.shared);
}

function shortName(name: string): string {
  const last = name.replace(/\/+$/, '').split('/').at(-1) ?? name;
  return last.length > 60 ? `${last.slice(0, 60)}…` : last;
}
