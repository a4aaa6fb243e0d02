/**
 * Override YAML of Megatron-Bridge (`model`, `train`, `dataset` … as in its ConfigContainer) and of NeMo 2
 * (`trainer.strategy`, `data`). The Python recipe that a file overrides gives everything else, so what is not written
 * here is not known. Mirrors NVIDIA-NeMo/Megatron-Bridge@067f987df src/megatron/bridge/training/config.py and
 * NVIDIA/NeMo@8cfedd7203 nemo/lightning/pytorch/strategies/megatron_strategy.py.
 */

import { hasInner, hasSection, isYaml, sectionHolds } from './mcore/claims.ts';
import { mapAt, placeIn } from './mcore/config.ts';
import { withLocalModel } from './mcore/hugging-face.ts';
import type { Interpolation } from './mcore/interpolate.ts';
import { type Document, mcoreReader, type View } from './mcore/reader.ts';
import {
  both,
  CONFIG_NAMES,
  groupedByCount,
  type Spelling,
  settingsOf,
  under,
  withNamedModel,
} from './mcore/settings.ts';
import { noWorld, type WorldKeys, worldOf } from './mcore/world.ts';
import { stem } from './megatron-lm/plan.ts';
import { has, nodeAt } from './tree.ts';

const BRIDGE: Spelling = both(under('model', CONFIG_NAMES), {
  microBatch: ['train.micro_batch_size'],
  globalBatch: ['train.global_batch_size'],
  rampup: ['train.rampup_batch_size'],
  sequence: ['dataset.seq_length', 'dataset.sequence_length'],
  trainIters: ['train.train_iters'],
  trainSamples: ['train.train_samples'],
});

const NEMO2: Spelling = both(under('trainer.strategy', CONFIG_NAMES), under('model.config', CONFIG_NAMES), {
  microBatch: ['data.micro_batch_size'],
  globalBatch: ['data.global_batch_size'],
  sequence: ['data.seq_length', 'model.config.seq_length'],
  trainIters: ['trainer.max_steps'],
});

const NEMO2_WORLD: WorldKeys = {
  perNode: 'trainer.devices',
  nodes: 'trainer.num_nodes',
  defaults: { perNode: null, nodes: null, why: '' },
};

const BESIDE = ['optimizer', 'scheduler', 'dataset', 'ddp', 'dist', 'checkpoint', 'logger'] as const;

function claims(path: string, text: string): boolean {
  if (!isYaml(path) || !text.includes('pipeline_model_parallel_size')) return false;
  if (hasSection(text, 'train') && !hasSection(text, 'trainer'))
    return sectionHolds(text, 'model', 'pipeline_model_parallel_size') && BESIDE.some((key) => hasSection(text, key));
  return sectionHolds(text, 'trainer', 'strategy') && hasInner(text, 'pipeline_model_parallel_size');
}

function views({ file, root, companions }: Document): readonly View[] {
  const isNemo2 = mapAt(root, 'trainer.strategy') !== null;
  const section = isNemo2 ? 'trainer.strategy' : 'model';
  if (!has(root, `${section}.pipeline_model_parallel_size`)) return [];
  const spelling = isNemo2 ? NEMO2 : BRIDGE;
  const interpolation: Interpolation = { root, dialect: 'omegaconf' };
  const settings = settingsOf(interpolation, spelling);
  groupedByCount(settings);
  const name = ['model.hf_model_id', 'hf_model_id', 'model.hf_path', 'tokenizer.tokenizer_model']
    .map((path) => nodeAt(root, path))
    .find((node) => node.kind === 'scalar' && typeof node.value === 'string');
  const model = name?.kind === 'scalar' ? { name: String(name.value), range: name.range } : null;
  withLocalModel(settings, companions, model);
  if (model !== null) withNamedModel(settings, model);
  return [
    {
      id: 'main',
      name: stem(file),
      settings,
      spelling,
      interpolation,
      world: isNemo2
        ? worldOf(interpolation, NEMO2_WORLD)
        : noWorld('the GPU count, which the launcher of the recipe gives'),
      worldKeys: isNemo2 ? NEMO2_WORLD : null,
      // What NeMo-Run exported is whole: it names the class, whose defaults hold.
      elsewhere: has(root, `${section}._target_`) ? null : 'the recipe that this file overrides',
      near: placeIn(file, root, [`${section}.pipeline_model_parallel_size`, section]),
    },
  ];
}

export const megatronBridgeReader = mcoreReader({
  id: 'megatron-bridge',
  title: 'Megatron-Bridge and NeMo 2 override YAML',
  name: 'Megatron-core',
  files: ['**/*.yaml', '**/*.yml'],
  claims,
  views,
});
