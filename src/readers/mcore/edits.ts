/**
 * Changes in the spelling of a framework that feeds Megatron-core from YAML. A number is replaced where the document
 * holds it, also where a `${…}` leads; a number that a parent gives is overridden in the document, where that
 * framework's users put it; a key that nobody gives is added beside its neighbours.
 */

import type { MegatronKey } from '../../frameworks/megatron-core/keys.ts';
import type { Change } from '../../model/finding.ts';
import type { Plan } from '../../model/plan.ts';
import type { Texts } from '../../model/reading.ts';
import type { TextRange } from '../../model/source.ts';
import { changeEdits, type Edits } from '../megatron-lm/edits.ts';
import type { TreeNode } from '../tree.ts';
import { setYaml } from '../yaml/edit.ts';
import type { Interpolation } from './interpolate.ts';
import type { Settings, Spelling } from './settings.ts';
import { countAt, type WorldKeys } from './world.ts';

export interface WrittenConfig {
  readonly texts: Texts;
  /** Where a new key goes: the document, or the companion that holds these keys. */
  readonly home: { readonly file: string; readonly root: TreeNode };
  readonly settings: Settings;
  readonly spelling: Spelling;
  readonly interpolation: Interpolation;
  readonly world: WorldKeys | null;
  /** The home has syntax errors, so that a new line might land in the middle of something. */
  readonly broken: boolean;
}

const PLAIN: Readonly<Record<string, MegatronKey>> = {
  'parallel.tensor': 'tp',
  'parallel.context': 'cp',
  'parallel.expert': 'ep',
  'pipeline.groupSize': 'groupSize',
  'model.sequence': 'sequence',
  'model.layers': 'layers',
  'run.steps': 'trainIters',
};

export function mcoreEdits(plan: Plan, change: Change, config: WrittenConfig): Edits {
  const value = Number(change.value);
  if (!Number.isSafeInteger(value) || value < 1) return null;
  const written = {
    has: (key: MegatronKey) => isWritten(config, key),
    replace: (key: MegatronKey, next: number) => set(config, key, next),
    insert: (_before: MegatronKey, key: MegatronKey, next: number) => set(config, key, next),
    setGpus: (gpus: number) => setGpus(config, gpus),
  };
  if (Object.hasOwn(PLAIN, change.key)) return set(config, PLAIN[change.key]!, value);
  if (config.spelling.microbatches !== undefined) {
    if (change.key === 'pipeline.microbatches') return set(config, 'microbatches', value);
    if (change.key === 'batch.global' && !isWritten(config, 'globalBatch')) return globalBatch(plan, config, value);
  }
  return changeEdits(plan, change, written);
}

function isWritten({ settings }: WrittenConfig, key: MegatronKey): boolean {
  return settings.get(key)?.value.source.kind !== undefined && settings.get(key)?.value.source.kind !== 'default';
}

/** Where only the accumulation is free: global batch = micro batch x accumulation x dp. */
function globalBatch({ microBatchSize, dp }: Plan, config: WrittenConfig, batch: number): Edits {
  if (microBatchSize.value === null || dp.value === null) return null;
  const share = batch / (microBatchSize.value * dp.value);
  return Number.isSafeInteger(share) ? set(config, 'microbatches', share) : null;
}

function set(config: WrittenConfig, key: MegatronKey, value: number): Edits {
  const path = config.spelling[key]?.[0];
  const literal = key === 'virtualStages' && value === 1 && path?.includes('virtual_pipeline') ? 'null' : String(value);
  const setting = config.settings.get(key);
  const source = setting?.value.source;
  if (source?.kind === 'text' && setting?.place !== null && !isNamed(source.note)) {
    if (source.range.file === config.home.file) return replaced(config.texts, source.range, literal);
    return overridden(config, path, literal) ?? replaced(config.texts, source.range, literal);
  }
  if (source !== undefined && source.kind !== 'default' && !isNamed('note' in source ? source.note : undefined))
    return null;
  return overridden(config, path, literal);
}

/** A figure that a model's name or its `config.json` gives is not the file's to replace. */
function isNamed(note: string | undefined): boolean {
  return note !== undefined && (note.includes('model registry') || note === 'from the model');
}

function replaced(texts: Texts, { file, offset, length }: TextRange, literal: string): Edits {
  const token = texts[file]?.slice(offset, offset + length);
  if (token === undefined || !/^\d[\d_]*$/.test(token)) return null;
  const quoted = /["']/.test(texts[file]![offset - 1] ?? '');
  return quoted && literal === 'null' ? null : [{ file, offset, length, text: literal }];
}

function overridden({ texts, home, broken }: WrittenConfig, path: string | undefined, literal: string): Edits {
  const text = texts[home.file];
  return broken || path === undefined || text === undefined ? null : setYaml(home.file, text, home.root, path, literal);
}

/** Nodes first; the GPUs per node only where one node is enough. */
function setGpus(config: WrittenConfig, gpus: number): Edits {
  const { world, interpolation, texts } = config;
  if (world === null) return null;
  const perNode = countAt(interpolation, world.perNode, world.defaults.perNode, '');
  const nodes = countAt(interpolation, world.nodes, world.defaults.nodes, '');
  if (perNode.value === null || nodes.value === null) return null;
  const put = (path: string, { source }: typeof nodes, value: number): Edits =>
    source.kind === 'text' && source.range.file === config.home.file
      ? replaced(texts, source.range, String(value))
      : (overridden(config, path, String(value)) ??
        (source.kind === 'text' ? replaced(texts, source.range, String(value)) : null));
  if (gpus % perNode.value === 0) return put(world.nodes, nodes, gpus / perNode.value);
  return nodes.value === 1 ? put(world.perNode, perNode, gpus) : null;
}
