/** Pieces that several schedules share: sizes, the usual refusals, plain group sizes and action counts. */

import { grouped } from '../../model/counted.ts';
import { type IdSteps, type Order, type OrderSizes, orderByRank } from '../order.ts';
import type { PipelineShape } from '../shape.ts';

type Writer = (ids: Int32Array, at: number, rank: number, steps: IdSteps) => number;

/** The sizes of a `loop` pipeline. */
export function loopSizes(shape: PipelineShape): OrderSizes {
  const { pp, vpp, microbatches } = shape;
  return { pp, stages: pp * vpp, microbatches, placement: 'loop' };
}

/** The sizes of a `v` pipeline. */
export function vSizes(shape: PipelineShape): OrderSizes {
  return { ...loopSizes(shape), placement: 'v' };
}

/** An order that holds every forward and every whole backward once. */
export function forwardBackwardOrder(shape: PipelineShape, writeRank: Writer): Order {
  return orderByRank(loopSizes(shape), 2 * shape.pp * shape.vpp * shape.microbatches, writeRank);
}

export function oneStagePerRank(shape: PipelineShape): string | null {
  return shape.vpp === 1 ? null : `the schedule holds one stage per rank, not ${grouped(shape.vpp)}`;
}

export function twoStagesPerRank(shape: PipelineShape): string | null {
  return shape.vpp === 2 ? null : `the schedule holds exactly 2 stages per rank, not ${grouped(shape.vpp)}`;
}

export function noRefusal(): null {
  return null;
}

export function noSearch(): boolean {
  return false;
}

/** A schedule without groups runs one microbatch at a time. */
export function noGroups(): number {
  return 1;
}

export function forwardBackwardActions(shape: PipelineShape): number {
  return 2 * shape.pp * shape.vpp * shape.microbatches;
}

export function splitBackwardActions(shape: PipelineShape): number {
  return 3 * shape.pp * shape.vpp * shape.microbatches;
}
