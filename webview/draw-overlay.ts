/**
 * What changes while the mouse moves, on a canvas of its own: the item under the pointer, the focused one, the way of
 * its microbatch through the ranks, the selected span, and the window of the minimap.
 */

import { cssColour, withAlpha } from './colour.ts';
import type { Item } from './items.ts';
import { barTop, visibleRanks } from './layout.ts';
import { type MicrobatchIndex, pathOf } from './paths.ts';
import { clipped, font, rowsBox, type Scene, snap, xOf } from './scene.ts';
import { isWhole, type Span } from './viewport.ts';

interface Marks {
  readonly hover: Item | null;
  readonly focus: Item | null;
  readonly range: Span | null;
  readonly rangeLabel: string;
  readonly microbatches: MicrobatchIndex | null;
  readonly keyboard: boolean;
}

export function drawOverlay(context: CanvasRenderingContext2D, scene: Scene, marks: Marks): void {
  drawWindow(context, scene);
  clipped(context, rowsBox(scene, scene.layout.plotLeft), () => {
    if (marks.range !== null) drawRange(context, scene, marks.range, marks.rangeLabel);
    const traced = marks.hover ?? marks.focus;
    if (traced?.type === 'action' && marks.microbatches !== null) {
      drawPath(context, scene, marks.microbatches, scene.view.timeline.microbatch[traced.index]!);
    }
    if (marks.hover !== null) drawOutline(context, scene, marks.hover, scene.palette.foreground, 1);
    if (marks.focus !== null) drawOutline(context, scene, marks.focus, scene.palette.focus, marks.keyboard ? 2.5 : 2);
  });
}

function drawOutline(context: CanvasRenderingContext2D, scene: Scene, item: Item, colour: string, width: number): void {
  const { plotLeft, plotWidth, barHeight } = scene.layout;
  const left = snap(scene, Math.max(xOf(scene, item.start), plotLeft - 8));
  const right = snap(scene, Math.min(xOf(scene, item.end), plotLeft + plotWidth + 8));
  const top = snap(scene, barTop(scene.layout, scene.scroll, item.rank));
  const box = Math.max(right - left, 3);
  const outside = width / 2 + 0.5;
  context.lineWidth = width + 2;
  context.strokeStyle = cssColour(scene.palette.background);
  context.beginPath();
  context.roundRect(left - outside, top - outside, box + 2 * outside - 1, barHeight + 2 * outside, 3 + outside);
  context.stroke();
  context.lineWidth = width;
  context.strokeStyle = colour;
  context.stroke();
}

/** Lines from each action of the microbatch to the next one, where that is on another rank. */
function drawPath(context: CanvasRenderingContext2D, scene: Scene, index: MicrobatchIndex, microbatch: number): void {
  const { timeline } = scene.view;
  const { layout, palette } = scene;
  const steps = pathOf(timeline, index, microbatch);
  const middle = (rank: number) => barTop(layout, scene.scroll, rank) + layout.barHeight / 2;
  context.beginPath();
  steps.forEach((step, n) => {
    const next = steps[n + 1];
    if (next === undefined || next.rank === step.rank) return;
    const fromX = xOf(scene, timeline.end[step.index]!) - 1;
    const toX = xOf(scene, timeline.start[next.index]!) + 1;
    const bend = Math.min(18, Math.max(3, Math.abs(toX - fromX) / 2));
    context.moveTo(fromX, middle(step.rank));
    context.bezierCurveTo(fromX + bend, middle(step.rank), toX - bend, middle(next.rank), toX, middle(next.rank));
  });
  context.lineWidth = 3.5;
  context.strokeStyle = cssColour(withAlpha(palette.background, 0.7));
  context.stroke();
  context.lineWidth = 1.5;
  context.strokeStyle = palette.transfer;
  context.stroke();
  context.beginPath();
  const { first, last } = visibleRanks(layout, scene.scroll);
  for (const step of steps) {
    if (step.rank < first || step.rank > last) continue;
    const left = snap(scene, xOf(scene, timeline.start[step.index]!));
    const right = snap(scene, xOf(scene, timeline.end[step.index]!));
    context.roundRect(
      left + 0.5,
      barTop(layout, scene.scroll, step.rank) + 0.5,
      Math.max(right - left - 2, 1),
      layout.barHeight - 1,
      3,
    );
  }
  context.stroke();
}

function drawRange(context: CanvasRenderingContext2D, scene: Scene, range: Span, label: string): void {
  const { layout, palette } = scene;
  const left = snap(scene, xOf(scene, range.from));
  const right = snap(scene, xOf(scene, range.to));
  const bottom = Math.min(layout.rowsHeight, layout.rows * layout.rowPitch - scene.scroll);
  context.fillStyle = palette.focus;
  context.globalAlpha = 0.16;
  context.fillRect(left, layout.rowsTop, right - left, bottom);
  context.globalAlpha = 1;
  context.fillRect(left, layout.rowsTop, 1, bottom);
  context.fillRect(right - 1, layout.rowsTop, 1, bottom);
  context.font = font(scene, 11, 600);
  const width = context.measureText(label).width + 14;
  const { plotLeft, plotWidth } = layout;
  const x = Math.min(Math.max((left + right) / 2 - width / 2, plotLeft + 2), plotLeft + plotWidth - width - 2);
  context.fillStyle = cssColour(palette.background);
  context.strokeStyle = palette.focus;
  context.lineWidth = 1;
  context.beginPath();
  context.roundRect(snap(scene, x) + 0.5, layout.rowsTop + 4.5, Math.round(width), 20, 4);
  context.fill();
  context.stroke();
  context.fillStyle = palette.foreground;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillText(label, x + width / 2, layout.rowsTop + 15);
}

/** The part of the step that the rows show, as a window on the minimap. */
function drawWindow(context: CanvasRenderingContext2D, scene: Scene): void {
  const { layout, palette, span } = scene;
  const { makespan } = scene.view.timeline;
  if (layout.minimapHeight === 0 || isWhole(span, makespan)) return;
  const left = snap(scene, layout.plotLeft + (span.from / makespan) * layout.plotWidth);
  const right = Math.max(left + 4, snap(scene, layout.plotLeft + (span.to / makespan) * layout.plotWidth));
  const top = layout.minimapTop + 1;
  const height = layout.minimapHeight - 1;
  context.fillStyle = cssColour(withAlpha(palette.background, 0.6));
  context.fillRect(layout.plotLeft, top, left - layout.plotLeft, height);
  context.fillRect(right, top, layout.plotLeft + layout.plotWidth - right, height);
  context.strokeStyle = palette.foreground;
  context.lineWidth = 1;
  context.beginPath();
  context.roundRect(left + 0.5, top + 0.5, right - left - 1, height - 1, 3);
  context.stroke();
}
