/**
 * How DeepSpeed's PipelineModule puts a list of layers on stages. `type:…` weighs by one every layer whose class or
 * function name matches and balances the sums exactly; `uniform` counts all alike. Mirrors deepspeedai/DeepSpeed at
 * edaa7221: `_partition_layers` in deepspeed/runtime/pipe/module.py, and `partition_balanced` and `partition_uniform`
 * in deepspeed/runtime/utils.py.
 */

import type { StageContent } from '../model/plan.ts';

/** One entry of a PipelineModule's list: the name that `type:` compares, and what it is to the model. */
export interface PipelineLayer {
  readonly name: string;
  readonly part: 'layer' | 'embedding' | 'head' | 'other';
}

/** Steps of the exact search; 200 layers on 128 stages take 2.6 million. */
const MAX_STEPS = 4_000_000;

/** Bounds of each stage in a list of weights: stage s holds entries `bounds[s]` to `bounds[s + 1]`. */
export function partitionUniform(count: number, parts: number): readonly number[] {
  if (count <= parts) return Array.from({ length: parts + 1 }, (_, p) => Math.min(p, count));
  const size = Math.floor(count / parts);
  const residual = count - size * parts;
  return Array.from({ length: parts + 1 }, (_, p) => p * size + Math.min(p, residual));
}

/**
 * The bounds with the smallest difference between the heaviest and the lightest stage; of equal ones the later cut.
 * null when the search would take too long.
 */
export function partitionBalanced(weights: readonly number[], parts: number): readonly number[] | null {
  const n = weights.length;
  if (n <= parts) return partitionUniform(n, parts);
  if ((n * n * parts) / 2 > MAX_STEPS) return null;
  const sums = [0];
  for (const weight of weights) sums.push(sums.at(-1)! + weight);
  let most: number[] = [0, ...new Array<number>(n).fill(Number.POSITIVE_INFINITY)];
  let least: number[] = new Array<number>(n + 1).fill(Number.POSITIVE_INFINITY);
  const cuts: number[][] = [];
  for (let j = 1; j <= parts; j++) {
    const nextMost = new Array<number>(n + 1).fill(Number.POSITIVE_INFINITY);
    const nextLeast = new Array<number>(n + 1).fill(Number.POSITIVE_INFINITY);
    const cut = new Array<number>(n + 1).fill(0);
    for (let i = j; i <= n; i++) {
      let best = Number.POSITIVE_INFINITY;
      for (let k = j - 1; k < i; k++) {
        if (most[k] === Number.POSITIVE_INFINITY) continue;
        const sum = sums[i]! - sums[k]!;
        const high = Math.max(most[k]!, sum);
        const low = Math.min(least[k]!, sum);
        if (high - low > best) continue;
        best = high - low;
        nextMost[i] = high;
        nextLeast[i] = low;
        cut[i] = k;
      }
    }
    cuts.push(cut);
    most = nextMost;
    least = nextLeast;
  }
  const bounds = [n];
  for (let j = parts - 1; j >= 0; j--) bounds.push(cuts[j]![bounds.at(-1)!]!);
  return bounds.reverse();
}

/**
 * What each of `stages` stages holds under a `partition_method`; null for a method whose weights the config does not
 * tell (`parameters`), for a pattern that is more than words and `|`, and for lists that are too long.
 */
export function pipelineModuleSplit(
  layers: readonly PipelineLayer[],
  stages: number,
  method: string,
): readonly StageContent[] | null {
  const bounds = boundsOf(layers, stages, method.trim().toLowerCase());
  if (bounds === null) return null;
  return Array.from({ length: stages }, (_, stage) => {
    const held = layers.slice(bounds[stage], bounds[stage + 1]);
    return {
      layers: held.filter(({ part }) => part === 'layer').length,
      embedding: held.some(({ part }) => part === 'embedding'),
      head: held.some(({ part }) => part === 'head'),
      mtp: 0,
    };
  });
}

function boundsOf(layers: readonly PipelineLayer[], stages: number, method: string): readonly number[] | null {
  if (method === 'uniform') return partitionUniform(layers.length, stages);
  const pattern = /^type:([\w|]+)$/.exec(method)?.[1];
  if (pattern === undefined) return null;
  const words = pattern.split('|').filter((word) => word !== '');
  const weights = layers.map(({ name }) => Number(words.some((word) => name.toLowerCase().includes(word))));
  return partitionBalanced(weights, stages);
}

/** Layers of a transformer between what its framework puts around them. */
export function transformerList(
  before: readonly PipelineLayer[],
  layers: number,
  name: string,
  after: readonly PipelineLayer[],
): readonly PipelineLayer[] {
  return [...before, ...Array.from({ length: layers }, (): PipelineLayer => ({ name, part: 'layer' })), ...after];
}
