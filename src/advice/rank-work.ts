/** What each rank holds and how long it works per microbatch, from the split and the costs. */

import type { Costs } from '../model/costs.ts';
import type { Plan } from '../model/plan.ts';
import type { Placement } from '../model/schedule.ts';
import { rankOfStage } from '../sim/shape.ts';

/** Global stages of a rank, in ascending order: its chunks. Bidirectional ranks hold one stage of each direction. */
export function stagesOfRank(placement: Placement, pp: number, vpp: number, rank: number): readonly number[] {
  if (placement === 'bidirectional') return rank <= pp - 1 - rank ? [rank, pp - 1 - rank] : [pp - 1 - rank, rank];
  const stages: number[] = [];
  for (let stage = 0; stage < pp * vpp; stage++) if (rankOfStage(placement, pp, stage) === rank) stages.push(stage);
  return stages;
}

/** F + I + W of all chunks of each rank, per microbatch; length pp. */
export function rankWork(costs: Costs, placement: Placement, pp: number, vpp: number): readonly number[] {
  const perStage = costs.forward.map((forward, s) => forward + costs.backwardInput[s]! + costs.backwardWeight[s]!);
  return Array.from({ length: pp }, (_, rank) =>
    stagesOfRank(placement, pp, vpp, rank).reduce((sum, stage) => sum + (perStage[stage] ?? 0), 0),
  );
}

/** "embedding, layers 0-5 and 48-53, head"; "stage 3" where the split is not known. */
export function holdsText(plan: Plan, placement: Placement, pp: number, vpp: number, rank: number): string {
  const held = stagesOfRank(placement, pp, vpp, rank);
  const contents = plan.stages.value;
  if (contents === null) return held.map((stage) => `stage ${stage}`).join(', ');
  const starts: number[] = [];
  contents.reduce((first, content) => {
    starts.push(first);
    return first + content.layers;
  }, 0);
  const mine = held.flatMap((stage) => (contents[stage] === undefined ? [] : [{ stage, content: contents[stage] }]));
  const spans = mine.flatMap(({ stage, content }) => spanText(starts[stage]!, content.layers));
  return [
    ...(mine.some(({ content }) => content.embedding) ? ['embedding'] : []),
    spans.length === 0
      ? 'no layers'
      : `${spans.length === 1 && !spans[0]!.includes('-') ? 'layer' : 'layers'} ${spans.join(', ')}`,
    ...(mine.some(({ content }) => content.mtp > 0) ? ['MTP'] : []),
    ...(mine.some(({ content }) => content.head) ? ['head'] : []),
  ].join(', ');
}

function spanText(first: number, count: number): readonly string[] {
  if (count === 0) return [];
  return [count === 1 ? String(first) : `${first}-${first + count - 1}`];
}
