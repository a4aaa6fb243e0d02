/**
 * LLaMA-Factory on Megatron-core: one flat YAML with Hugging Face's names and Megatron's beside them. Only its two
 * Megatron back ends have pipeline keys: mcore_adapter (USE_MCA=1), where the accumulation steps are the microbatches,
 * and Megatron-Bridge (USE_MEGATRON_BRIDGE=1), where expert parallelism divides them. Mirrors
 * hiyouga/LLaMA-Factory@ff6d4d12e src/llamafactory/hparams and alibaba/ROLL@8eb27cc2 mcore_adapter/training_args.py.
 */

import { derived, type Sourced } from '../model/source.ts';
import { finding } from './limits.ts';
import { hasSection, isYaml } from './mcore/claims.ts';
import { placeIn, wordAt } from './mcore/config.ts';
import { withLocalModel } from './mcore/hugging-face.ts';
import type { Interpolation } from './mcore/interpolate.ts';
import { type Document, mcoreReader, type View } from './mcore/reader.ts';
import {
  both,
  CONFIG_NAMES,
  groupedByCount,
  type Settings,
  type Spelling,
  settingsOf,
  withDefaults,
  withNamedModel,
} from './mcore/settings.ts';
import { noWorld } from './mcore/world.ts';
import { stem } from './megatron-lm/plan.ts';
import { has, nodeAt, type TreeNode } from './tree.ts';

const SPELLING: Spelling = both(CONFIG_NAMES, {
  microBatch: ['per_device_train_batch_size'],
  microbatches: ['gradient_accumulation_steps'],
  sequence: ['cutoff_len'],
  bf16: ['bf16'],
  fp16: ['fp16'],
  trainIters: ['max_steps'],
});

const MARKS = ['stage', 'finetuning_type', 'per_device_train_batch_size', 'do_train', 'cutoff_len'] as const;

function claims(path: string, text: string): boolean {
  return (
    isYaml(path) &&
    hasSection(text, 'pipeline_model_parallel_size') &&
    hasSection(text, 'model_name_or_path') &&
    MARKS.some((key) => hasSection(text, key))
  );
}

/** The back end is chosen in the environment; keys that only one of them knows tell which. */
function onBridge(file: string, root: TreeNode): boolean {
  const own = ['mixed_precision', 'use_packed_sequences', 'megatron_pretrained_checkpoint', 'export_hf_on_finish'];
  return own.some((key) => has(root, key)) || /(?:^|\/)(?:megatron_bridge|mbridge)\//.test(file);
}

/** On Megatron-Bridge the batch is micro batch x accumulation x world / (tp pp cp ep): ep divides the microbatches. */
function dividedByExperts(settings: Settings): void {
  const [steps, ep] = [settings.get('microbatches'), settings.get('ep')];
  const [a, b] = [Number(steps?.value.value), Number(ep?.value.value)];
  if (steps === undefined || !Number.isSafeInteger(a / b) || b <= 1) return;
  const value: Sourced<string> = derived(
    String(a / b),
    `gradient_accumulation_steps ${a} / expert_model_parallel_size ${b}`,
    ['ep'],
  );
  settings.set('microbatches', { ...steps, value });
}

function views({ file, root, companions }: Document): readonly View[] {
  if (wordAt(root, 'model_name_or_path') === null || !has(root, 'pipeline_model_parallel_size')) return [];
  const interpolation: Interpolation = { root, dialect: 'omegaconf' };
  const settings = settingsOf(interpolation, SPELLING);
  const bridge = onBridge(file, root);
  const why = bridge ? 'LLaMA-Factory with Megatron-Bridge' : 'LLaMA-Factory with mcore_adapter';
  withDefaults(settings, { etp: '1' }, `${why}: 1 when expert_tensor_parallel_size is absent`);
  withDefaults(settings, { microBatch: '8', microbatches: '1' }, `${why}: transformers' default`);
  if (bridge) dividedByExperts(settings);
  groupedByCount(settings);
  const name = nodeAt(root, 'model_name_or_path');
  const model = name.kind === 'scalar' ? { name: String(name.value), range: name.range } : null;
  withLocalModel(settings, companions, model);
  withNamedModel(settings, model);
  return [
    {
      id: 'main',
      name: stem(file),
      settings,
      spelling: SPELLING,
      interpolation,
      world: noWorld('the GPU count, which the launcher gives (NPROC_PER_NODE, NNODES)'),
      worldKeys: null,
      elsewhere: null,
      near: placeIn(file, root, ['pipeline_model_parallel_size']),
      finish: (plan) => {
        const deepspeed = placeIn(file, root, ['deepspeed']);
        if (deepspeed === null || !has(root, 'deepspeed')) return plan;
        const message = bridge
          ? 'Megatron Bridge is incompatible with DeepSpeed.'
          : 'pipeline_model_parallel_size is a key of the Megatron back ends, which do not run with a DeepSpeed config';
        const related = [{ message: 'the pipeline size', range: plan.anchor }];
        return { ...plan, findings: [...plan.findings, finding('options-conflict', message, deepspeed, related)] };
      },
    },
  ];
}

export const llamaFactoryReader = mcoreReader({
  id: 'llama-factory',
  title: 'LLaMA-Factory YAML on Megatron-core',
  name: 'LLaMA-Factory',
  files: ['**/*.yaml', '**/*.yml'],
  claims,
  views,
});
