/** What stands around the rows: the labels of the ranks, the time axis, and the minimap of idle share over time. */

import { cssColour, withAlpha } from './colour.ts';
import { barTop, visibleRanks } from './layout.ts';
import { clipped, fitText, font, rowsBox, type Scene, snap, xOf } from './scene.ts';
import { axisTitle, formatShare, ticksOf } from './ticks.ts';

const TICK_ROOM = 96;
const LABEL_LEFT = 16;
const LABEL_RIGHT = 12;

/** The axis and its faint lines down the rows; drawn first, so that bars lie over the lines. */
export function drawAxis(context: CanvasRenderingContext2D, scene: Scene): void {
  const { layout, palette, span } = scene;
  const bottom = layout.rowsTop + Math.min(layout.rowsHeight, layout.rows * layout.rowPitch - scene.scroll);
  context.font = font(scene, 11);
  context.textBaseline = 'middle';
  const middle = layout.axisTop + layout.axisHeight / 2;
  context.fillStyle = palette.dim;
  context.textAlign = 'right';
  context.fillText(axisTitle(scene.view.timeline.unit), layout.plotLeft - LABEL_RIGHT, middle);
  const hairline = 1 / scene.dpr;
  const right = layout.plotLeft + layout.plotWidth;
  for (const tick of ticksOf(span, Math.max(2, Math.floor(layout.plotWidth / TICK_ROOM)))) {
    const x = snap(scene, xOf(scene, tick.time));
    if (x < layout.plotLeft - 1 || x > right + 1) continue;
    context.fillStyle = palette.grid;
    context.fillRect(x, layout.rowsTop - 4, hairline, bottom - layout.rowsTop + 4);
    const half = context.measureText(tick.label).width / 2;
    context.fillStyle = palette.dim;
    context.textAlign = 'center';
    context.fillText(tick.label, Math.min(Math.max(x, layout.plotLeft + half), right - half), middle);
  }
}

export function drawLabels(context: CanvasRenderingContext2D, scene: Scene): void {
  const { layout } = scene;
  const { first, last } = visibleRanks(layout, scene.scroll);
  clipped(context, { ...rowsBox(scene, 0), width: layout.plotLeft }, () => {
    context.textBaseline = 'middle';
    for (let rank = first; rank <= last; rank++) drawLabel(context, scene, rank);
  });
}

/** Rank and idle share, and what the rank holds: under them where the row is high enough, else between. */
function drawLabel(context: CanvasRenderingContext2D, scene: Scene, rank: number): void {
  const { layout, palette } = scene;
  const row = scene.view.ranks[rank]!;
  const wide = layout.plotLeft > 100;
  const left = wide ? LABEL_LEFT : 8;
  const right = layout.plotLeft - LABEL_RIGHT;
  const twoLines = wide && layout.rowPitch >= 34;
  const middle = barTop(layout, scene.scroll, rank) + layout.barHeight / 2;
  const upper = twoLines ? middle - 8 : middle;
  const size = layout.rowPitch >= 20 ? 12 : 11;
  const name = wide ? `rank ${row.rank}` : String(row.rank);
  const share = formatShare(row.idleFraction);
  context.fillStyle = palette.foreground;
  context.textAlign = 'right';
  context.font = font(scene, size);
  context.fillText(share, right, upper);
  const shareLeft = right - context.measureText(share).width;
  context.textAlign = 'left';
  context.font = font(scene, size, 600);
  context.fillText(name, left, upper);
  if (!wide) return;
  const from = twoLines ? left : left + context.measureText(name).width + 8;
  const to = twoLines ? right : shareLeft - 12;
  context.font = font(scene, size - 1);
  context.fillStyle = palette.dim;
  context.fillText(fitText(context, row.holds, to - from), from, twoLines ? middle + 8 : middle);
}

/** Idle share over the whole step, as an area; `profile` has one entry per column of the plot. */
export function drawMinimap(context: CanvasRenderingContext2D, scene: Scene, profile: Float32Array): void {
  const { layout, palette } = scene;
  const { plotLeft, plotWidth, minimapTop: top, minimapHeight: height } = layout;
  if (height === 0) return;
  context.font = font(scene, 11);
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  context.fillStyle = palette.dim;
  context.fillText(plotLeft > 100 ? 'idle over the step' : 'idle', plotLeft - LABEL_RIGHT, top + height / 2 + 2);
  const bottom = top + height;
  const columns = profile.length;
  context.beginPath();
  context.moveTo(plotLeft, bottom);
  for (let column = 0; column < columns; column++) {
    const y = bottom - profile[column]! * (height - 4);
    context.lineTo(plotLeft + (column / columns) * plotWidth, y);
    context.lineTo(plotLeft + ((column + 1) / columns) * plotWidth, y);
  }
  context.lineTo(plotLeft + plotWidth, bottom);
  context.closePath();
  context.fillStyle = cssColour(withAlpha(palette.idle, palette.strong ? 0.85 : 0.4));
  context.fill();
  context.fillStyle = palette.grid;
  context.fillRect(plotLeft, snap(scene, bottom) - 1 / scene.dpr, plotWidth, 1 / scene.dpr);
}

/** A thin bar at the right that tells how far down the rows one is; none where all fit. */
export function drawScroll(context: CanvasRenderingContext2D, scene: Scene): void {
  const { layout, palette } = scene;
  if (layout.maxScroll === 0) return;
  const content = layout.rows * layout.rowPitch;
  const length = Math.max(24, (layout.rowsHeight / content) * layout.rowsHeight);
  const top = layout.rowsTop + (scene.scroll / layout.maxScroll) * (layout.rowsHeight - length);
  context.fillStyle = palette.dim;
  context.globalAlpha = 0.5;
  context.beginPath();
  context.roundRect(layout.width - 9, top, 5, length, 2.5);
  context.fill();
  context.globalAlpha = 1;
}
