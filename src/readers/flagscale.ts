/**
 * FlagScale: the training part (`conf/train/70b.yaml` with `system`, `model` and `data`) and the experiment that picks
 * it (`conf/train.yaml` with `defaults: - train: 70b` and the GPUs). Either may be open; the other is looked for beside
 * it. Every key becomes an argument of Megatron's command line. Mirrors FlagOpen/FlagScale@da4935ec6
 * flagscale/runner/runner_train.py.
 */

import { fromText, type TextRange } from '../model/source.ts';
import { finishMeshes, meshesOf, withMeshes } from './flagscale/hetero.ts';
import { hasInner, hasSection, isYaml, sectionHolds } from './mcore/claims.ts';
import { besides, companion, merged, missing, placeIn, without, wordAt } from './mcore/config.ts';
import type { Interpolation } from './mcore/interpolate.ts';
import { type Document, mcoreReader, type View } from './mcore/reader.ts';
import { ARGUMENT_NAMES, type Spelling, settingsOf } from './mcore/settings.ts';
import { noWorld, type World, type WorldKeys, worldOf } from './mcore/world.ts';
import { stem } from './megatron-lm/plan.ts';
import { has, type MapEntry, nodeAt, type TreeNode } from './tree.ts';

/** Sections are flattened into one list of arguments, however deep. */
const SECTIONS = ['system', 'model', 'system.precision', 'system.recompute', 'data', 'data.tokenizer'] as const;
const IN_MODEL = new Set([
  'layers',
  'microBatch',
  'globalBatch',
  'sequence',
  'hidden',
  'heads',
  'trainIters',
  'trainSamples',
]);

const SPELLING: Spelling = Object.fromEntries(
  Object.entries(ARGUMENT_NAMES).map(([key, names]) => {
    const sections = IN_MODEL.has(key) ? ['model', ...SECTIONS.filter((each) => each !== 'model')] : SECTIONS;
    return [key, sections.flatMap((section) => names.map((name) => `${section}.${name}`))];
  }),
);

const WORLD: WorldKeys = {
  perNode: 'experiment.runner.nproc_per_node',
  nodes: 'experiment.runner.nnodes',
  defaults: { perNode: null, nodes: null, why: '' },
};

function claims(path: string, text: string): boolean {
  if (!isYaml(path)) return false;
  if (hasSection(text, 'experiment')) {
    return hasSection(text, 'defaults') && /^[ \t]*-[ \t]+train:[ \t]*\S/m.test(text) && hasInner(text, 'runner');
  }
  return (
    hasSection(text, 'model') &&
    ['pipeline_model_parallel_size', 'tensor_model_parallel_size'].some((key) => sectionHolds(text, 'system', key)) &&
    sectionHolds(text, 'model', 'num_layers')
  );
}

/** The value of `- train: 70b` in the list of defaults. */
function trainDefault(root: TreeNode): { readonly name: string; readonly range: TextRange } | null {
  const defaults = nodeAt(root, 'defaults');
  if (defaults.kind !== 'list') return null;
  for (const item of defaults.items) {
    const train = nodeAt(item, 'train');
    if (train.kind === 'scalar' && train.value !== null)
      return { name: typeof train.value === 'string' ? train.value : train.text, range: train.range };
  }
  return null;
}

interface Parts {
  readonly root: TreeNode;
  readonly home: { readonly file: string; readonly root: TreeNode };
  readonly near: TextRange | null;
  /** A part that is not at hand, and holds what is not written here. */
  readonly lost: string | null;
}

function partsOf(document: Document): Parts | null {
  const { file, root, companions } = document;
  if (!has(root, 'experiment')) {
    const experiment = experimentOf(document);
    const whole = experiment === null ? root : merged(without(experiment, 'defaults'), root);
    return { root: whole, home: { file, root }, near: placeIn(file, root, ['system']), lost: null };
  }
  const train = trainDefault(root);
  if (train === null || (wordAt(root, 'experiment.task.backend') ?? 'megatron') !== 'megatron') return null;
  const path = besides(file, `train/${train.name.replace(/\.ya?ml$/, '')}.yaml`);
  if (path === null) {
    missing(companions, `${train.name} lies outside the folder that is read`, train.range);
    return null;
  }
  const part = companion(companions, path, 'named');
  if (part === null) return { root, home: { file, root }, near: train.range, lost: path };
  // The part is packaged as `train`; its keys are reached under their own names here, and through `train.` as well.
  const packaged = merged(part, without(root, 'defaults'));
  return { root: aliased(packaged, part), home: { file: path, root: part }, near: train.range, lost: null };
}

function aliased(whole: TreeNode, part: TreeNode): TreeNode {
  if (whole.kind !== 'map' || part.kind !== 'map') return whole;
  const [first] = [...part.entries.values()];
  if (first === undefined) return whole;
  const entry: MapEntry = { key: 'train', keyRange: first.keyRange, value: part };
  return { ...whole, entries: new Map([...whole.entries, ['train', entry]]) };
}

/** The experiment beside the folder, if it picks this part. */
function experimentOf({ file, companions }: Document): TreeNode | null {
  const name = stem(file);
  for (const each of ['train', `train_${name}`]) {
    const path = besides(file, `../${each}.yaml`);
    const root =
      path === null || !/(?:^|\/)train\/[^/]+$/.test(file) ? null : companion(companions, path, 'looked for');
    if (root !== null && trainDefault(root)?.name.replace(/\.ya?ml$/, '') === name) return root;
  }
  return null;
}

function views(document: Document): readonly View[] {
  const { file } = document;
  const parts = partsOf(document);
  if (parts === null || (parts.lost === null && !has(parts.root, 'system'))) return [];
  const { root } = parts;
  const interpolation: Interpolation = { root, dialect: 'omegaconf' };
  const settings = settingsOf(interpolation, SPELLING);
  const meshes = meshesOf(root, 'system');
  if (meshes !== null) withMeshes(settings, meshes);
  return [
    {
      id: 'main',
      name: wordAt(root, 'experiment.exp_name') ?? stem(file),
      settings,
      spelling: SPELLING,
      interpolation,
      world: runnerWorld(interpolation),
      worldKeys: WORLD,
      elsewhere: parts.lost,
      near: parts.near,
      commandLine: true,
      home: parts.home,
      ...(meshes === null ? {} : { finish: (plan) => finishMeshes(plan, meshes, root, file) }),
    },
  ];
}

/** Without a host file there is one node; the GPUs of a node are those that are visible. */
function runnerWorld(interpolation: Interpolation): World {
  const { root } = interpolation;
  const keys = alone(root)
    ? { ...WORLD, defaults: { ...WORLD.defaults, nodes: 1, why: 'FlagScale: one node without a hostfile' } }
    : WORLD;
  const world = worldOf(interpolation, keys);
  const visible = nodeAt(root, 'experiment.envs.CUDA_VISIBLE_DEVICES');
  if (world.gpusPerNode.value !== null || has(root, WORLD.perNode) || visible.kind !== 'scalar') {
    return has(root, 'experiment') ? world : noWorld('the GPU count, which the experiment file gives');
  }
  const list = String(visible.value);
  if (!/^\d+(?:,\d+)*$/.test(list) || !alone(root)) return world;
  const count = fromText(list.split(',').length, visible.range, 'visible devices');
  return {
    ...world,
    gpus: count,
    gpusPerNode: count,
    parts: [{ message: 'CUDA_VISIBLE_DEVICES', range: visible.range }],
  };
}

function alone(root: TreeNode): boolean {
  return has(root, 'experiment.runner') && !has(root, 'experiment.runner.hostfile');
}

export const flagscaleReader = mcoreReader({
  id: 'flagscale',
  title: 'FlagScale YAML',
  name: 'FlagScale',
  files: ['**/*.yaml', '**/*.yml'],
  claims,
  views,
});
