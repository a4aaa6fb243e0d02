/**
 * What is looked at once the timeline has changed: what was kept through a reload, else as near as possible to what
 * was looked at before. Pure.
 */

import type { TimelineState, TimelineView } from '../src/model/protocol.ts';
import { type ActionItem, findAction, type Item, identityOf } from './items.ts';
import type { Looking } from './navigation.ts';
import { carrySpan, clampSpan, isWhole, wholeSpan } from './viewport.ts';

export type Kept = Pick<TimelineState, 'span' | 'scroll' | 'focus'>;

export const NOWHERE: Looking = { span: { from: 0, to: 1 }, scroll: 0, focus: null, range: null };

/** A view shown for the first time, as it was kept through a reload; from the start where nothing was kept. */
export function restore(view: TimelineView, kept: Kept | null): Looking {
  const { timeline } = view;
  return {
    span: kept?.span ? clampSpan(kept.span, timeline.makespan) : wholeSpan(timeline.makespan),
    scroll: kept?.scroll ?? 0,
    focus: kept?.focus ? findAction(timeline, kept.focus) : null,
    range: null,
  };
}

/** A view in the place of another: another plan or unit begins anew, else times and the focused action stay. */
export function carry(before: TimelineView, looking: Looking, view: TimelineView): Looking {
  const { timeline } = view;
  if (before.planId !== view.planId || before.timeline.unit !== timeline.unit) return restore(view, null);
  const { focus, range } = looking;
  return {
    span: carrySpan(looking.span, before.timeline.makespan, timeline.makespan),
    scroll: looking.scroll,
    focus: isAction(focus) ? findAction(timeline, identityOf(before.timeline, focus)) : null,
    range: range !== null && range.to <= timeline.makespan ? range : null,
  };
}

export function keptOf(view: TimelineView, looking: Looking): Kept {
  const { span, scroll, focus } = looking;
  return {
    span: isWhole(span, view.timeline.makespan) ? null : span,
    scroll,
    focus: isAction(focus) ? identityOf(view.timeline, focus) : null,
  };
}

function isAction(item: Item | null): item is ActionItem {
  return item?.type === 'action';
}
