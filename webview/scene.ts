/** What one frame is drawn from, and the small helpers that every drawing part shares. */

import type { TimelineView } from '../src/model/protocol.ts';
import type { Coverage } from './coverage.ts';
import type { Layout } from './layout.ts';
import type { Palette } from './palette.ts';
import { type Span, timeToX } from './viewport.ts';

export interface Scene {
  readonly view: TimelineView;
  readonly coverage: Coverage;
  readonly layout: Layout;
  readonly span: Span;
  readonly scroll: number;
  readonly palette: Palette;
  /** Device pixels per CSS pixel. */
  readonly dpr: number;
  readonly fontFamily: string;
}

/** The actions of a rank that are in view: `from` included, `to` not. */
export interface Slice {
  readonly rank: number;
  readonly from: number;
  readonly to: number;
}

export function xOf(scene: Scene, time: number): number {
  return timeToX(scene.span, scene.layout.plotLeft, scene.layout.plotWidth, time);
}

/** Onto the grid of device pixels, so that edges are crisp. */
export function snap(scene: Scene, value: number): number {
  return Math.round(value * scene.dpr) / scene.dpr;
}

export function font(scene: Scene, size: number, weight = 400): string {
  return `${weight} ${size}px ${scene.fontFamily}`;
}

/** Calls `draw` with drawing confined to a rectangle. */
export function clipped(
  context: CanvasRenderingContext2D,
  box: { readonly left: number; readonly top: number; readonly width: number; readonly height: number },
  draw: () => void,
): void {
  context.save();
  context.beginPath();
  context.rect(box.left, box.top, box.width, box.height);
  context.clip();
  draw();
  context.restore();
}

export function rowsBox(scene: Scene, fromLeft: number): Parameters<typeof clipped>[1] {
  const { layout } = scene;
  return {
    left: fromLeft,
    top: layout.rowsTop,
    width: layout.plotLeft + layout.plotWidth - fromLeft,
    height: layout.rowsHeight,
  };
}

/** The text, shortened with an ellipsis to fit; empty where not even three letters do. */
export function fitText(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low < 3 ? '' : `${text.slice(0, low).trimEnd()}…`;
}
