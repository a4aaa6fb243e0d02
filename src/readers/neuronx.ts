/**
 * AWS neuronx-distributed-training: NeMo's names in other sections, on NeuronCores. Its pipeline engine is not
 * Megatron's: it cuts the traced model itself, evenly where the layers divide, so that other splits are not known
 * here. Mirrors aws-neuron/neuronx-distributed-training@9169aa0
 * src/neuronx_distributed_training/lightning_modules/model/base.py and docs/general/config_overview.rst.
 */

import type { Finding } from '../model/finding.ts';
import type { Plan } from '../model/plan.ts';
import { unknown } from '../model/source.ts';
import { finding } from './limits.ts';
import { hasSection, isYaml, sectionHolds } from './mcore/claims.ts';
import { mapAt, placeIn, wordAt } from './mcore/config.ts';
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
  withDefaults,
} from './mcore/settings.ts';
import { type WorldKeys, worldOf } from './mcore/world.ts';
import { stem } from './megatron-lm/plan.ts';
import { has, nodeAt, type TreeNode } from './tree.ts';

const SPELLING: Spelling = both(under('distributed_strategy', CONFIG_NAMES), under('model', CONFIG_NAMES), {
  cp: ['context_parallel_size'],
  microBatch: ['data.micro_batch_size'],
  globalBatch: ['data.global_batch_size'],
  sequence: ['model.encoder_seq_length', 'data.seq_length'],
  queryGroups: ['model.num_kv_heads'],
  experts: ['model.moe.num_experts'],
  topK: ['model.moe.top_k'],
  recomputeGranularity: ['model.activations_checkpoint_granularity'],
  trainIters: ['trainer.max_steps'],
});

const WORLD: WorldKeys = {
  perNode: 'trainer.devices',
  nodes: 'trainer.num_nodes',
  defaults: { perNode: null, nodes: 1, why: 'Lightning: one node when trainer.num_nodes is absent' },
};

function claims(path: string, text: string): boolean {
  return (
    isYaml(path) &&
    text.includes('distributed_strategy') &&
    hasSection(text, 'trainer') &&
    sectionHolds(text, 'distributed_strategy', 'pipeline_model_parallel_size')
  );
}

function views({ file, root, companions }: Document): readonly View[] {
  if (mapAt(root, 'distributed_strategy') === null) return [];
  const interpolation: Interpolation = { root, dialect: 'omegaconf' };
  const settings = settingsOf(interpolation, SPELLING);
  const config = nodeAt(root, 'model.model_config');
  const model =
    config.kind === 'scalar' && typeof config.value === 'string'
      ? { name: config.value.replace(/\/config\.json$/, ''), range: config.range }
      : null;
  withLocalModel(settings, companions, model);
  groupedByCount(settings);
  if (!settings.has('groupQuery') && !settings.has('queryGroups')) {
    const value = unknown('the key-value heads, which the model config gives', 'model.kvHeads');
    settings.set('queryGroups', { value, spelled: 'num_kv_heads', place: null });
    settings.set('groupQuery', { value, spelled: 'num_kv_heads', place: null });
  }
  if (!settings.has('ffn')) {
    const value = unknown('the feed-forward size, which the model config gives', 'model.ffn');
    settings.set('ffn', { value, spelled: 'ffn_hidden_size', place: null });
  }
  withDefaults(settings, { virtualStages: '1' }, 'neuronx: 1 when virtual_pipeline_model_parallel_size is absent');
  return [
    {
      id: 'main',
      name: wordAt(root, 'name') ?? stem(file),
      settings,
      spelling: SPELLING,
      interpolation,
      world: worldOf(interpolation, WORLD),
      worldKeys: WORLD,
      elsewhere: null,
      near: placeIn(file, root, ['distributed_strategy.pipeline_model_parallel_size', 'distributed_strategy']),
      finish: (plan) => ownSplit(plan, root, file),
    },
  ];
}

/** Megatron's rules on layers and heads are not this engine's. */
const MEGATRONS: ReadonlySet<string> = new Set(['layers-not-divisible', 'heads-not-divisible', 'options-conflict']);

function ownSplit(plan: Plan, root: TreeNode, file: string): Plan {
  const findings: Finding[] = plan.findings.filter(({ code }) => !MEGATRONS.has(code));
  const [pp, vpp, layers] = [plan.pp.value, plan.vpp.value, plan.model.layers.value];
  const own: Plan = { ...plan, framework: null, findings };
  const cuts = nodeAt(root, 'model.pipeline_cuts');
  if (cuts.kind === 'list' && pp !== null && vpp !== null) {
    if (cuts.items.length !== pp * vpp - 1) {
      const message = `the number of pipeline cuts should always be one less than the stages: ${cuts.items.length} cuts, ${pp * vpp} stages`;
      const place = placeIn(file, root, ['model.pipeline_cuts']) ?? plan.anchor;
      findings.push(finding('split-invalid', message, place, [{ message: 'the pipeline size', range: plan.anchor }]));
    }
    return { ...own, stages: unknown('the split that model.pipeline_cuts gives', undefined, cuts.range) };
  }
  if (pp === null || vpp === null || layers === null) return own;
  if (wordAt(root, 'model_source') === 'megatron' && vpp > 1 && Math.floor(layers / pp) % vpp !== 0) {
    const message = `Make sure the number of model chunks is the same across all pipeline stages. (${layers} layers, ${pp} ranks, ${vpp} chunks)`;
    const key = 'distributed_strategy.virtual_pipeline_model_parallel_size';
    findings.push(finding('layers-not-divisible', message, placeIn(file, root, [key]) ?? plan.anchor));
  }
  if (layers % (pp * vpp) === 0 && !has(root, 'model.pipeline_cuts')) return own;
  const why = `the split: neuronx-distributed cuts ${layers} layers over ${pp * vpp} stages by itself`;
  return { ...own, stages: unknown(why) };
}

export const neuronxReader = mcoreReader({
  id: 'neuronx',
  title: 'neuronx-distributed-training YAML',
  name: 'neuronx',
  files: ['**/*.yaml', '**/*.yml'],
  claims,
  views,
});
