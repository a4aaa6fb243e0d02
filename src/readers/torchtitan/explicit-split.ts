/**
 * Splits that a torchtitan config spells out: `pipeline_parallel_split_points` (until 2025-07, where each stage but
 * the first begins) and `module_fqns_per_model_part` (since, what each stage holds). Mirrors pytorch/torchtitan
 * `pipeline_llama_manual_split` and `pipeline_module_split`.
 */

import type { StageContent } from '../../model/plan.ts';
import { derived, fromText, type Sourced, type TextRange, unknown } from '../../model/source.ts';
import { finding } from '../limits.ts';
import { entryAt, nodeAt, type TreeNode } from '../tree.ts';
import { pathOf, report, type TitanConfig } from './config.ts';
import type { SplitInput, TitanSplit } from './split.ts';

type Input = Omit<SplitInput, 'pp'> & { readonly pp: number };

interface Word {
  readonly text: string;
  readonly range: TextRange;
}

const LAYER = /^layers\.(\d{1,7})$/;

/** null where the config gives no split of its own. */
export function explicitSplit(config: TitanConfig, input: Input): TitanSplit | null {
  const parts = nodeAt(config.root, pathOf(config, 'module_fqns_per_model_part'));
  if (parts.kind === 'list' && parts.items.length > 0) return byModules(config, input, parts.items, parts.range);
  const points = nodeAt(config.root, pathOf(config, 'pipeline_parallel_split_points'));
  const words = points.kind === 'missing' ? [] : wordsOf(points);
  if (points.kind === 'missing' || words.length === 0) return null;
  return byPoints(config, input, words, points.range);
}

/** The strings of a list, or of one comma-separated string, each with its own place. */
function wordsOf(node: TreeNode): readonly Word[] {
  if (node.kind === 'list') return node.items.flatMap(wordsOf);
  if (node.kind !== 'scalar' || typeof node.value !== 'string') return [];
  const words: Word[] = [];
  const start = node.text.indexOf(node.value);
  // With escapes in the string the places inside it are not known: the whole token stands for each.
  let at = start;
  for (const part of node.value.split(',')) {
    const text = part.trim();
    const offset = node.range.offset + at + (part.length - part.trimStart().length);
    const range = start < 0 ? node.range : { file: node.range.file, offset, length: text.length };
    if (text !== '') words.push({ text, range });
    at += part.length + 1;
  }
  return words;
}

function byPoints(config: TitanConfig, input: Input, words: readonly Word[], range: TextRange): TitanSplit {
  const vpp = perRank(config, input, words.length + 1, range);
  const { layers } = input;
  const bounds: number[] = [];
  let sound = true;
  for (const { text, range: place } of words) {
    const bound = Number(LAYER.exec(text)?.[1] ?? Number.NaN);
    const problem = pointProblem(text, bound, bounds.at(-1) ?? 0, layers.value);
    if (problem !== null) {
      sound = false;
      config.findings.push(finding('split-invalid', problem, place));
    }
    bounds.push(bound);
  }
  if (layers.value === null) return { vpp, stages: layers };
  if (!sound) return { vpp, stages: unknown('a split at whole layers', undefined, range) };
  const edges = [0, ...bounds, layers.value];
  const stages = edges.slice(1).map((end, s) => ({
    layers: end - edges[s]!,
    embedding: s === 0,
    head: s === words.length,
    mtp: 0,
  }));
  return { vpp, stages: fromText(stages, range, 'split points') };
}

function pointProblem(text: string, bound: number, previous: number, layers: number | null): string | null {
  if (Number.isNaN(bound)) return `"${text}" is no split point: torchtitan splits only before whole layers (layers.N)`;
  if (layers !== null && bound >= layers) return `"${text}": the model has layers.0 to layers.${layers - 1}`;
  return bound < previous ? `"${text}" comes before the split point ahead of it (layers.${previous})` : null;
}

function byModules(config: TitanConfig, input: Input, parts: readonly TreeNode[], range: TextRange): TitanSplit {
  const vpp = perRank(config, input, parts.length, range);
  const seen = new Set<number>();
  let sound = true;
  const stages = parts.map((part): StageContent => {
    const words = wordsOf(part);
    let layers = 0;
    for (const word of words) {
      const match = LAYER.exec(word.text);
      if (match === null) continue;
      layers++;
      if (seen.has(Number(match[1]))) {
        sound = false;
        config.findings.push(finding('split-invalid', `"${word.text}" is in two model parts`, word.range));
      }
      seen.add(Number(match[1]));
    }
    const names = new Set(words.map((word) => word.text));
    return {
      layers,
      embedding: names.has('tok_embeddings'),
      head: names.has('output') || names.has('lm_head'),
      mtp: 0,
    };
  });
  const key = entryAt(config.root, pathOf(config, 'module_fqns_per_model_part'))?.keyRange ?? range;
  const dropped = droppedLayers(seen, input.layers);
  if (dropped !== null) {
    sound = false;
    config.findings.push(finding('split-invalid', dropped, key));
  }
  return {
    vpp,
    stages: sound
      ? fromText(stages, range, 'module names')
      : unknown('a split that holds every layer once', undefined, range),
  };
}

/** Layers that no part names are dropped from the model without a word. */
function droppedLayers(seen: ReadonlySet<number>, layers: Sourced<number>): string | null {
  if (layers.value === null || layers.value > 100_000) return null;
  const missing = Array.from({ length: layers.value }, (_, n) => n).filter((n) => !seen.has(n));
  if (missing.length === 0) return null;
  const some = missing.slice(0, 3).map((n) => `layers.${n}`);
  const rest = missing.length > some.length ? ` and ${missing.length - some.length} more` : '';
  return `No model part holds ${some.join(', ')}${rest}: the model would train without`;
}

function perRank(config: TitanConfig, input: Input, count: number, range: TextRange): Sourced<number> {
  const at = fromText(count, range);
  const about = [
    ['split', at],
    ['pipeline size', fromText(input.pp, config.anchor)],
    ['schedule', input.scheduleName],
  ] as const;
  if (count % input.pp !== 0) {
    report(
      config,
      'split-invalid',
      `num_stages ${count} must be evenly divisible by pp_size ${input.pp}`,
      about.slice(0, 2),
    );
    return unknown('a number of stages that the pipeline size divides', undefined, range);
  }
  const stages = count / input.pp;
  if (input.schedule?.stagesPerRank === 'two' && stages !== 2) {
    report(config, 'schedule-not-legal', `v schedules assume 2 stages per rank, got ${stages}`, [about[0], about[2]]);
  }
  return derived(stages, `${count} stages / ${input.pp} ranks`, ['stages', 'pp']);
}
