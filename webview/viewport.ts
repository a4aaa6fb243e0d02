/**
 * The part of the timeline that is in view: a span of time, zoomed at a pivot and panned, always inside the makespan.
 * Pure, in the timeline's own unit of time.
 */

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The closest zoom, as a share of the makespan. */
const CLOSEST = 1e-6;

export function wholeSpan(makespan: number): Span {
  return { from: 0, to: makespan };
}

/** Keeps the length where it can, and moves the span inside 0 to `makespan`. */
export function clampSpan(span: Span, makespan: number): Span {
  const length = Math.min(makespan, Math.max(span.to - span.from, makespan * CLOSEST));
  const middle = (span.from + span.to) / 2;
  const from = Math.min(Math.max(middle - length / 2, 0), makespan - length);
  return { from, to: from + length };
}

/** A factor below 1 zooms in; the time at `pivot` stays where it is. */
export function zoomSpan(span: Span, factor: number, pivot: number, makespan: number): Span {
  const longest = makespan / (span.to - span.from);
  const closest = (makespan * CLOSEST) / (span.to - span.from);
  const scale = Math.min(Math.max(factor, closest), longest);
  return clampSpan({ from: pivot - (pivot - span.from) * scale, to: pivot + (span.to - pivot) * scale }, makespan);
}

export function panSpan(span: Span, delta: number, makespan: number): Span {
  return clampSpan({ from: span.from + delta, to: span.to + delta }, makespan);
}

export function isWhole(span: Span, makespan: number): boolean {
  return span.to - span.from >= makespan * (1 - 1e-9);
}

/** A span around an item so that it takes about a sixth of the view, never wider than the makespan. */
export function spanAround(from: number, to: number, makespan: number): Span {
  const middle = (from + to) / 2;
  const half = Math.max(to - from, makespan * CLOSEST) * 3;
  return clampSpan({ from: middle - half, to: middle + half }, makespan);
}

/** Moves the span by the least so that `from` to `to` is in view. */
export function revealSpan(span: Span, from: number, to: number, makespan: number): Span {
  const length = span.to - span.from;
  const margin = Math.min(length * 0.08, Math.max(0, (length - (to - from)) / 2));
  if (from - margin < span.from) return panSpan(span, from - margin - span.from, makespan);
  if (to + margin > span.to) {
    return panSpan(span, Math.min(to + margin - span.to, from - margin - span.from), makespan);
  }
  return span;
}

/**
 * The span to show after the timeline changed: the whole stays the whole, and a zoomed view keeps its times, unless
 * it now lies past the end.
 */
export function carrySpan(span: Span, makespanBefore: number, makespanAfter: number): Span {
  if (isWhole(span, makespanBefore) || span.from >= makespanAfter) return wholeSpan(makespanAfter);
  return clampSpan(span, makespanAfter);
}

export function timeToX(span: Span, left: number, width: number, time: number): number {
  return left + ((time - span.from) / (span.to - span.from)) * width;
}

export function xToTime(span: Span, left: number, width: number, x: number): number {
  return span.from + ((x - left) / width) * (span.to - span.from);
}
