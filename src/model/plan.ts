/**
 * A plan: everything that determines the schedule (sizes, split, schedule, microbatches) and the model and cluster
 * that it runs on, as one reader understood it from one config. Every value is sourced; what the file does not
 * determine is unknown.
 */

import type { Finding } from './finding.ts';
import type { CommunicationMode, FrameworkId, ScheduleId } from './schedule.ts';
import type { Sourced, TextRange } from './source.ts';

/** What one stage (model chunk) holds: transformer layers, and the ends of the model. */
export interface StageContent {
  readonly layers: number;
  readonly embedding: boolean;
  /** Final norm, output head and loss. */
  readonly head: boolean;
  /** Multi-token-prediction layers. */
  readonly mtp: number;
}

export interface Experts {
  readonly count: Sourced<number>;
  readonly topK: Sourced<number>;
  readonly ffn: Sourced<number>;
  readonly shared: Sourced<number>;
}

export interface ModelShape {
  readonly layers: Sourced<number>;
  readonly hidden: Sourced<number>;
  readonly heads: Sourced<number>;
  readonly kvHeads: Sourced<number>;
  readonly ffn: Sourced<number>;
  readonly gated: Sourced<boolean>;
  readonly vocabulary: Sourced<number>;
  readonly recompute: Sourced<'none' | 'selective' | 'full'>;
  readonly dtype: Sourced<string>;
  readonly experts: Experts | null;
}

export interface Cluster {
  readonly gpu: Sourced<string>;
  readonly gpusPerNode: Sourced<number>;
  readonly usdPerGpuHour: Sourced<number>;
}

/** Times that the file itself gives, one entry per stage in global order, per microbatch. */
export interface ExplicitStage {
  readonly forwardMs: number;
  readonly backwardInputMs: number;
  readonly backwardWeightMs: number;
  readonly activationBytes: number | null;
  readonly range: TextRange;
}

export interface Run {
  readonly steps: Sourced<number>;
  readonly tokens: Sourced<number>;
}

export interface Plan {
  /** Unique within its file and stable while the file is edited: `main`, or the name of a recipe function. */
  readonly id: string;
  readonly name: string;
  /** Whose rules hold; null for hand-made plans, which nothing refuses. */
  readonly framework: FrameworkId | null;
  /** The token that holds the pipeline size: the line of the hint, the lens and the headline. */
  readonly anchor: TextRange;

  readonly pp: Sourced<number>;
  readonly vpp: Sourced<number>;
  readonly tp: Sourced<number>;
  readonly cp: Sourced<number>;
  readonly ep: Sourced<number>;
  readonly dp: Sourced<number>;
  readonly gpus: Sourced<number>;

  readonly schedule: Sourced<ScheduleId>;
  /** Microbatches per group of an interleaved schedule; the framework's default where the file says nothing. */
  readonly groupSize: Sourced<number>;
  /** Per pipeline drain. */
  readonly microbatches: Sourced<number>;
  readonly microBatchSize: Sourced<number>;
  readonly globalBatchSize: Sourced<number>;
  readonly sequenceLength: Sourced<number>;
  readonly communication: Sourced<CommunicationMode>;

  /** One entry per stage in global order (0 to pp * vpp - 1). */
  readonly stages: Sourced<readonly StageContent[]>;
  readonly model: ModelShape;
  readonly cluster: Cluster;
  readonly run: Run;

  readonly stageTimes: Sourced<readonly ExplicitStage[]>;
  /** Time of one transfer between neighbouring ranks; unknown where the file does not say. */
  readonly transferMs: Sourced<number>;
  readonly measuredStepMs: Sourced<number>;

  /** What the framework refuses at launch or would silently train otherwise, and what is broken, found on reading. */
  readonly findings: readonly Finding[];
}

/** Plan values that a change can set and a source can be asked for. */
export const PLAN_KEYS = [
  'pp',
  'vpp',
  'tp',
  'cp',
  'ep',
  'dp',
  'gpus',
  'schedule',
  'groupSize',
  'microbatches',
  'microBatchSize',
  'globalBatchSize',
  'sequenceLength',
  'stages',
] as const;

export type PlanKey = (typeof PLAN_KEYS)[number];

/** One value that was said: by whom, and in which token of the document where a comment says it. */
export interface SaidValue {
  readonly value: string | number | boolean;
  readonly by: string;
  readonly range?: TextRange;
}

/** What was said beside the config itself: native dotted keys (`cluster.gpus`) with their value and who said it. */
export type Said = Readonly<Record<string, SaidValue>>;
