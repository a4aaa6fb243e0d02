/**
 * The keys of a torchtitan TOML through its eras. Names and sections moved several times; the era says which rule
 * holds where the same file means different things. Mirrors pytorch/torchtitan torchtitan/config_manager.py and
 * torchtitan/config/job_config.py: pipeline keys moved from [experimental] to [parallelism] at 785c34c99 (2025-03),
 * the microbatch count became a size at 5e2033c75 (2025-04), batch_size became local_batch_size at 8570415c3 (2025-06).
 */

import type { Finding, RelatedPlace } from '../../model/finding.ts';
import type { FindingCode } from '../../model/finding-codes.ts';
import type { Said } from '../../model/plan.ts';
import { fromText, rangeOf, type Sourced, type TextRange } from '../../model/source.ts';
import { finding } from '../limits.ts';
import { saidNumber } from '../said.ts';
import { entryAt, has, type MapEntry, nodeAt, type TreeNode } from '../tree.ts';
import { type NumberRule, numberAt, textAt } from '../values.ts';
import { isParallelKey } from './keys.ts';

/**
 * `count`: until 2025-04, M is given; `size`: until 2025-06, `batch_size`; `local`: then, `local_batch_size`; `tokens`:
 * since 2026-08, M is given again and batches are counted in tokens.
 */
export type Era = 'count' | 'size' | 'local' | 'tokens';

export interface TitanConfig {
  readonly file: string;
  readonly text: string;
  readonly root: TreeNode;
  readonly era: Era;
  readonly said: Said;
  readonly anchor: TextRange;
  readonly findings: Finding[];
}

/** Sections in which parallel sizes have stood, the newest first. */
const SECTIONS = ['parallelism', 'experimental', 'training'] as const;

const COUNT = 'pipeline_parallel_microbatches';
const SIZE = 'pipeline_parallel_microbatch_size';

export function titanConfig(file: string, text: string, root: TreeNode, said: Said): TitanConfig {
  const findings: Finding[] = [];
  const era = eraOf(root);
  return { file, text, root, era, said, anchor: anchorOf(file, root), findings };
}

function inAnySection(root: TreeNode, name: string): string | null {
  return SECTIONS.map((section) => `${section}.${name}`).find((path) => entryAt(root, path) !== null) ?? null;
}

function eraOf(root: TreeNode): Era {
  if (entryAt(root, 'training.local_batch_size') !== null || entryAt(root, 'training.global_batch_size') !== null) {
    return 'local';
  }
  const sized = inAnySection(root, SIZE) !== null || inAnySection(root, 'pipeline_parallel_layers_per_stage') !== null;
  const batch = entryAt(root, 'training.batch_size') !== null;
  if (sized) return batch ? 'size' : 'local';
  const old = ['pipeline_parallel_degree', 'pipeline_parallel_schedule', 'context_parallel_degree'];
  const moved = ['tensor_parallel_degree', 'data_parallel_shard_degree', 'data_parallel_degree'];
  if (inAnySection(root, COUNT) !== null) return 'count';
  if (old.some((name) => entryAt(root, `experimental.${name}`) !== null)) return 'count';
  if (moved.some((name) => entryAt(root, `training.${name}`) !== null)) return 'count';
  if (!batch) return 'local';
  return entryAt(root, 'parallelism') === null ? 'count' : 'size';
}

/** The token of the pipeline size, else the section that it belongs in. */
function anchorOf(file: string, root: TreeNode): TextRange {
  const degree = inAnySection(root, 'pipeline_parallel_degree');
  const node = degree === null ? null : nodeAt(root, degree);
  if (node !== null && node.kind !== 'missing') return node.range;
  for (const section of ['parallelism', 'experimental', 'training', 'model', 'job']) {
    const entry = entryAt(root, section);
    if (entry !== null) return entry.keyRange;
  }
  const first: MapEntry | undefined = root.kind === 'map' ? root.entries.values().next().value : undefined;
  return first?.keyRange ?? { file, offset: 0, length: 0 };
}

/** Where a parallel key stands, or would stand in this file's era. */
export function pathOf(config: TitanConfig, name: string): string {
  const found = inAnySection(config.root, name);
  if (found !== null) return found;
  if (entryAt(config.root, 'parallelism') !== null || config.era !== 'count') return `parallelism.${name}`;
  return /^(?:pipeline|context)_/.test(name) ? `experimental.${name}` : `training.${name}`;
}

/** A parallel size or another number in any of the sections; what was said outside the file comes first. */
export function parallelNumber(
  config: TitanConfig,
  name: string,
  rule: NumberRule,
  absent: Sourced<number>,
  say?: string,
): Sourced<number> {
  const read = numberAt(config.root, pathOf(config, name), rule, absent, config.findings);
  return say === undefined ? read : saidNumber(config.said, say, read);
}

export function parallelText(config: TitanConfig, name: string, absent: Sourced<string>): Sourced<string> {
  return textAt(config.root, pathOf(config, name), absent, config.findings);
}

/** A key of the [training] section. */
export function trainingNumber(
  config: TitanConfig,
  name: string,
  rule: NumberRule,
  absent: Sourced<number>,
  say?: string,
): Sourced<number> {
  const read = numberAt(config.root, `training.${name}`, rule, absent, config.findings);
  return say === undefined ? read : saidNumber(config.said, say, read);
}

/** Adds a finding at the first value that stands in the text; the others become related places. */
export function report(
  config: TitanConfig,
  code: FindingCode,
  message: string,
  about: readonly (readonly [name: string, value: Sourced<unknown>])[],
): void {
  const places = about.flatMap(([name, value]): readonly RelatedPlace[] => {
    const range = rangeOf(value);
    return range === null ? [] : [{ message: name, range }];
  });
  const [first, ...rest] = places;
  const related = rest.filter((place) => place.range.offset !== first?.range.offset);
  config.findings.push(finding(code, message, first?.range ?? config.anchor, related));
}

/** The text of a removed key as a sourced value, for the place of a finding; null where the key is absent. */
export function keyPlace(config: TitanConfig, path: string): Sourced<string> | null {
  const entry = entryAt(config.root, path);
  return entry === null ? null : fromText(entry.key, entry.keyRange);
}

/** Keys that this file's torchtitan no longer takes. */
export function reportRemovedKeys(config: TitanConfig): void {
  const removed: [path: string, hint: string][] = [];
  const count = inAnySection(config.root, COUNT);
  if (config.era !== 'count' && count !== null) {
    removed.push([count, `since 2025-04 ${SIZE} gives the size of a microbatch instead`]);
  }
  if (config.era === 'local') removed.push(['training.batch_size', 'since 2025-06 it is local_batch_size']);
  const split = inAnySection(config.root, 'pipeline_parallel_split_points');
  if (split !== null && has(config.root, pathOf(config, 'module_fqns_per_model_part'))) {
    removed.push([split, 'since 2025-07 module_fqns_per_model_part gives the split']);
  }
  for (const [path, hint] of removed) {
    const place = keyPlace(config, path);
    if (place === null) continue;
    report(config, 'option-removed', `torchtitan no longer takes ${place.value}: ${hint}`, [['', place]]);
  }
}

/** Pipeline keys that no torchtitan knows: a typing error silently trains another plan, or is refused. */
export function reportUnknownKeys(config: TitanConfig): void {
  for (const section of SECTIONS) {
    const node = nodeAt(config.root, section);
    if (node.kind !== 'map') continue;
    for (const { key, keyRange } of node.entries.values()) {
      if (!key.startsWith('pipeline_parallel_') || isParallelKey(key)) continue;
      config.findings.push(finding('unknown-key', `torchtitan has no key ${key}`, keyRange));
    }
  }
}
