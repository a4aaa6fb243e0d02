/**
 * Where things stand on the canvas, in CSS pixels: the minimap on top, the time axis under it, the labels on the left
 * and one row per rank. Rows grow to fill the height within limits; what does not fit scrolls.
 */

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly plotLeft: number;
  readonly plotWidth: number;
  readonly minimapTop: number;
  readonly minimapHeight: number;
  readonly axisTop: number;
  readonly axisHeight: number;
  readonly rowsTop: number;
  /** Height of the area in which rows are seen. */
  readonly rowsHeight: number;
  /** Distance from one row to the next. */
  readonly rowPitch: number;
  readonly barHeight: number;
  readonly rows: number;
  readonly maxScroll: number;
}

const SMALLEST_PITCH = 16;
const LARGEST_PITCH = 54;
const MARGIN_RIGHT = 16;
const MARGIN_BOTTOM = 4;

export function layoutFor(size: { readonly width: number; readonly height: number }, rows: number): Layout {
  const { width, height } = size;
  const plotLeft = width < 480 ? 84 : width < 900 ? 150 : 216;
  const minimapHeight = height < 180 ? 0 : 30;
  const axisHeight = 26;
  const axisTop = minimapHeight === 0 ? 0 : minimapHeight + 4;
  const rowsTop = axisTop + axisHeight;
  const rowsHeight = Math.max(0, height - rowsTop - MARGIN_BOTTOM);
  const pitch = Math.min(LARGEST_PITCH, Math.max(SMALLEST_PITCH, Math.floor(rowsHeight / Math.max(1, rows))));
  const gap = pitch >= 34 ? 6 : pitch >= 24 ? 4 : 2;
  return {
    width,
    height,
    plotLeft,
    plotWidth: Math.max(1, width - plotLeft - MARGIN_RIGHT),
    minimapTop: 0,
    minimapHeight,
    axisTop,
    axisHeight,
    rowsTop,
    rowsHeight,
    rowPitch: pitch,
    barHeight: pitch - gap,
    rows,
    maxScroll: Math.max(0, pitch * rows - rowsHeight),
  };
}

/** Top of a rank's bars. */
export function barTop(layout: Layout, scroll: number, rank: number): number {
  return layout.rowsTop + rank * layout.rowPitch - scroll + Math.floor((layout.rowPitch - layout.barHeight) / 2);
}

/** The rank whose row is at `y`; null outside the rows. */
export function rankAt(layout: Layout, scroll: number, y: number): number | null {
  if (y < layout.rowsTop || y >= layout.rowsTop + layout.rowsHeight) return null;
  const rank = Math.floor((y - layout.rowsTop + scroll) / layout.rowPitch);
  return rank >= 0 && rank < layout.rows ? rank : null;
}

/** First and last rank that are seen, both included. */
export function visibleRanks(layout: Layout, scroll: number): { readonly first: number; readonly last: number } {
  const first = Math.max(0, Math.floor(scroll / layout.rowPitch));
  const last = Math.min(layout.rows - 1, Math.ceil((scroll + layout.rowsHeight) / layout.rowPitch) - 1);
  return { first, last };
}

export function clampScroll(layout: Layout, scroll: number): number {
  return Math.min(Math.max(scroll, 0), layout.maxScroll);
}

/** The least scroll that shows the rank's whole row. */
export function scrollToRank(layout: Layout, scroll: number, rank: number): number {
  const top = rank * layout.rowPitch;
  const bottom = top + layout.rowPitch;
  if (top < scroll) return clampScroll(layout, top);
  return bottom > scroll + layout.rowsHeight ? clampScroll(layout, bottom - layout.rowsHeight) : scroll;
}
