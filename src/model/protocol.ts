/**
 * Messages between the extension and the timeline webview. Both sides check what they receive against this file:
 * an unknown or misshapen message is dropped.
 */

import type { CostsBadge } from './costs.ts';
import type { Waterfall } from './report.ts';
import type { Timeline } from './timeline.ts';

/** One row of the table and of the row labels; texts come ready-made so that every surface shows the same number. */
export interface RankView {
  readonly rank: number;
  /** "layers 12-17, head". */
  readonly holds: string;
  readonly idleFraction: number;
  readonly warmupFraction: number;
  readonly cooldownFraction: number;
  readonly stallFraction: number;
  readonly peakActivations: number;
}

export interface TimelineView {
  readonly planId: string;
  readonly title: string;
  /** The headline as the hint shows it: "21.1 % idle". */
  readonly headline: string;
  /** "schedule 17.9 % + imbalance 3.2 % + communication 0 %". */
  readonly waterfall: string;
  /** The waterfall's numbers, for the bar beside the headline; without them only the words are shown. */
  readonly parts?: Waterfall;
  readonly badge: CostsBadge;
  readonly badgeText: string;
  readonly timeline: Timeline;
  readonly ranks: readonly RankView[];
  readonly pp: number;
  readonly vpp: number;
  /** Plans of the same file, for the choice in the header. */
  readonly plans: readonly { readonly id: string; readonly name: string }[];
}

/** `version` numbers the messages: one that a later one has overtaken is dropped. */
export type ToWebview =
  | { readonly type: 'show'; readonly version: number; readonly view: TimelineView }
  /** The text is broken for now: keep the last view and mark it. */
  | { readonly type: 'stale'; readonly version: number; readonly reason: string }
  /** There is nothing to draw, and why. */
  | { readonly type: 'empty'; readonly version: number; readonly reason: string };

/** What a gap in a row is: before the first action, after the last one, or between. */
export type GapCause = 'warmup' | 'cooldown' | 'stall';

export type FromWebview =
  | { readonly type: 'ready' }
  | { readonly type: 'choosePlan'; readonly planId: string }
  | {
      readonly type: 'revealAction';
      readonly rank: number;
      readonly stage: number;
      readonly kind: string;
      readonly microbatch: number;
    }
  | { readonly type: 'revealGap'; readonly rank: number; readonly cause: GapCause; readonly waitedForRank: number };

/**
 * What the webview keeps through `setState`: enough to be drawn again after a reload, once the extension has sent
 * the timeline anew. `document` is the extension's own, handed in with the page, so that a restored panel finds its file.
 */
export interface TimelineState {
  readonly document: string | null;
  readonly planId: string | null;
  /** The span of time in view; null is the whole. */
  readonly span: { readonly from: number; readonly to: number } | null;
  readonly scroll: number;
  readonly table: boolean;
  readonly focus: {
    readonly rank: number;
    readonly kind: number;
    readonly stage: number;
    readonly microbatch: number;
  } | null;
}
