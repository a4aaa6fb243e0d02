/**
 * NeMo-RL: YAML whose `policy.megatron_cfg` is enabled, often over parents that `defaults:` names. Mirrors
 * NVIDIA-NeMo/RL@7ea279abf nemo_rl/utils/config.py (inheritance), nemo_rl/algorithms/grpo.py (GPUs of the training
 * cluster) and examples/configs/*.yaml. Packed sequences make the number of microbatches depend on the data; `generation`
 * is inference and has sizes of its own.
 */

import type { TextRange } from '../model/source.ts';
import { derived, unknown } from '../model/source.ts';
import { hasInner, hasSection, isYaml } from './mcore/claims.ts';
import { besides, companion, isOn, merged, missing, placeIn, without } from './mcore/config.ts';
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
import { countAt, type World, type WorldKeys, worldOf } from './mcore/world.ts';
import { stem } from './megatron-lm/plan.ts';
import { withPrecision } from './nemo.ts';
import { has, nodeAt, type TreeNode } from './tree.ts';

const WORLD: WorldKeys = {
  perNode: 'cluster.gpus_per_node',
  nodes: 'cluster.num_nodes',
  defaults: { perNode: null, nodes: null, why: '' },
};

/** The models that a file trains, each in a section of its own. */
const ROLES = [
  { section: 'policy', id: 'main' },
  { section: 'value', id: 'value' },
] as const;

function spellingOf(section: string): Spelling {
  return both(
    under(`${section}.megatron_cfg`, CONFIG_NAMES),
    under(`${section}.megatron_cfg.model_overrides`, CONFIG_NAMES),
    {
      microBatch: [`${section}.train_micro_batch_size`],
      globalBatch: [`${section}.train_global_batch_size`],
      sequence: [`${section}.max_total_sequence_length`],
    },
  );
}

/** Switched off in the file itself is not ours; where it says nothing, a parent that speaks of Megatron decides. */
function claims(path: string, text: string): boolean {
  if (!isYaml(path) || !hasSection(text, 'policy')) return false;
  const at = text.indexOf('megatron_cfg:');
  if (at >= 0 && hasInner(text, 'megatron_cfg')) {
    const enabled = /^megatron_cfg:[^\n]*\n(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]+enabled:[ \t]*(\w+)/.exec(
      text.slice(at, at + 2000),
    );
    return enabled === null || /^true$/i.test(enabled[1]!);
  }
  return hasSection(text, 'defaults') && /^defaults:[^\n]*megatron/m.test(text);
}

/** The tree over its parents, and the first parent that is not at hand. */
function inherited({ file, root, companions }: Document): { readonly root: TreeNode; readonly lost: string | null } {
  let lost: string | null = null;
  const visit = (from: string, tree: TreeNode, chain: readonly string[], by: TextRange | null): TreeNode => {
    const defaults = nodeAt(tree, 'defaults');
    const named = defaults.kind === 'list' ? defaults.items : [defaults];
    let base: TreeNode = { kind: 'missing', range: null };
    for (const each of named) {
      if (each.kind !== 'scalar' || typeof each.value !== 'string') continue;
      const token = by ?? each.range;
      const path = besides(from, each.value);
      if (path === null || chain.includes(path)) {
        missing(
          companions,
          path === null ? `${each.value} lies outside the folder that is read` : `${path} is its own parent`,
          token,
        );
        lost ??= each.value;
        continue;
      }
      const parent = companion(companions, path, 'named');
      if (parent === null) lost ??= each.value;
      else base = merged(base, visit(path, parent, [...chain, path], token));
    }
    return merged(base, without(tree, 'defaults'));
  };
  return { root: visit(file, root, [file], null), lost };
}

function views(document: Document): readonly View[] {
  const { file, companions } = document;
  const { root, lost } = inherited(document);
  const interpolation: Interpolation = { root, dialect: 'omegaconf' };
  return ROLES.flatMap(({ section, id }) => {
    const enabled = nodeAt(root, `${section}.megatron_cfg.enabled`);
    const unsaid = enabled.kind === 'missing' && lost !== null && has(root, `${section}.megatron_cfg`);
    if (!unsaid && !isOn(root, `${section}.megatron_cfg.enabled`)) return [];
    const spelling = spellingOf(section);
    const settings = settingsOf(interpolation, spelling);
    if (!isOn(root, `${section}.megatron_cfg.activation_checkpointing`)) settings.delete('recomputeGranularity');
    withPrecision(settings, root, `${section}.precision`);
    groupedByCount(settings);
    const name = nodeAt(root, `${section}.model_name`);
    const model =
      name.kind === 'scalar' && typeof name.value === 'string' ? { name: name.value, range: name.range } : null;
    withLocalModel(settings, companions, model);
    withNamedModel(settings, model);
    return [
      {
        id,
        name: id === 'main' ? stem(file) : `${stem(file)}: ${section}`,
        settings,
        spelling,
        interpolation,
        world: trainingWorld(interpolation),
        // Where generation has GPUs of its own, the nodes of the cluster are not those of the training.
        worldKeys: alone(root) ? WORLD : null,
        elsewhere: lost,
        near: placeIn(file, root, [`${section}.megatron_cfg`, section]) ?? placeIn(file, document.root, ['defaults']),
        dynamic: dynamic(root, section),
      },
    ];
  });
}

function dynamic(root: TreeNode, section: string): string | null {
  for (const key of ['sequence_packing', 'dynamic_batching']) {
    if (isOn(root, `${section}.${key}.enabled`))
      return `the number of microbatches: ${section}.${key} makes it depend on the lengths of the sequences`;
  }
  return null;
}

function alone(root: TreeNode): boolean {
  return !othersApart(root) && !isOff(root, 'policy.generation.colocated.enabled');
}

function isOff(root: TreeNode, path: string): boolean {
  const node = nodeAt(root, path);
  return node.kind === 'scalar' && node.value === false;
}

/** Teachers of on-policy distillation and reward models on GPUs of their own. */
function othersApart(root: TreeNode): boolean {
  if (isOn(root, 'env.reward_model.enabled')) return true;
  if (root.kind !== 'map') return false;
  return [...root.entries.keys()].some((key) => isOn(root, `${key}.non_colocated_teachers.enabled`));
}

/** Generation that is not colocated has GPUs of its own: whole nodes, or a part of the only one. */
function trainingWorld(interpolation: Interpolation): World {
  const { root } = interpolation;
  const world = worldOf(interpolation, WORLD);
  const others = 'teachers or reward models take some of the cluster';
  if (othersApart(root))
    return { ...world, gpus: unknown(`the GPUs that are left for training: ${others}`, 'cluster.gpus') };
  const colocated = 'policy.generation.colocated';
  if (!isOff(root, `${colocated}.enabled`) || world.gpus.value === null) return world;
  const nodes = countAt(interpolation, WORLD.nodes, null, '').value ?? 1;
  const perNode = world.gpusPerNode.value ?? 1;
  const key = nodes > 1 ? 'num_nodes' : 'gpus_per_node';
  const taken = countAt(interpolation, `${colocated}.resources.${key}`, null, '');
  const left = (nodes > 1 ? nodes : perNode) - (taken.value ?? 0);
  if (taken.value === null || left < 1)
    return { ...world, gpus: unknown('the GPUs that are left for training beside generation', 'cluster.gpus') };
  const gpus = nodes > 1 ? left * perNode : left;
  return { ...world, gpus: derived(gpus, `${world.gpus.value} GPUs without those of ${colocated}.resources`, []) };
}

export const nemoRlReader = mcoreReader({
  id: 'nemo-rl',
  title: 'NeMo-RL YAML',
  name: 'NeMo-RL',
  files: ['**/*.yaml', '**/*.yml'],
  claims,
  views,
});
