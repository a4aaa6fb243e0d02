/**
 * Changes in torchtitan's spelling of the file's era. Microbatches follow from the local batch, so raising them at an
 * unchanged microbatch size raises the batch.
 */

import { torchName } from '../../frameworks/torch-names.ts';
import type { Change, TextEdit } from '../../model/finding.ts';
import type { Plan } from '../../model/plan.ts';
import { SCHEDULE_IDS } from '../../model/schedule.ts';
import { setToml } from '../toml/edit.ts';
import { readToml } from '../toml/read.ts';
import { has, nodeAt, type TreeNode } from '../tree.ts';
import { pathOf, type TitanConfig, titanConfig } from './config.ts';

/** One key to set and its TOML literal. */
type Setting = readonly [path: string, literal: string];

/** null where the file cannot express the change. */
export function titanEdits(file: string, text: string, plan: Plan, change: Change): readonly TextEdit[] | null {
  const { root } = readToml(file, text);
  const settings = settingsOf(titanConfig(file, text, root, {}), plan, change);
  if (settings === null) return null;
  const edits: TextEdit[] = [];
  for (const [path, literal] of settings) {
    const set = setToml(file, text, root, path, literal);
    if (set === null) return null;
    edits.push(...set);
  }
  return edits;
}

const PLAIN_KEYS: Readonly<Record<string, string>> = {
  'pipeline.size': 'pipeline_parallel_degree',
  'parallel.tensor': 'tensor_parallel_degree',
  'parallel.context': 'context_parallel_degree',
  'parallel.expert': 'expert_parallel_degree',
};

function settingsOf(config: TitanConfig, plan: Plan, { key, value }: Change): readonly Setting[] | null {
  if (key === 'pipeline.schedule') return schedule(config, plan, String(value));
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) return null;
  if (Object.hasOwn(PLAIN_KEYS, key)) return [[pathOf(config, PLAIN_KEYS[key]!), String(value)]];
  switch (key) {
    case 'pipeline.microbatches':
      return microbatches(config, plan, value);
    case 'pipeline.virtualStages':
      return virtualStages(config, plan, value);
    case 'batch.micro':
      return microBatch(config, plan, value);
    case 'batch.global':
      return globalBatch(config, plan, value);
    case 'model.sequence':
      return [['training.seq_len', String(value)]];
    case 'run.steps':
      return [['training.steps', String(value)]];
    default:
      return null;
  }
}

/** Without a pipeline the key is inert, and an order in a CSV file stands in front of it. */
function schedule(config: TitanConfig, plan: Plan, id: string): readonly Setting[] | null {
  const csv = nodeAt(config.root, pathOf(config, 'pipeline_parallel_schedule_csv'));
  if (plan.pp.value === 1 || (csv.kind === 'scalar' && csv.value !== '')) return null;
  const known = SCHEDULE_IDS.find((each) => each === id);
  const name = known === undefined ? null : torchName(known);
  if (name === null) return null;
  const path = pathOf(config, 'pipeline_parallel_schedule');
  return [[path, quoted(nodeAt(config.root, path), name)]];
}

/** In the quotes that the file has. */
function quoted(node: TreeNode, name: string): string {
  return node.kind === 'scalar' && node.text.startsWith("'") ? `'${name}'` : `"${name}"`;
}

function batchPath(config: TitanConfig): string {
  return config.era === 'local' ? 'training.local_batch_size' : 'training.batch_size';
}

function microbatches(config: TitanConfig, plan: Plan, value: number): readonly Setting[] | null {
  const size = plan.microBatchSize.value;
  if (plan.pp.value === 1 || size === null) return null;
  const batch: Setting = [batchPath(config), String(value * size)];
  return config.era === 'count' ? [[pathOf(config, 'pipeline_parallel_microbatches'), String(value)], batch] : [batch];
}

function microBatch(config: TitanConfig, plan: Plan, value: number): readonly Setting[] | null {
  if (config.era !== 'count') return [[pathOf(config, 'pipeline_parallel_microbatch_size'), String(value)]];
  const { microbatches: count, microBatchSize: size } = plan;
  if (count.value === null || size.value === null || (count.value * size.value) % value !== 0) return null;
  return [[pathOf(config, 'pipeline_parallel_microbatches'), String((count.value * size.value) / value)]];
}

function globalBatch(config: TitanConfig, plan: Plan, value: number): readonly Setting[] | null {
  if (config.era === 'local') return [['training.global_batch_size', String(value)]];
  const dp = plan.dp.value;
  return dp === null || value % dp !== 0 ? null : [['training.batch_size', String(value / dp)]];
}

/** By layers per stage, where some number of them gives exactly the stages asked for. */
function virtualStages(config: TitanConfig, plan: Plan, value: number): readonly Setting[] | null {
  const { pp, model } = plan;
  if (config.era === 'count' || pp.value === null || pp.value === 1 || model.layers.value === null) return null;
  const given = ['pipeline_parallel_split_points', 'module_fqns_per_model_part'];
  if (given.some((name) => has(config.root, pathOf(config, name)))) return null;
  const ends = (name: string) => {
    const node = nodeAt(config.root, pathOf(config, name));
    return node.kind === 'scalar' && typeof node.value === 'number' ? node.value : 1;
  };
  const weights = ends('pipeline_parallel_first_stage_less_layers') + ends('pipeline_parallel_last_stage_less_layers');
  const effective = model.layers.value + weights;
  const perStage = Math.ceil(effective / (pp.value * value));
  if (Math.ceil(effective / perStage) !== pp.value * value) return null;
  return [[pathOf(config, 'pipeline_parallel_layers_per_stage'), String(perStage)]];
}
