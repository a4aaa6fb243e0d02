/**
 * NeMo 1 and the NeMo framework launcher: Hydra YAML with `trainer` and `model`. Keys and defaults as in NVIDIA/NeMo
 * examples/nlp/language_modeling/conf/megatron_gpt_config.yaml, resolvers as in NVIDIA/NeMo-Framework-Launcher@26e42fa9
 * launcher_scripts/main.py. `model.virtual_pipeline_model_parallel_size` counts stages, not layers.
 */

import { fromText, type Sourced, unknown } from '../model/source.ts';
import { finding } from './limits.ts';
import { hasSection, isYaml, sectionHolds } from './mcore/claims.ts';
import { isOn, mapAt, placeIn, wordAt } from './mcore/config.ts';
import type { Interpolation } from './mcore/interpolate.ts';
import { type Document, mcoreReader, type View } from './mcore/reader.ts';
import {
  both,
  CONFIG_NAMES,
  groupedByCount,
  type Settings,
  type Spelling,
  settingsOf,
  under,
} from './mcore/settings.ts';
import { type WorldKeys, worldOf } from './mcore/world.ts';
import { stem } from './megatron-lm/plan.ts';
import { entryAt, has, nodeAt, type TreeNode } from './tree.ts';

const SPELLING: Spelling = both(under('model', CONFIG_NAMES), {
  microBatch: ['model.micro_batch_size', 'model.data.train_ds.micro_batch_size'],
  globalBatch: ['model.global_batch_size', 'model.data.train_ds.global_batch_size'],
  rampup: ['model.rampup_batch_size'],
  sequence: ['model.encoder_seq_length', 'model.data.seq_length', 'model.data.train_ds.max_seq_length'],
  vocabulary: ['model.override_vocab_size'],
  recomputeGranularity: ['model.activations_checkpoint_granularity'],
  trainIters: ['trainer.max_steps'],
});

const WORLD: WorldKeys = {
  perNode: 'trainer.devices',
  nodes: 'trainer.num_nodes',
  defaults: { perNode: 1, nodes: 1, why: 'NeMo: 1 when it is absent' },
};

/** Folders of the launcher whose files have the same sections and do not train. */
const NOT_TRAINING = /(?:^|\/)(?:conversion|convert|export|evaluation|fw_inference)[^/]*\//;

function claims(path: string, text: string): boolean {
  return (
    isYaml(path) &&
    text.includes('pipeline_model_parallel_size') &&
    hasSection(text, 'trainer') &&
    sectionHolds(text, 'model', 'pipeline_model_parallel_size') &&
    !hasSection(text, 'distributed_strategy') &&
    !sectionHolds(text, 'trainer', 'strategy') &&
    !NOT_TRAINING.test(path)
  );
}

/** Precision of the trainer, as Lightning spells it. */
export function withPrecision(settings: Settings, root: TreeNode, path: string): void {
  const node = nodeAt(root, path);
  const word = wordAt(root, path)?.toLowerCase();
  if (word === undefined || node.kind !== 'scalar') return;
  const key = /^bf16|^bfloat16/.test(word) ? 'bf16' : /^(?:16|fp16|float16)/.test(word) ? 'fp16' : null;
  if (key === null) return;
  settings.set(key, { value: fromText('true', node.range), spelled: path, place: node.range });
}

/** `fast-swiglu`, `geglu`: the feed-forward has a gate. */
function withActivation(settings: Settings, root: TreeNode): void {
  const node = nodeAt(root, 'model.activation');
  if (node.kind !== 'scalar') return;
  const gated = /glu$/i.test(String(node.value));
  settings.set('swiglu', { value: fromText(String(gated), node.range), spelled: 'activation', place: node.range });
}

/** Where there is an encoder and a decoder, each with layers of its own, they are no one stack. */
function withEncoderDecoder(settings: Settings, root: TreeNode): void {
  const entry = entryAt(root, 'model.decoder.num_layers');
  if (entry === null || !has(root, 'model.encoder.num_layers')) return;
  const value: Sourced<string> = unknown(
    'the layers of one stack: this model has an encoder and a decoder',
    'model.layers',
  );
  settings.set('layers', { value, spelled: 'num_layers', place: entry.keyRange });
}

function views({ file, root }: Document): readonly View[] {
  if (mapAt(root, 'model') === null || !has(root, 'model.pipeline_model_parallel_size')) return [];
  const interpolation: Interpolation = { root, dialect: 'omegaconf' };
  const settings = settingsOf(interpolation, SPELLING);
  withPrecision(settings, root, 'trainer.precision');
  withActivation(settings, root);
  withEncoderDecoder(settings, root);
  groupedByCount(settings);
  for (const [key, what, say] of [
    ['microBatch', 'the micro batch size (model.micro_batch_size)', 'batch.micro'],
    ['globalBatch', 'the global batch size (model.global_batch_size)', 'batch.global'],
  ] as const) {
    if (!settings.has(key)) settings.set(key, { value: unknown(what, say), spelled: what, place: null });
  }
  return [
    {
      id: 'main',
      name: wordAt(root, 'run.name') ?? wordAt(root, 'name') ?? stem(file),
      settings,
      spelling: SPELLING,
      interpolation,
      world: worldOf(interpolation, WORLD),
      worldKeys: WORLD,
      elsewhere: null,
      near: placeIn(file, root, ['model.pipeline_model_parallel_size', 'model']),
      finish: (plan) => {
        const virtual = settings.get('virtualStages');
        if (virtual?.place == null || isOn(root, 'model.megatron_amp_O2') || (plan.vpp.value ?? 1) === 1) return plan;
        const message = 'Virtual pipeline model parallel is only supported when using megatron_amp_O2';
        const place = placeIn(file, root, ['model.virtual_pipeline_model_parallel_size']) ?? plan.anchor;
        const related = placeIn(file, root, ['model.megatron_amp_O2']);
        const places = related === null ? [] : [{ message: 'megatron_amp_O2', range: related }];
        return { ...plan, findings: [...plan.findings, finding('options-conflict', message, place, places)] };
      },
    },
  ];
}

export const nemoReader = mcoreReader({
  id: 'nemo',
  title: 'NeMo 1 and launcher YAML',
  name: 'NeMo',
  files: ['**/*.yaml', '**/*.yml'],
  claims,
  views,
});
