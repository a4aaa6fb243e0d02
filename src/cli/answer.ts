/**
 * From a request to its answer: the shape and the costs that it asks about, whose rules hold, and the report. Flags and
 * batch lines both come through here.
 */

import { framework } from '../frameworks/table.ts';
import type { Costs } from '../model/costs.ts';
import { counted, grouped } from '../model/counted.ts';
import type { MemoryCurve } from '../model/memory-curve.ts';
import type { PipelineReport } from '../model/report.ts';
import type { Timeline } from '../model/timeline.ts';
import type { Variation } from '../model/variation.ts';
import { edgeTransfers } from '../sim/edges.ts';
import { memoryCurve } from '../sim/memory-curve.ts';
import { isLong } from '../sim/periodic.ts';
import { legality, scheduleRow, stageCount } from '../sim/schedules/table.ts';
import { type PipelineShape, sizeProblem } from '../sim/shape.ts';
import { orderText, pipelineReport } from '../sim/simulate.ts';
import type { Parsed, SimulateRequest } from './options.ts';
import type { Timing } from './timing.ts';
import { variation, variationProblem } from './variation.ts';

/** A command line has the time to simulate more than an editor while its user types. */
export const CLI_MAX_ACTIONS = 16_000_000;

/** A request that can be simulated: its shape and costs, and the answer. */
export interface Answer {
  readonly request: SimulateRequest;
  readonly shape: PipelineShape;
  readonly costs: Costs;
  readonly report: PipelineReport;
  /** null where the run is too long for one. */
  readonly timeline: () => Timeline | null;
  readonly orders: readonly string[] | null;
  readonly variation: Variation | null;
  readonly memoryCurve: MemoryCurve | null;
}

/** Refuses sizes that are none, what the framework refuses, and what has no order, in that order. */
export function answer(request: SimulateRequest): Parsed<Answer> {
  const shape = shapeOf(request);
  const rules = request.framework === null ? null : framework(request.framework);
  const { order, overlapFactor, communication } = request;
  // A custom order is held against its sizes alone: no framework ever ran it.
  const maxActions =
    isLong(shape) && !request.orders && communication === 'async' ? Number.POSITIVE_INFINITY : CLI_MAX_ACTIONS;
  const ruled = order === null ? () => rules?.refuse(request)?.message ?? legality(shape, maxActions) : () => null;
  const problem = sizeProblem(shape) ?? ruled() ?? variationProblem(request);
  if (problem !== null) return { ok: false, problem };
  const costs = costsOf(request);
  if (!costs.ok) return costs;
  const options = { maxActions: CLI_MAX_ACTIONS, overlapFactor, order, communication };
  const simulated = pipelineReport(shape, costs.value, options);
  if (!simulated.ok) return { ok: false, problem: simulated.reason };
  const memory = memoryOf(request, simulated, costs.value);
  if (!memory.ok) return memory;
  const varied = variation(request, shape, costs.value, options);
  if (!varied.ok) return varied;
  return {
    ok: true,
    value: {
      request,
      shape,
      costs: costs.value,
      report: simulated.report,
      timeline: () => simulated.timeline,
      orders: request.orders ? orderText(shape, costs.value, options) : null,
      variation: varied.value,
      memoryCurve: memory.value,
    },
  };
}

function memoryOf(
  { memoryCurve: isAsked, freedAt }: SimulateRequest,
  simulated: { readonly timeline: Timeline | null },
  costs: Costs,
): Parsed<MemoryCurve | null> {
  if (!isAsked) return { ok: true, value: null };
  const { timeline } = simulated;
  if (timeline === null) return { ok: false, problem: 'the run is too long for a memory curve of every action' };
  return { ok: true, value: memoryCurve(timeline, costs.activationBytes, freedAt) };
}

/** The group size is the request's, else the framework's default, else the schedule's own. */
function shapeOf(request: SimulateRequest): PipelineShape {
  const { schedule, pp, vpp, microbatches, memoryLimit } = request;
  const rules = request.framework === null ? null : framework(request.framework);
  const groupSize =
    request.groupSize ?? rules?.defaultGroupSize(request) ?? scheduleRow(schedule)?.defaultGroupSize(request) ?? 1;
  return { schedule, pp, vpp, microbatches, groupSize, variant: rules?.variant(schedule) ?? null, memoryLimit };
}

function costsOf(request: SimulateRequest): Parsed<Costs> {
  const stages = stageCount(request);
  const { stageScale, activationBytes } = request;
  if (stageScale !== null && stageScale.length !== stages) {
    return {
      ok: false,
      problem: `the stage scale has ${counted(stageScale.length, 'factor')} for ${counted(stages, 'stage')}`,
    };
  }
  if (activationBytes !== null && activationBytes.length !== 1 && activationBytes.length !== stages) {
    return {
      ok: false,
      problem: `activation bytes are given for ${grouped(activationBytes.length)} of ${counted(stages, 'stage')}`,
    };
  }
  const transfer = transferOf(request, stages);
  if (!transfer.ok) return transfer;
  const perStage = (time: number) => Array.from({ length: stages }, (_, s) => time * (stageScale?.[s] ?? 1));
  return {
    ok: true,
    value: {
      badge: 'relative',
      unit: 'layer',
      how: 'times as asked on the command line',
      forward: perStage(request.forward),
      backwardInput: perStage(request.backwardInput),
      backwardWeight: perStage(request.backwardWeight),
      transfer: transfer.value,
      activationBytes: Array.from({ length: stages }, (_, s) => activationBytes?.[s] ?? activationBytes?.[0] ?? null),
    },
  };
}

/** One time per edge: as given for each, or by what the edge crosses. */
function transferOf(request: SimulateRequest, stages: number): Parsed<readonly number[]> {
  const { schedule, pp, p2p, p2pEdges, p2pCrossNode, p2pWrapAround, ranksPerNode } = request;
  if (p2pEdges !== null) {
    return p2pEdges.length === stages - 1
      ? { ok: true, value: p2pEdges }
      : {
          ok: false,
          problem: `${counted(p2pEdges.length, 'transfer time')} for ${counted(stages - 1, 'edge')} between stages`,
        };
  }
  if (p2pCrossNode !== null && ranksPerNode === null) {
    return { ok: false, problem: 'a transfer time between nodes is given, but not how many ranks share a node' };
  }
  const placement = scheduleRow(schedule)?.placement ?? 'loop';
  const times = { inNode: p2p, crossNode: p2pCrossNode ?? p2p, wrapAround: p2pWrapAround };
  return { ok: true, value: edgeTransfers(placement, pp, stages, ranksPerNode, times) };
}

/** The answer in the keys that scripts rely on. */
export function answerJson(
  { request, shape, report, orders, variation, memoryCurve }: Answer,
  measured: Timing | null,
) {
  return {
    version: 1,
    schedule: shape.schedule,
    framework: request.framework,
    pp: shape.pp,
    vpp: shape.vpp,
    microbatches: shape.microbatches,
    groupSize: shape.groupSize,
    ...(request.order === null ? {} : { customOrder: true }),
    ...(request.orderNotes.length === 0 ? {} : { notes: request.orderNotes }),
    ...(request.communication === 'async' ? {} : { communication: request.communication }),
    ...(request.memoryLimit === null ? {} : { memoryLimit: request.memoryLimit }),
    placement: scheduleRow(shape.schedule)?.placement ?? null,
    ...report,
    ...(orders === null ? {} : { orders }),
    ...(variation === null ? {} : { variation }),
    ...(memoryCurve === null ? {} : { memoryCurve }),
    ...(measured === null ? {} : { timing: measured }),
  };
}
