/**
 * Stages per rank and the layers of each stage: from explicit split points or module names, from layers per stage,
 * or by torchtitan's default rule of the file's era. Mirrors pytorch/torchtitan
 * torchtitan/distributed/pipeline_parallel.py (earlier models/llama3/infra/pipeline.py, pipelining_utils.py).
 */

import type { Refusal } from '../../frameworks/framework.ts';
import type { TorchSchedule } from '../../frameworks/torch-names.ts';
import { type TitanSplitRule, titanSplit, titanStagesPerRank } from '../../frameworks/torchtitan-split.ts';
import type { StageContent } from '../../model/plan.ts';
import { byDefault, derived, rangeOf, type Sourced, unknown } from '../../model/source.ts';
import { saidNumber } from '../said.ts';
import { has } from '../tree.ts';
import { WHOLE, WHOLE_OR_ZERO } from '../values.ts';
import { parallelNumber, pathOf, report, type TitanConfig } from './config.ts';
import { explicitSplit } from './explicit-split.ts';

export interface TitanSplit {
  readonly vpp: Sourced<number>;
  readonly stages: Sourced<readonly StageContent[]>;
}

export interface SplitInput {
  readonly pp: Sourced<number>;
  readonly layers: Sourced<number>;
  /** null: not known, or there is no pipeline. */
  readonly schedule: TorchSchedule | null;
  /** The token of the schedule's name, for the place of a finding. */
  readonly scheduleName: Sourced<string>;
}

/** More stages than any run has; a list of them would only cost time. */
const MAX_STAGES = 65_536;

export function readSplit(config: TitanConfig, input: SplitInput): TitanSplit {
  const { pp, layers } = input;
  if (pp.value === null) {
    return {
      vpp: unknown('the pipeline size', 'pipeline.size'),
      stages: unknown('the pipeline size', 'pipeline.size'),
    };
  }
  if (pp.value === 1) return { vpp: derived(1, 'no pipeline: one stage', ['pp']), stages: whole(layers) };
  const said = config.said['pipeline.virtualStages'] !== undefined;
  const explicit = said ? null : explicitSplit(config, { ...input, pp: pp.value });
  if (explicit !== null) return explicit;
  return defaultSplit(config, input, pp.value);
}

function whole(layers: Sourced<number>): Sourced<readonly StageContent[]> {
  if (layers.value === null) return layers;
  return derived([{ layers: layers.value, embedding: true, head: true, mtp: 0 }], 'no pipeline: one stage holds all', [
    'layers',
  ]);
}

function defaultSplit(config: TitanConfig, input: SplitInput, pp: number): TitanSplit {
  const { layers, schedule } = input;
  const rule = ruleOf(config);
  const endWeight = (name: string) =>
    parallelNumber(config, name, WHOLE_OR_ZERO, byDefault(1, `torchtitan: ${name} is 1 when absent`));
  const weighted = rule === 'weighted';
  const first = weighted ? endWeight('pipeline_parallel_first_stage_less_layers') : byDefault(1, 'torchtitan: 1');
  const last = weighted ? endWeight('pipeline_parallel_last_stage_less_layers') : byDefault(1, 'torchtitan: 1');
  const perStage = parallelNumber(config, 'pipeline_parallel_layers_per_stage', WHOLE, unknown('the layers per stage'));
  const vpp = saidNumber(
    config.said,
    'pipeline.virtualStages',
    stagesPerRank(config, input, { pp, perStage, ends: { first, last } }),
  );
  if (vpp.value === null) return { vpp, stages: unknown(vpp.source.missing, vpp.source.say) };
  if (layers.value === null) return { vpp, stages: layers };
  if (first.value === null || last.value === null) return { vpp, stages: unknown('the weight of the ends') };
  const count = pp * vpp.value;
  if (count > MAX_STAGES && count <= layers.value) return { vpp, stages: unknown('a split that can be listed') };
  const split = titanSplit(rule, count, layers.value, first.value, last.value);
  if ('code' in split) {
    const ends = [
      ['first stage less layers', first],
      ['last stage less layers', last],
    ] as const;
    const sizes = [
      ['pipeline size', input.pp],
      ['layers per stage', perStage],
      ['schedule', schedule === null ? unknown('the schedule') : input.scheduleName],
      ['layers', layers],
    ] as const;
    const faulty = { input_weight: [ends[0], ...sizes], output_weight: [ends[1], ...sizes] };
    const weight = /^(input_weight|output_weight)/.exec(split.message)?.[1] as keyof typeof faulty | undefined;
    refuse(config, split, weight === undefined ? [...sizes, ...ends] : faulty[weight]);
    return { vpp, stages: unknown('a split that torchtitan accepts') };
  }
  const how = `torchtitan's own split: ${layers.value} layers over ${count} stages`;
  return { vpp, stages: derived(contents(split), how, ['layers', 'pp', 'vpp']) };
}

function contents(layers: readonly number[]): readonly StageContent[] {
  return layers.map((count, s) => ({
    layers: count,
    embedding: s === 0,
    head: s === layers.length - 1,
    mtp: 0,
  }));
}

function ruleOf(config: TitanConfig): TitanSplitRule {
  if (config.era === 'count') return 'even';
  return config.era === 'size' ? 'rigid' : 'weighted';
}

interface PerRank {
  readonly pp: number;
  readonly perStage: Sourced<number>;
  readonly ends: { readonly first: Sourced<number>; readonly last: Sourced<number> };
}

function stagesPerRank(config: TitanConfig, input: SplitInput, { pp, perStage, ends }: PerRank): Sourced<number> {
  const { schedule, layers } = input;
  if (schedule === null) return unknown('the schedule', 'pipeline.schedule');
  const single = schedule.stagesPerRank === 'one';
  if (!has(config.root, pathOf(config, 'pipeline_parallel_layers_per_stage'))) {
    return byDefault(single ? 1 : 2, `torchtitan: ${single ? '1 stage' : '2 stages'} per rank for ${schedule.name}`);
  }
  if (perStage.value === null) return perStage;
  if (layers.value === null || ends.first.value === null || ends.last.value === null) {
    return single
      ? byDefault(1, `torchtitan: 1 stage per rank for ${schedule.name}`)
      : unknown('the layers', 'model.layers');
  }
  const result = titanStagesPerRank({
    rule: ruleOf(config),
    pp,
    layers: layers.value,
    layersPerStage: perStage.value,
    firstLess: ends.first.value,
    lastLess: ends.last.value,
    singleStage: single,
  });
  if (typeof result === 'number') {
    const effective = layers.value + ends.first.value + ends.last.value;
    const how = `${effective} effective layers / ${perStage.value} per stage / ${pp} ranks, rounded up`;
    return derived(result, how, ['layers', 'pp']);
  }
  refuse(config, result, [
    ['layers per stage', perStage],
    ['pipeline size', input.pp],
    ['schedule', input.scheduleName],
    ['layers', layers],
  ]);
  return unknown('layers per stage that torchtitan accepts', undefined, rangeOf(perStage) ?? undefined);
}

function refuse(
  config: TitanConfig,
  refusal: Refusal,
  about: readonly (readonly [name: string, value: Sourced<unknown>])[],
): void {
  report(config, refusal.code, refusal.message, about);
}
