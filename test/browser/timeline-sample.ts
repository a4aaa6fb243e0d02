/** Timelines for the browser tests, simulated by the product's own engine and put in words as its surfaces do. */

import { badgeText, percent } from '../../src/advice/format.ts';
import { waterfallText } from '../../src/advice/wording.ts';
import type { Costs } from '../../src/model/costs.ts';
import type { TimelineView, ToWebview } from '../../src/model/protocol.ts';
import type { ScheduleId } from '../../src/model/schedule.ts';
import { pipelineReport } from '../../src/sim/simulate.ts';

export interface Sample {
  readonly schedule: ScheduleId;
  readonly pp: number;
  readonly vpp: number;
  readonly microbatches: number;
  readonly forward?: (stage: number) => number;
  readonly transfer?: number;
  readonly unit?: Costs['unit'];
  readonly title?: string;
  readonly planId?: string;
  readonly plans?: TimelineView['plans'];
}

export function sampleView(sample: Sample): TimelineView {
  const { schedule, pp, vpp, microbatches, forward = () => 10, transfer = 0, unit = 'ms' } = sample;
  const stages = Array.from({ length: pp * vpp }, (_, stage) => stage);
  const costs: Costs = {
    badge: unit === 'ms' ? 'explicit' : 'relative',
    unit,
    how: 'sample',
    forward: stages.map(forward),
    backwardInput: stages.map(forward),
    backwardWeight: stages.map(forward),
    transfer: stages.slice(1).map(() => transfer),
    activationBytes: stages.map(() => null),
  };
  const simulated = pipelineReport({ schedule, pp, vpp, microbatches, groupSize: pp, variant: null }, costs);
  if (!simulated.ok) throw new Error(simulated.reason);
  const { report, timeline } = simulated;
  if (timeline === null) throw new Error('the sample is too long for a timeline');
  const { planId = 'main', title = `${schedule} · pp ${pp} · ${microbatches} microbatches` } = sample;
  return {
    planId,
    title,
    headline: `${percent(report.bubbleFraction)} idle`,
    waterfall: waterfallText(report.waterfall),
    parts: report.waterfall,
    badge: costs.badge,
    badgeText: badgeText(costs.badge),
    timeline,
    ranks: report.ranks.map((rank, n) => ({ rank: n, holds: holds(n, pp, vpp), ...rank })),
    pp,
    vpp,
    plans: sample.plans ?? [{ id: planId, name: title }],
  };
}

export function show(sample: Sample, version: number): ToWebview {
  return { type: 'show', version, view: sampleView(sample) };
}

const LAYERS = 4;

function holds(rank: number, pp: number, vpp: number): string {
  const chunks = Array.from({ length: vpp }, (_, chunk) => (chunk * pp + rank) * LAYERS);
  const layers = chunks.map((first) => `${first}–${first + LAYERS - 1}`).join(', ');
  return `layers ${layers}${rank === 0 ? ', embedding' : ''}${rank === pp - 1 ? ', head' : ''}`;
}
