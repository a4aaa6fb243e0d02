/**
 * What comes in from the extension, checked against `src/model/protocol.ts`: an unknown or misshapen message is null
 * and is dropped, so that nothing is drawn from data that only looks right. Pure.
 */

import type { CostsBadge } from '../src/model/costs.ts';
import type { RankView, TimelineState, TimelineView, ToWebview } from '../src/model/protocol.ts';
import type { Waterfall } from '../src/model/report.ts';
import { KIND_NAMES, type Timeline } from '../src/model/timeline.ts';
import { pairedWith } from './items.ts';

const MOST_STAGES = 65_536;

type Fields = Readonly<Record<string, unknown>>;

const BADGES: Readonly<Record<CostsBadge, true>> = {
  measured: true,
  trace: true,
  explicit: true,
  estimated: true,
  relative: true,
};

export function readMessage(data: unknown): ToWebview | null {
  if (!isFields(data) || !isCount(data.version)) return null;
  const { version } = data;
  switch (data.type) {
    case 'show': {
      const view = readView(data.view);
      return view === null ? null : { type: 'show', version, view };
    }
    case 'stale':
    case 'empty':
      return typeof data.reason === 'string' ? { type: data.type, version, reason: data.reason } : null;
    default:
      return null;
  }
}

/** What was kept through a reload; parts that do not fit are left out. */
export function readState(data: unknown): TimelineState {
  const fields: Fields = isFields(data) ? data : {};
  const { span, focus } = fields;
  return {
    document: typeof fields.document === 'string' ? fields.document : null,
    planId: typeof fields.planId === 'string' ? fields.planId : null,
    span:
      isFields(span) && isNumber(span.from) && isNumber(span.to) && span.to > span.from
        ? { from: span.from, to: span.to }
        : null,
    scroll: isNumber(fields.scroll) && fields.scroll >= 0 ? fields.scroll : 0,
    table: fields.table === true,
    focus:
      isFields(focus) && isCount(focus.rank) && isCount(focus.kind) && isCount(focus.stage) && isCount(focus.microbatch)
        ? { rank: focus.rank, kind: focus.kind, stage: focus.stage, microbatch: focus.microbatch }
        : null,
  };
}

function readView(data: unknown): TimelineView | null {
  if (!isFields(data)) return null;
  const { planId, title, headline, waterfall, badge, badgeText, pp, vpp } = data;
  const timeline = readTimeline(data.timeline);
  const ranks = Array.isArray(data.ranks) ? data.ranks.map(readRank) : [];
  const plans = Array.isArray(data.plans) ? data.plans.map(readPlan) : [];
  if (typeof planId !== 'string' || typeof title !== 'string' || typeof headline !== 'string') return null;
  if (typeof waterfall !== 'string' || typeof badgeText !== 'string' || !isBadge(badge)) return null;
  if (timeline === null || pp !== timeline.pp || !isCount(vpp) || vpp < 1 || ranks.length !== pp) return null;
  if (!ranks.every((rank) => rank !== null) || !plans.every((plan) => plan !== null)) return null;
  const parts = readParts(data.parts);
  return {
    planId,
    title,
    headline,
    waterfall,
    badge,
    badgeText,
    timeline,
    ranks,
    pp,
    vpp,
    plans,
    ...(parts === null ? {} : { parts }),
  };
}

function readTimeline(data: unknown): Timeline | null {
  if (!isFields(data)) return null;
  const { pp, makespan, unit, rankStart, start, end, kind, stage, microbatch, waitedFor } = data;
  if (!isCount(pp) || pp < 1 || !isNumber(makespan) || makespan <= 0 || (unit !== 'ms' && unit !== 'layer'))
    return null;
  if (!isColumn(rankStart) || !isColumn(start) || !isColumn(end) || !isColumn(kind)) return null;
  if (!isColumn(stage) || !isColumn(microbatch) || !isColumn(waitedFor)) return null;
  const actions = start.length;
  if ([end, kind, stage, microbatch, waitedFor].some((column) => column.length !== actions)) return null;
  if (rankStart.length !== pp + 1 || rankStart[0] !== 0 || rankStart[pp] !== actions) return null;
  for (let rank = 0; rank < pp; rank++) if (!(rankStart[rank]! <= rankStart[rank + 1]!)) return null;
  const timeline = { pp, makespan, unit, rankStart, start, end, kind, stage, microbatch, waitedFor } as const;
  return inOrder(timeline) ? timeline : null;
}

/** Every rank's actions one after another (overlapped pairs aside), of known kinds: what the searches rely on. */
function inOrder(timeline: Timeline): boolean {
  const slack = timeline.makespan * 1e-9;
  for (let rank = 0; rank < timeline.pp; rank++) {
    let reached = -slack;
    for (let i = timeline.rankStart[rank]!; i < timeline.rankStart[rank + 1]!; i++) {
      const start = timeline.start[i]!;
      const end = timeline.end[i]!;
      const follows = start >= reached - slack && end >= start;
      if (!(follows || pairedWith(timeline, rank, i) === i - 1) || !isNamed(timeline, i)) return false;
      reached = end;
    }
    if (!(reached <= timeline.makespan + slack)) return false;
  }
  return true;
}

function isNamed(timeline: Timeline, index: number): boolean {
  const waitedFor = timeline.waitedFor[index]!;
  return (
    isCount(timeline.kind[index]) &&
    timeline.kind[index] < KIND_NAMES.length &&
    isCount(timeline.stage[index]) &&
    timeline.stage[index] < MOST_STAGES &&
    isCount(timeline.microbatch[index]) &&
    waitedFor >= -1 &&
    waitedFor < timeline.pp
  );
}

function readRank(data: unknown): RankView | null {
  if (!isFields(data)) return null;
  const { rank, holds, idleFraction, warmupFraction, cooldownFraction, stallFraction, peakActivations } = data;
  if (!isCount(rank) || typeof holds !== 'string' || !isNumber(idleFraction) || !isNumber(warmupFraction)) return null;
  if (!isNumber(cooldownFraction) || !isNumber(stallFraction) || !isNumber(peakActivations)) return null;
  return { rank, holds, idleFraction, warmupFraction, cooldownFraction, stallFraction, peakActivations };
}

function readPlan(data: unknown): { readonly id: string; readonly name: string } | null {
  return isFields(data) && typeof data.id === 'string' && typeof data.name === 'string'
    ? { id: data.id, name: data.name }
    : null;
}

function readParts(data: unknown): Waterfall | null {
  if (!isFields(data)) return null;
  const { schedule, imbalance, communication } = data;
  return isNumber(schedule) && isNumber(imbalance) && isNumber(communication)
    ? { schedule, imbalance, communication }
    : null;
}

function isFields(data: unknown): data is Fields {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}

function isNumber(data: unknown): data is number {
  return typeof data === 'number' && Number.isFinite(data);
}

function isCount(data: unknown): data is number {
  return typeof data === 'number' && Number.isSafeInteger(data) && data >= 0;
}

function isBadge(data: unknown): data is CostsBadge {
  return typeof data === 'string' && Object.hasOwn(BADGES, data);
}

/** A typed array, or an array of numbers as JSON brings it. */
function isColumn(data: unknown): data is ArrayLike<number> {
  if (ArrayBuffer.isView(data)) return !(data instanceof DataView);
  return Array.isArray(data) && data.every((entry) => typeof entry === 'number');
}
