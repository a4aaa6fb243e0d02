/**
 * Primus: an experiment with `modules`, each a preset of the trainer (`config`), one of the model (`model`) and
 * `overrides`. Presets lie in the Primus repository and extend one another; where one is not at hand, the defaults of
 * Primus' own base presets hold and the model is looked up by its name. `${VAR:default}` reads the environment. Mirrors
 * AMD-AGI/Primus@fd1eeabb primus/core/config/{yaml_loader,preset_loader}.py, primus/core/launcher/parser.py and
 * primus/configs/{modules,models}/megatron.
 */

import { byDefault, type TextRange } from '../model/source.ts';
import { hasInner, hasSection, isYaml } from './mcore/claims.ts';
import { besides, companion, mapAt, merged, missing, placeIn, without } from './mcore/config.ts';
import type { Interpolation } from './mcore/interpolate.ts';
import { textOf } from './mcore/interpolate.ts';
import { type Document, mcoreReader, type View } from './mcore/reader.ts';
import {
  ATTRIBUTE_NAMES,
  type Settings,
  type Spelling,
  settingsOf,
  withDefaults,
  withNamedModel,
} from './mcore/settings.ts';
import { noWorld } from './mcore/world.ts';
import { stem } from './megatron-lm/plan.ts';
import { primusSchedule, withPrimus } from './primus/schedule.ts';
import { NOTHING, nodeAt, type TreeNode } from './tree.ts';

/** Preset and override keys are those of Megatron's command line, with this one besides. */
const NAMES: Spelling = {
  ...ATTRIBUTE_NAMES,
  groupSize: ['microbatch_group_size_per_vp_stage'],
  fp8: ['fp8'],
  fp4: ['fp4'],
};

function claims(path: string, text: string): boolean {
  return (
    isYaml(path) &&
    hasSection(text, 'modules') &&
    hasInner(text, 'overrides') &&
    /^[ \t]+framework:[ \t]*["']?megatron["']?[ \t]*(?:#.*)?\r?$/m.test(text)
  );
}

/** What primus/configs/modules/megatron/{trainer_base,pre_trainer,sft_trainer}.yaml give. */
const TRAINER = { microBatch: '2', bf16: 'true' } as const;
const BATCHES: Readonly<Record<string, string>> = { pre_trainer: '16', trainer_base: '128' };

function views(document: Document): readonly View[] {
  const { root } = document;
  const modules = mapAt(root, 'modules');
  if (modules === null) return [];
  const names = [...modules.entries.keys()].filter((name) => wordOf(root, `modules.${name}.framework`) === 'megatron');
  return names.map((name, i) => viewOf(document, name, i === 0 ? 'main' : name, names.length > 1));
}

function wordOf(root: TreeNode, path: string): string | null {
  const node = nodeAt(root, path);
  return node.kind === 'scalar' && node.value !== null ? textOf(node, path, { root, dialect: 'primus' }).value : null;
}

interface Preset {
  readonly tree: TreeNode;
  readonly name: string;
  readonly range: TextRange;
  readonly atHand: boolean;
}

/** A preset with what it extends. Only a model that the experiment names is missed when it is not there. */
function presetOf({ root, companions }: Document, path: string, kind: 'models' | 'modules'): Preset | null {
  const node = nodeAt(root, path);
  const name = wordOf(root, path);
  if (node.kind !== 'scalar' || name === null) return null;
  const file = name.endsWith('.yaml') || name.endsWith('.yml') ? name : `${name}.yaml`;
  const start = besides('x', `primus/configs/${kind}/megatron/${file}`);
  const visit = (at: string, chain: readonly string[]): TreeNode | null => {
    const first = kind === 'models' && chain.length === 1;
    const tree = companion(companions, at, first ? 'named' : 'looked for');
    if (tree === null) return null;
    const extended = nodeAt(tree, 'extends');
    let base: TreeNode = NOTHING;
    for (const each of extended.kind === 'list' ? extended.items : [extended]) {
      const parent = each.kind === 'scalar' && typeof each.value === 'string' ? besides(at, each.value) : null;
      if (parent !== null && chain.includes(parent)) missing(companions, `${parent} extends itself`, node.range);
      else if (parent !== null) base = merged(base, visit(parent, [...chain, parent]) ?? NOTHING);
    }
    return merged(base, without(tree, 'extends'));
  };
  const tree = start === null ? null : visit(start, [start]);
  return { tree: tree ?? NOTHING, name: file.replace(/\.ya?ml$/, ''), range: node.range, atHand: tree !== null };
}

function viewOf(document: Document, module: string, id: string, several: boolean): View {
  const { file, root } = document;
  const base = `modules.${module}`;
  const config = presetOf(document, `${base}.config`, 'modules');
  const model = presetOf(document, `${base}.model`, 'models');
  const overrides = nodeAt(root, `${base}.overrides`);
  const whole = merged(merged(config?.tree ?? NOTHING, model?.tree ?? NOTHING), overrides);
  const interpolation: Interpolation = { root: whole, dialect: 'primus' };
  const settings = settingsOf(interpolation, NAMES);
  patched(settings, whole);
  if (config !== null && !config.atHand) {
    const why = `Primus: ${config.name}.yaml`;
    const batch = BATCHES[config.name];
    withDefaults(settings, batch === undefined ? TRAINER : { ...TRAINER, globalBatch: batch }, why);
  }
  const lost = model !== null && !model.atHand;
  if (model !== null) {
    if (lost) withNamedModel(settings, model);
    withDefaults(settings, { swiglu: 'true' }, 'Primus: language_model.yaml');
  }
  return {
    id,
    name: several ? `${stem(file)}: ${module}` : stem(file),
    settings,
    spelling: own(base),
    interpolation,
    world: noWorld('the GPU count, which the launcher gives (NNODES, GPUS_PER_NODE)'),
    worldKeys: null,
    elsewhere: null,
    commandLine: true,
    near: placeIn(file, root, [`${base}.overrides`, base]),
    finish: (plan) => withPrimus(plan, whole, file),
    // A patched schedule has its own number of stages, whatever is written.
    edit: (_, { key }) => (key === 'pipeline.virtualStages' && primusSchedule(whole) !== null ? null : undefined),
  };
}

/** Edits go into the overrides of the module. */
function own(base: string): Spelling {
  return Object.fromEntries(Object.entries(NAMES).map(([key, [name]]) => [key, [`${base}.overrides.${name}`]]));
}

/** A schedule on a V has two stages on each rank, whatever is written. */
function patched(settings: Settings, root: TreeNode): void {
  const schedule = primusSchedule(root);
  if (schedule === null || typeof schedule === 'string' || schedule.vpp !== 2) return;
  if (schedule.key === 'pp_algorithm' || settings.has('layout')) return;
  settings.delete('layersPerVirtualStage');
  settings.set('virtualStages', {
    value: byDefault('2', schedule.how),
    spelled: 'num_virtual_stages_per_pipeline_rank',
    place: null,
  });
}

export const primusReader = mcoreReader({
  id: 'primus',
  title: 'Primus YAML',
  name: 'Primus',
  files: ['**/*.yaml', '**/*.yml'],
  claims,
  views,
});
