/** What a schedule brings: its names, its placement, what it refuses whatever the framework, and its order. */

import type { Costs } from '../../model/costs.ts';
import type { Placement, ScheduleId } from '../../model/schedule.ts';
import type { Order } from '../order.ts';
import type { PipelineShape } from '../shape.ts';

/** What a search may look at. */
export type OrderTimes = Pick<Costs, 'forward' | 'backwardInput' | 'backwardWeight' | 'transfer'>;

export interface ScheduleRow {
  readonly id: ScheduleId;
  readonly title: string;
  /** The paper, or the repository and file, that the order mirrors. */
  readonly source: string;
  readonly placement: Placement;
  /** Stages per rank that it takes. */
  readonly virtualStages: 'one' | 'two' | 'any';
  /** Whether gradients of inputs and weights are separate actions. */
  readonly splitsBackward: boolean;
  /** Every spelling that configs use, in lower case; see `scheduleByAlias`. */
  readonly aliases: readonly string[];
  /** Why the order does not exist for these (sound) sizes, in one line; null when it does. */
  readonly refuse: (shape: PipelineShape) => string | null;
  /** Why the order of these sizes takes too long to lay out, in one line; absent where the actions alone decide. */
  readonly tooLarge?: (shape: PipelineShape) => string | null;
  /** The group size where nobody says one. */
  readonly defaultGroupSize: (shape: Pick<PipelineShape, 'pp' | 'vpp' | 'microbatches'>) => number;
  /** Upper bound of the actions, from sizes alone. */
  readonly actions: (shape: PipelineShape) => number;
  /** Whether the order depends on the costs, because it is searched for them. */
  readonly searches: (shape: PipelineShape) => boolean;
  /** The per-rank order; called only for sizes that are not refused, with costs that fit them. */
  readonly order: (shape: PipelineShape, times: OrderTimes) => Order;
}
