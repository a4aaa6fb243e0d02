/**
 * Actions as bars with their microbatch written in them, idle time hatched between. Kinds differ in colour, lightness
 * and shape: a backward has a strip along its foot, an input gradient one along its head, a weight gradient is lower.
 * The two actions of an overlapped pair share the row, one above the other.
 */

import { drawIdle } from './draw-idle.ts';
import { pairedWith } from './items.ts';
import { barTop } from './layout.ts';
import { type Fill, fillOf } from './palette.ts';
import { font, type Scene, type Slice, snap, xOf } from './scene.ts';

/** Bars in view up to which corners are round: beyond, they are too small to tell. */
const MOST_ROUNDED = 2500;
// Lengths in pixels from which bars stand apart, have their strip, and their outline: shorter ones would be nothing else.
const LEAST_APART = 6;
const LEAST_DETAILED = 7;
const LEAST_OUTLINED = 10;
const LABEL_ROOM = 3;

const INPUT = 1;
const WEIGHT = 2;
const BACKWARD = 3;

interface Bar {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** Its length and what is seen of it, before rounding to pixels: bars of one length then all look alike. */
  readonly length: number;
  readonly room: number;
  readonly middle: number;
  readonly microbatch: number;
}

interface Group {
  readonly kind: number;
  readonly fill: Fill;
  readonly bars: Bar[];
}

export function drawBars(context: CanvasRenderingContext2D, scene: Scene, slices: readonly Slice[]): void {
  for (const slice of slices) drawGaps(context, scene, slice);
  const groups = groupsOf(scene, slices);
  const count = groups.reduce((sum, group) => sum + group.bars.length, 0);
  for (const group of groups) {
    drawShapes(context, scene, group, count <= MOST_ROUNDED);
    drawNumbers(context, scene, group);
  }
}

/** Bars by kind and tone, so that each fill is set once. */
function groupsOf(scene: Scene, slices: readonly Slice[]): readonly Group[] {
  const { timeline } = scene.view;
  const { toneOfStage } = scene.coverage;
  const groups = new Map<number, Group>();
  for (const slice of slices) {
    const top = snap(scene, barTop(scene.layout, scene.scroll, slice.rank));
    for (let i = slice.from; i < slice.to; i++) {
      const kind = timeline.kind[i]!;
      const tone = toneOfStage[timeline.stage[i]!]!;
      const key = kind + 4 * Math.round(tone * 255);
      let group = groups.get(key);
      if (group === undefined) {
        group = { kind, fill: fillOf(scene.palette, kind, tone), bars: [] };
        groups.set(key, group);
      }
      group.bars.push(barOf(scene, slice.rank, i, top));
    }
  }
  return [...groups.values()];
}

/** On the device's pixels, with a hairline of background towards the neighbour where there is room. */
function barOf(scene: Scene, rank: number, index: number, rowTop: number): Bar {
  const { timeline } = scene.view;
  const { plotLeft, plotWidth, barHeight } = scene.layout;
  const from = xOf(scene, timeline.start[index]!);
  const to = xOf(scene, timeline.end[index]!);
  const left = snap(scene, Math.max(from, plotLeft - 8));
  const right = snap(scene, Math.min(to, plotLeft + plotWidth + 8));
  const seen = { from: Math.max(from, plotLeft), to: Math.min(to, plotLeft + plotWidth) };
  const width = to - from >= LEAST_APART ? right - left - 1 : Math.max(right - left, 1 / scene.dpr);
  const twin = scene.coverage.paired?.[index] ? pairedWith(timeline, rank, index) : -1;
  const lane = twin < 0 ? { top: 0, height: barHeight } : laneOf(barHeight, index < twin);
  const low = timeline.kind[index] === WEIGHT ? Math.round(lane.height * 0.36) : 0;
  return {
    left,
    width,
    top: rowTop + lane.top + low,
    height: lane.height - low,
    length: to - from,
    room: seen.to - seen.from,
    middle: (seen.from + seen.to - 1) / 2,
    microbatch: timeline.microbatch[index]!,
  };
}

function laneOf(barHeight: number, upper: boolean): { readonly top: number; readonly height: number } {
  const half = Math.floor(barHeight / 2);
  return upper ? { top: 0, height: half - 1 } : { top: half, height: barHeight - half };
}

function drawShapes(context: CanvasRenderingContext2D, scene: Scene, group: Group, rounded: boolean): void {
  const { outline } = scene.palette;
  context.lineWidth = 1;
  for (const { left, top, width, height, length } of group.bars) {
    context.fillStyle = group.fill.css;
    const radius = rounded ? Math.min(3, height / 4, width / 6) : 0;
    fillBox(context, left, top, width, height, [radius]);
    if (length < LEAST_DETAILED) continue;
    const strip = stripOf(group.kind, height);
    if (strip !== null) {
      context.fillStyle = group.fill.edge;
      const round = strip.top === 0 ? [radius, radius, 0, 0] : [0, 0, radius, radius];
      fillBox(context, left, top + strip.top, width, strip.height, round);
    }
    if (outline !== null && length >= LEAST_OUTLINED) {
      context.strokeStyle = outline;
      context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
    }
  }
}

function fillBox(
  context: CanvasRenderingContext2D,
  left: number,
  top: number,
  width: number,
  height: number,
  radii: number[],
): void {
  if (radii.every((radius) => radius < 1)) {
    context.fillRect(left, top, width, height);
    return;
  }
  context.beginPath();
  context.roundRect(left, top, width, height, radii);
  context.fill();
}

function drawNumbers(context: CanvasRenderingContext2D, scene: Scene, group: Group): void {
  const height = group.bars[0]?.height ?? 0;
  const size = Math.min(12, Math.floor((height - (stripOf(group.kind, height)?.height ?? 0)) * 0.75));
  if (size < 9) return;
  context.font = font(scene, size);
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillStyle = group.fill.ink;
  const digit = context.measureText('0').width;
  for (const { top, height, room, middle, microbatch } of group.bars) {
    const text = String(microbatch);
    if (room < text.length * digit + LABEL_ROOM || height < size) continue;
    const strip = stripOf(group.kind, height);
    const shift = strip === null ? 0 : strip.top === 0 ? strip.height / 2 : -strip.height / 2;
    context.fillText(text, middle, top + height / 2 + shift + 0.5);
  }
}

function stripOf(kind: number, height: number): { readonly top: number; readonly height: number } | null {
  if (kind !== BACKWARD && kind !== INPUT) return null;
  const thickness = height >= 24 ? 3 : 2;
  return { top: kind === INPUT ? 0 : height - thickness, height: thickness };
}

function drawGaps(context: CanvasRenderingContext2D, scene: Scene, slice: Slice): void {
  const { timeline } = scene.view;
  const { plotLeft, plotWidth, barHeight } = scene.layout;
  const top = snap(scene, barTop(scene.layout, scene.scroll, slice.rank));
  const first = timeline.rankStart[slice.rank]!;
  const stop = timeline.rankStart[slice.rank + 1]!;
  for (let i = slice.from; i <= slice.to; i++) {
    const from = i === first ? 0 : timeline.end[i - 1]!;
    const to = i === stop ? timeline.makespan : timeline.start[i]!;
    const left = snap(scene, Math.max(xOf(scene, from), plotLeft));
    const right = snap(scene, Math.min(xOf(scene, to), plotLeft + plotWidth));
    if (right > left) drawIdle(context, scene, left, top, right - left, barHeight);
  }
}
