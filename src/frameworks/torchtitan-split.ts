/**
 * How torchtitan divides layers over pipeline stages when the config names no split of its own. Mirrors
 * pytorch/torchtitan: `generate_split_points` (torchtitan/distributed/pipeline.py up to f0ce21bb7, two rules) and
 * `pipeline_llm` with `generate_llm_fqn_per_model_part` (torchtitan/distributed/pipeline_parallel.py at 92ed8b318).
 */

import type { Refusal } from './framework.ts';

/**
 * Which rule holds: `even` until 2025-04, `rigid` until 2025-07-30 (the ends count as layers, layers per stage must
 * fit exactly), `weighted` since (the weights of the ends can be set, layers per stage rounds up).
 */
export type TitanSplitRule = 'even' | 'rigid' | 'weighted';

interface TitanStagesRequest {
  readonly rule: TitanSplitRule;
  readonly pp: number;
  readonly layers: number;
  readonly layersPerStage: number;
  /** Layers that the embedding and the head count for. */
  readonly firstLess: number;
  readonly lastLess: number;
  /** Whether the schedule takes exactly one stage on each rank. */
  readonly singleStage: boolean;
}

/** Stages on one rank where the config gives layers per stage, or torchtitan's refusal. */
export function titanStagesPerRank(request: TitanStagesRequest): number | Refusal {
  const { rule, pp, layers, layersPerStage, firstLess, lastLess, singleStage } = request;
  const effective = layers + firstLess + lastLess;
  if (rule === 'rigid' && (effective % pp !== 0 || (effective / pp) % layersPerStage !== 0)) {
    return {
      code: 'layers-not-divisible',
      message: `${effective} effective layers (${layers} + embedding + head) do not fit ${pp} ranks in stages of ${layersPerStage}`,
      about: ['stages', 'pp'],
    };
  }
  const stages = Math.ceil(effective / layersPerStage);
  if (stages % pp !== 0) {
    return {
      code: 'layers-not-divisible',
      message: `Number of virtual stages (${stages}) must be divisible by pipeline parallel size (${pp}). Model has ${layers} layers with pipeline_parallel_layers_per_stage=${layersPerStage}`,
      about: ['stages', 'pp'],
    };
  }
  const perRank = stages / pp;
  if (singleStage && perRank !== 1) {
    return {
      code: 'schedule-not-legal',
      message: `Single stage schedule requires exactly 1 stage per rank, but got ${perRank} stages per rank (${layersPerStage} layers per stage)`,
      about: ['stages', 'schedule'],
    };
  }
  if (!singleStage && perRank < 2) {
    return {
      code: 'schedule-not-legal',
      message: `Multi-stage schedule requires at least 2 stages per rank, but got ${perRank} stages per rank (${layersPerStage} layers per stage)`,
      about: ['stages', 'schedule'],
    };
  }
  return perRank;
}

/** Layers of each stage, in order, or torchtitan's refusal. `stages` is at least 1. */
export function titanSplit(
  rule: TitanSplitRule,
  stages: number,
  layers: number,
  firstLess: number,
  lastLess: number,
): readonly number[] | Refusal {
  if (stages === 1) return [layers];
  return rule === 'even' ? evenSplit(stages, layers) : weightedSplit(rule, stages, layers, firstLess, lastLess);
}

function evenSplit(stages: number, layers: number): readonly number[] | Refusal {
  if (stages > layers) {
    return splitRefusal(`Total stages cannot be greater than the number of layers (${stages} > ${layers})`);
  }
  const base = Math.floor(layers / stages);
  const extra = layers % stages;
  const out = Array.from({ length: stages - 1 }, (_, s) => base + (s > 0 && s <= extra ? 1 : 0));
  return [...out, layers - out.reduce((sum, n) => sum + n, 0)];
}

function weightedSplit(
  rule: 'rigid' | 'weighted',
  stages: number,
  layers: number,
  firstLess: number,
  lastLess: number,
): readonly number[] | Refusal {
  const effective = layers + firstLess + lastLess;
  if (stages > effective) {
    return splitRefusal(
      rule === 'rigid'
        ? `The number of total stages cannot be greater than the number of effective layers (${stages} > ${effective})`
        : `Number of stages (${stages}) cannot be greater than effective layers (${effective})`,
    );
  }
  const base = Math.floor(effective / stages);
  const extra = effective % stages;
  for (const [name, weight] of [
    ['input_weight', firstLess],
    ['output_weight', lastLess],
  ] as const) {
    if (weight > base) return splitRefusal(`${name} (${weight}) exceeds minimum layers per stage (${base}).`);
  }
  return Array.from(
    { length: stages },
    (_, s) => base + (s < extra ? 1 : 0) - (s === 0 ? firstLess : 0) - (s === stages - 1 ? lastLess : 0),
  );
}

function splitRefusal(message: string): Refusal {
  return { code: 'split-invalid', message, about: ['stages', 'pp'] };
}
