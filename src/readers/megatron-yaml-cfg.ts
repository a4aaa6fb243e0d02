/**
 * The file of Megatron-LM's `--yaml-cfg`: `language_model` and `model_parallel` maps with the batch beside them. Other
 * arguments are then ignored. Mirrors NVIDIA/Megatron-LM@d98e8a64dd megatron/training/yaml_arguments.py: `${NAME}`
 * needs the environment, sizes larger than the world are cut to it, and interleaving needs more than two ranks.
 */

import { fromText, rangeOf, unknown } from '../model/source.ts';
import { finding } from './limits.ts';
import { hasSection, isYaml } from './mcore/claims.ts';
import { mapAt, placeIn } from './mcore/config.ts';
import type { Interpolation } from './mcore/interpolate.ts';
import { type Document, mcoreReader, type View } from './mcore/reader.ts';
import {
  ATTRIBUTE_NAMES,
  both,
  CONFIG_NAMES,
  groupedByCount,
  type Spelling,
  settingsOf,
  under,
} from './mcore/settings.ts';
import { noWorld } from './mcore/world.ts';
import { stem } from './megatron-lm/plan.ts';
import { nodeAt } from './tree.ts';

const SPELLING: Spelling = both(under('model_parallel', CONFIG_NAMES), under('language_model', CONFIG_NAMES), {
  ...ATTRIBUTE_NAMES,
  virtualStages: [],
  bf16: ['model_parallel.bf16'],
  fp16: ['model_parallel.fp16'],
});

function claims(path: string, text: string): boolean {
  return isYaml(path) && hasSection(text, 'model_parallel') && hasSection(text, 'language_model');
}

function views({ file, root }: Document): readonly View[] {
  if (mapAt(root, 'model_parallel') === null || mapAt(root, 'language_model') === null) return [];
  const interpolation: Interpolation = { root, dialect: 'environment' };
  const settings = settingsOf(interpolation, SPELLING);
  // Virtual stages are computed from the layers of each; a number that is written is overwritten.
  settings.delete('virtualStages');
  groupedByCount(settings);
  const activation = nodeAt(root, 'language_model.activation_func');
  if (activation.kind === 'scalar' && activation.value === 'swiglu') {
    settings.set('swiglu', {
      value: fromText('true', activation.range),
      spelled: 'activation_func',
      place: activation.range,
    });
  }
  if (!settings.has('microBatch')) {
    const value = unknown('the micro batch size (micro_batch_size)', 'batch.micro');
    settings.set('microBatch', { value, spelled: 'micro_batch_size', place: null });
  }
  return [
    {
      id: 'main',
      name: stem(file),
      settings,
      spelling: { ...SPELLING, virtualStages: [] },
      interpolation,
      world: noWorld('the GPU count, which the launcher of the script gives'),
      worldKeys: null,
      elsewhere: null,
      commandLine: true,
      near: placeIn(file, root, ['model_parallel']),
      finish: (plan) => {
        const each = settings.get('layersPerVirtualStage');
        if (each === undefined || plan.pp.value === null || plan.pp.value > 2) return plan;
        const message = 'pipeline-model-parallel size should be greater than 2 with interleaved schedule';
        const place = rangeOf(each.value) ?? plan.anchor;
        const related = [{ message: `pipeline_model_parallel_size ${plan.pp.value}`, range: plan.anchor }];
        return { ...plan, findings: [...plan.findings, finding('schedule-not-legal', message, place, related)] };
      },
    },
  ];
}

export const megatronYamlCfg = mcoreReader({
  id: 'megatron-yaml-cfg',
  title: 'Megatron-LM --yaml-cfg files',
  name: 'Megatron-LM',
  files: ['**/*.yaml', '**/*.yml'],
  claims,
  views,
});
