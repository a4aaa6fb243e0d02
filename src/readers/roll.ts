/**
 * ROLL: one YAML for a whole reinforcement-learning run, with a section per worker. Workers on `megatron_train` are
 * trained and have a plan each; those on `megatron_infer` only run forwards. Mirrors alibaba/ROLL@8eb27cc2
 * roll/configs/{worker_config,training_args}.py, roll/distributed/strategy/megatron_strategy.py and
 * mcore_adapter/src/mcore_adapter/models/model_config.py.
 */

import { derived, fromText, type Sourced, unknown } from '../model/source.ts';
import { isYaml } from './mcore/claims.ts';
import { innerRange, isOn, placeIn, wordAt } from './mcore/config.ts';
import { withLocalModel } from './mcore/hugging-face.ts';
import { type Interpolation, textOf } from './mcore/interpolate.ts';
import { type Document, mcoreReader, type View } from './mcore/reader.ts';
import {
  both,
  CONFIG_NAMES,
  groupedByCount,
  type Spelling,
  settingsOf,
  under,
  withDefaults,
  withNamedModel,
} from './mcore/settings.ts';
import { noWorld, type World } from './mcore/world.ts';
import { stem } from './megatron-lm/plan.ts';
import { has, nodeAt } from './tree.ts';

function spellingOf(worker: string): Spelling {
  return both(under(`${worker}.strategy_args.strategy_config`, CONFIG_NAMES), {
    microBatch: [`${worker}.training_args.per_device_train_batch_size`],
    microbatches: [`${worker}.training_args.gradient_accumulation_steps`],
  });
}

function claims(path: string, text: string): boolean {
  return (
    isYaml(path) &&
    text.includes('strategy_config:') &&
    /strategy_name:[ \t]*["']?megatron_(?:train|infer)\b/.test(text)
  );
}

function views(document: Document): readonly View[] {
  const { root } = document;
  if (root.kind !== 'map') return [];
  return [...root.entries.keys()].flatMap((worker) => {
    const strategy = wordAt(root, `${worker}.strategy_args.strategy_name`);
    if (strategy === 'megatron_train') return [viewOf(document, worker, true)];
    return strategy === 'megatron_infer' ? [viewOf(document, worker, false)] : [];
  });
}

function viewOf({ file, root, companions }: Document, worker: string, trains: boolean): View {
  const interpolation: Interpolation = { root, dialect: 'omegaconf' };
  const spelling = spellingOf(worker);
  const settings = settingsOf(interpolation, spelling);
  withDefaults(settings, { etp: '1' }, 'ROLL: 1 when expert_tensor_parallel_size is absent');
  if (trains) {
    const why = 'ROLL: the default of its TrainingArguments';
    withDefaults(settings, { microBatch: '8', microbatches: '1' }, why);
  } else if (!settings.has('microBatch')) {
    settings.set('microBatch', { value: unknown('the micro batch size'), spelled: 'infer_batch_size', place: null });
  }
  groupedByCount(settings);
  const model = modelOf(interpolation, worker);
  withLocalModel(settings, companions, model);
  withNamedModel(settings, model);
  return {
    id: worker === 'actor_train' ? 'main' : worker,
    name: `${stem(file)}: ${worker}`,
    settings,
    spelling,
    interpolation,
    world: worldOf(interpolation, `${worker}.device_mapping`),
    worldKeys: null,
    elsewhere: null,
    near: placeIn(file, root, [`${worker}.strategy_args.strategy_config`, `${worker}.strategy_args`, worker]),
    dynamic: trains
      ? dynamic(interpolation, worker)
      : `the number of microbatches: ${worker} only runs forwards, as many as its batch has`,
    edit: (_, { key, value }) =>
      key === 'cluster.gpus' ? deviceEdit(interpolation, worker, Number(value)) : undefined,
  };
}

function dynamic({ root }: Interpolation, worker: string): string | null {
  for (const key of ['use_dynamic_batching_in_train', 'use_sequence_packing']) {
    if (isOn(root, `${worker}.${key}`))
      return `the number of microbatches: ${worker}.${key} makes it depend on the lengths of the sequences`;
  }
  return null;
}

/** The worker's own model; else the run's: rewards and critics may have another one. */
function modelOf(interpolation: Interpolation, worker: string) {
  const role = worker.replace(/_train$/, '');
  const own = worker === 'critic' || worker === 'reward' ? 'reward_pretrain' : `${role}_pretrain`;
  const shared = [own, ...(worker === 'teacher' ? [] : ['pretrain'])];
  for (const path of [`${worker}.model_args.model_name_or_path`, ...shared]) {
    const node = nodeAt(interpolation.root, path);
    if (node.kind !== 'scalar' || node.value === null) continue;
    const text = textOf(node, path, interpolation);
    if (text.value !== null)
      return { name: text.value, range: text.source.kind === 'text' ? text.source.range : node.range };
  }
  return null;
}

const RANGE = /^\s*list\(\s*range\(\s*(?:(\d{1,7})\s*,\s*)?(\d{1,7})\s*\)\s*\)\s*$/;

/** Devices of `list(range(0,16))`, `[0, 1]` and sums of them; null for any other expression. */
export function deviceCount(text: string): number | null {
  let count = 0;
  if (text.length > 10_000) return null;
  for (const part of text.split('+')) {
    const range = RANGE.exec(part);
    const list = /^\s*(?:list\(\s*)?\[\s*(\d+(?:\s*,\s*\d+)*)?\s*,?\s*\]\s*\)?\s*$/.exec(part);
    if (range !== null) count += Math.max(0, Number(range[2]) - Number(range[1] ?? 0));
    else if (list !== null) count += list[1] === undefined ? 0 : list[1].split(',').length;
    else return null;
  }
  return count;
}

function worldOf(interpolation: Interpolation, path: string): World {
  const node = nodeAt(interpolation.root, path);
  const none = noWorld(`the GPU count (${path})`);
  if (node.kind === 'list') {
    const gpus = fromText(node.items.length, node.range, `${node.items.length} devices`);
    return { ...none, gpus, parts: [{ message: path, range: node.range }] };
  }
  if (node.kind !== 'scalar' || node.value === null) return none;
  const text = textOf(node, path, interpolation);
  const count = text.value === null ? null : deviceCount(text.value);
  if (text.value === null || count === null || count < 1)
    return noWorld(`the GPU count: devices of ${(text.value ?? node.text).slice(0, 60)}`);
  const range = innerRange(node);
  const gpus: Sourced<number> =
    text.source.kind === 'text' ? fromText(count, range, `${count} devices`) : derived(count, text.value, []);
  const perNode = nodeAt(interpolation.root, 'num_gpus_per_node');
  return {
    gpus,
    gpusPerNode:
      perNode.kind === 'scalar' && typeof perNode.value === 'number' && perNode.value >= 1
        ? fromText(perNode.value, perNode.range)
        : none.gpusPerNode,
    parts: [{ message: `${path} ${count}`, range }],
  };
}

/** The end of `range(a,b)`. */
function deviceEdit({ root }: Interpolation, worker: string, gpus: number) {
  const node = nodeAt(root, `${worker}.device_mapping`);
  if (node.kind !== 'scalar' || !has(root, `${worker}.device_mapping`) || !Number.isSafeInteger(gpus) || gpus < 1)
    return null;
  const found = RANGE.exec(typeof node.value === 'string' ? node.value : '');
  const range = innerRange(node);
  if (found === null) return null;
  const end = found[2]!;
  const text = String(node.value);
  const offset = range.offset + text.lastIndexOf(end);
  return [{ file: range.file, offset, length: end.length, text: String(Number(found[1] ?? 0) + gpus) }];
}

export const rollReader = mcoreReader({
  id: 'roll',
  title: 'ROLL YAML',
  name: 'ROLL',
  files: ['**/*.yaml', '**/*.yml'],
  claims,
  views,
});
