/**
 * GPUs from two numbers of a config, those of a machine and the machines: `trainer.devices` x `trainer.num_nodes`. A
 * number that is not known leaves the count unknown, with what is missing.
 */

import type { WorldPart } from '../../frameworks/megatron-core/keys.ts';
import { byDefault, derived, type Sourced, unknown } from '../../model/source.ts';
import { entryAt } from '../tree.ts';
import { parseNumber } from '../values.ts';
import { type Interpolation, textOf } from './interpolate.ts';

export interface World {
  readonly gpus: Sourced<number>;
  readonly gpusPerNode: Sourced<number>;
  readonly parts: readonly WorldPart[];
}

export interface WorldKeys {
  readonly perNode: string;
  readonly nodes: string;
  /** What the framework takes where the key is absent; null where it has no default that a file could rely on. */
  readonly defaults: { readonly perNode: number | null; readonly nodes: number | null; readonly why: string };
}

const SAY = 'cluster.gpus';

export function worldOf(interpolation: Interpolation, keys: WorldKeys): World {
  const perNode = countAt(interpolation, keys.perNode, keys.defaults.perNode, keys.defaults.why);
  const nodes = countAt(interpolation, keys.nodes, keys.defaults.nodes, keys.defaults.why);
  const parts = [perNode, nodes].flatMap(({ value, source }, i): readonly WorldPart[] =>
    source.kind === 'text' ? [{ message: `${i === 0 ? keys.perNode : keys.nodes} ${value}`, range: source.range }] : [],
  );
  if (perNode.value === null || nodes.value === null) {
    return { gpus: perNode.value === null ? perNode : nodes, gpusPerNode: perNode, parts };
  }
  const how = `${keys.perNode} ${perNode.value} x ${keys.nodes} ${nodes.value}`;
  return { gpus: derived(perNode.value * nodes.value, how, ['gpusPerNode', 'nodes']), gpusPerNode: perNode, parts };
}

export function noWorld(missing: string): World {
  return { gpus: unknown(missing, SAY), gpusPerNode: unknown('the GPUs per node', 'cluster.gpusPerNode'), parts: [] };
}

/** A whole number from 1 at a dotted path. */
export function countAt(
  interpolation: Interpolation,
  path: string,
  fallback: number | null,
  why: string,
): Sourced<number> {
  const entry = entryAt(interpolation.root, path);
  const node = entry?.value;
  if (
    entry === null ||
    node === undefined ||
    node.kind === 'missing' ||
    (node.kind === 'scalar' && node.value === null)
  ) {
    return fallback === null ? unknown(`the GPU count (${path})`, SAY) : byDefault(fallback, why);
  }
  if (node.kind !== 'scalar') return unknown(`the GPU count: a number for ${path}`, SAY, entry.keyRange);
  const text = textOf(node, path, interpolation);
  if (text.value === null) return unknown(`the GPU count: ${text.source.missing}`, SAY, text.source.range);
  const value = parseNumber(text.value);
  if (value === null || !Number.isSafeInteger(value) || value < 1)
    return unknown(`the GPU count: a number for ${path}`, SAY, node.range);
  return { value, source: text.source };
}
