/**
 * From a plan to costs per stage: the times that the file gives, else relative ones (layers, and the head's share
 * where the shape is known). What had to be left out is said in `how`, which every surface shows beside the badge.
 */

import type { Costs } from '../model/costs.ts';
import type { ExplicitStage, Plan, StageContent } from '../model/plan.ts';
import { type ModelWork, modelWork, type PassWork } from './layer-work.ts';

/**
 * Costs of a plan whose `pp` and `vpp` are known, each list of length pp * vpp (transfers pp * vpp - 1).
 * Returns null when the sizes are unknown or the stage count is not the plan's.
 */
export function stageCosts(plan: Plan): Costs | null {
  const { pp, vpp } = plan;
  if (pp.value === null || vpp.value === null) return null;
  const count = pp.value * vpp.value;
  if (plan.stageTimes.value !== null) {
    return plan.stageTimes.value.length === count ? explicitCosts(plan, plan.stageTimes.value) : null;
  }
  if (plan.stages.value !== null && plan.stages.value.length !== count) return null;
  return relativeCosts(plan, plan.stages.value, count);
}

function explicitCosts(plan: Plan, times: readonly ExplicitStage[]): Costs {
  const transferMs = plan.transferMs.value;
  return {
    badge: plan.stageTimes.source.kind === 'measured' ? 'measured' : 'explicit',
    unit: 'ms',
    how: `${timesFrom(plan.stageTimes)}${transferMs === null ? '; transfers left out, their time is not known' : ''}`,
    forward: times.map((stage) => stage.forwardMs),
    backwardInput: times.map((stage) => stage.backwardInputMs),
    backwardWeight: times.map((stage) => stage.backwardWeightMs),
    transfer: new Array<number>(Math.max(0, times.length - 1)).fill(transferMs ?? 0),
    activationBytes: times.map((stage) => stage.activationBytes),
  };
}

function timesFrom({ source }: Plan['stageTimes']): string {
  return source.kind === 'measured' ? `measured: ${source.how}` : 'stage and transfer times from the file';
}

function relativeCosts(plan: Plan, stages: readonly StageContent[] | null, count: number): Costs {
  const work = modelWork(plan.model, plan.sequenceLength.value);
  const contents = stages ?? new Array<StageContent>(count).fill({ layers: 1, embedding: false, head: false, mtp: 0 });
  const recompute = plan.model.recompute.value === 'full' ? 1 : 0;
  const sum = (pass: keyof PassWork) => contents.map((content) => stageWork(content, work, pass));
  const forward = sum('forward');
  return {
    badge: 'relative',
    unit: 'layer',
    how: relativeHow(stages !== null, work, recompute > 0),
    forward,
    backwardInput: sum('backwardInput').map((value, s) => value + recompute * layerForward(contents[s]!, work)),
    backwardWeight: sum('backwardWeight'),
    transfer: new Array<number>(Math.max(0, count - 1)).fill(0),
    activationBytes: new Array<number | null>(count).fill(null),
  };
}

function relativeHow(splitKnown: boolean, work: ModelWork, recompute: boolean): string {
  return [
    splitKnown ? work.how : 'equal stages assumed, the split is not known',
    ...(recompute ? ['full recompute adds a forward to each backward'] : []),
    'transfers left out',
  ].join('; ');
}

function stageWork(content: StageContent, work: ModelWork, pass: keyof PassWork): number {
  const head = work.head?.[pass] ?? 0;
  return content.layers * work.layer[pass] + (content.head ? head : 0) + content.mtp * (work.layer[pass] + head);
}

function layerForward(content: StageContent, work: ModelWork): number {
  return (content.layers + content.mtp) * work.layer.forward;
}
