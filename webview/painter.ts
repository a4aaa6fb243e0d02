/**
 * The loop that draws: two canvases over each other, redrawn on an animation frame and only where something changed.
 * The timeline is below, what follows the mouse is on top; both follow size, pixel ratio and theme.
 */

import type { TimelineView } from '../src/model/protocol.ts';
import { busyShare, type Coverage, idleProfile } from './coverage.ts';
import { element } from './dom.ts';
import { drawAxis, drawLabels, drawMinimap, drawScroll } from './draw-frame.ts';
import { drawOverlay } from './draw-overlay.ts';
import { drawRows } from './draw-rows.ts';
import type { Item } from './items.ts';
import { type Layout, layoutFor } from './layout.ts';
import type { Looking } from './navigation.ts';
import { type Palette, readPalette } from './palette.ts';
import { indexMicrobatches, type MicrobatchIndex } from './paths.ts';
import type { Scene } from './scene.ts';
import { formatDuration, formatShare } from './ticks.ts';
import type { Span } from './viewport.ts';

/** The timeline that is shown, with what is computed from it once. */
interface Shown {
  readonly view: TimelineView;
  readonly coverage: Coverage;
  microbatches: MicrobatchIndex | null;
  profile: Float32Array | null;
}

export interface Painter {
  readonly element: HTMLElement;
  readonly base: HTMLCanvasElement;
  readonly top: HTMLCanvasElement;
  readonly painted: (coverage: Coverage, palette: Palette) => void;
  shown: Shown | null;
  looking: Looking;
  hovered: Item | null;
  byKeyboard: boolean;
  /** The span drawn while it moves towards the one that is looked at. */
  moving: Span | null;
  size: { readonly width: number; readonly height: number };
  layout: Layout;
  palette: Palette | null;
  fontFamily: string;
  baseDirty: boolean;
  frame: number;
  lastTime: number;
}

const EASING_MS = 45;
const LONGEST_STEP_MS = 64;

export function createPainter(looking: Looking, painted: Painter['painted']): Painter {
  const base = element('canvas', { 'aria-hidden': 'true' });
  const top = element('canvas', { class: 'top', role: 'application', tabindex: '0', 'aria-label': 'Timeline' });
  const size = { width: 0, height: 0 };
  return {
    element: element('div', { class: 'stage' }, base, top),
    base,
    top,
    painted,
    shown: null,
    looking,
    hovered: null,
    byKeyboard: false,
    moving: null,
    size,
    layout: layoutFor(size, 1),
    palette: null,
    fontFamily: 'sans-serif',
    baseDirty: false,
    frame: 0,
    lastTime: 0,
  };
}

/** Asks for a frame; `all` draws the timeline too, not only what follows the mouse. */
export function request(painter: Painter, all: boolean): void {
  painter.baseDirty ||= all;
  if (painter.frame === 0) painter.frame = requestAnimationFrame((time) => draw(painter, time));
}

/** Lets the drawn span move from `from` to the one that is looked at. */
export function ease(painter: Painter, from: Span): void {
  painter.moving ??= from;
  if (painter.frame === 0) painter.lastTime = performance.now();
}

/** Takes the colours and the font from the page anew. */
export function rereadTheme(painter: Painter): void {
  painter.palette = null;
  painter.fontFamily = getComputedStyle(document.body).fontFamily;
  request(painter, true);
}

export function sceneOf(painter: Painter): Scene | null {
  const { shown, palette, layout, looking, fontFamily } = painter;
  if (shown === null || palette === null) return null;
  const { view, coverage } = shown;
  const span = painter.moving ?? looking.span;
  return { view, coverage, layout, span, scroll: looking.scroll, palette, dpr: devicePixelRatio || 1, fontFamily };
}

/** Gives the canvases the size of their place on the page, in device pixels. */
export function resize(painter: Painter): void {
  const box = painter.element.getBoundingClientRect();
  painter.size = { width: Math.floor(box.width), height: Math.floor(box.height) };
  for (const canvas of [painter.base, painter.top]) {
    canvas.width = Math.round(painter.size.width * (devicePixelRatio || 1));
    canvas.height = Math.round(painter.size.height * (devicePixelRatio || 1));
    canvas.style.width = `${painter.size.width}px`;
    canvas.style.height = `${painter.size.height}px`;
  }
  painter.layout = layoutFor(painter.size, painter.shown?.view.pp ?? 1);
  if (painter.shown !== null) painter.shown.profile = null;
  request(painter, true);
}

export function rangeWords(coverage: Coverage, range: Span): string {
  const busy = busyShare(coverage, range.from, range.to);
  const length = formatDuration(range.to - range.from, coverage.timeline.unit);
  return `${length}: busy ${formatShare(busy)}, idle ${formatShare(1 - busy)}`;
}

function draw(painter: Painter, time: number): void {
  painter.frame = 0;
  advance(painter, time);
  painter.palette ??= readPalette(document.body);
  const scene = sceneOf(painter);
  const { shown } = painter;
  if (scene === null || shown === null || painter.size.width === 0) return;
  if (painter.baseDirty) drawBase(painter, shown, scene);
  drawTop(painter, shown, scene);
  painter.baseDirty = false;
  if (painter.moving === null) return;
  if (isNear(painter.moving, painter.looking.span)) painter.moving = null;
  request(painter, true);
}

function advance(painter: Painter, time: number): void {
  const elapsed = Math.min(LONGEST_STEP_MS, time - painter.lastTime);
  painter.lastTime = time;
  if (painter.moving === null) return;
  const share = 1 - Math.exp(-elapsed / EASING_MS);
  const { moving: from, looking } = painter;
  painter.moving = {
    from: from.from + (looking.span.from - from.from) * share,
    to: from.to + (looking.span.to - from.to) * share,
  };
  painter.baseDirty = true;
}

function drawBase(painter: Painter, shown: Shown, scene: Scene): void {
  const context = cleared(painter.base, scene);
  if (context === null) return;
  const began = performance.now();
  drawAxis(context, scene);
  const mode = drawRows(context, scene);
  drawLabels(context, scene);
  shown.profile ??= idleProfile(shown.coverage, Math.max(1, Math.round(scene.layout.plotWidth)));
  drawMinimap(context, scene, shown.profile);
  drawScroll(context, scene);
  painter.top.dataset.mode = mode;
  painter.top.dataset.frameMs = (performance.now() - began).toFixed(2);
  painter.painted(shown.coverage, scene.palette);
}

function drawTop(painter: Painter, shown: Shown, scene: Scene): void {
  const context = cleared(painter.top, scene);
  if (context === null) return;
  const { hovered, looking } = painter;
  const traced = hovered ?? looking.focus;
  if (traced?.type === 'action') shown.microbatches ??= indexMicrobatches(shown.view.timeline);
  drawOverlay(context, scene, {
    hover: hovered,
    focus: looking.focus,
    range: looking.range,
    rangeLabel: looking.range === null ? '' : rangeWords(shown.coverage, looking.range),
    microbatches: shown.microbatches,
    keyboard: painter.byKeyboard,
  });
}

function cleared(canvas: HTMLCanvasElement, scene: Scene): CanvasRenderingContext2D | null {
  const context = canvas.getContext('2d');
  context?.setTransform(scene.dpr, 0, 0, scene.dpr, 0, 0);
  context?.clearRect(0, 0, scene.layout.width, scene.layout.height);
  return context;
}

function isNear(a: Span, b: Span): boolean {
  const length = b.to - b.from;
  return Math.abs(a.from - b.from) < length * 1e-3 && Math.abs(a.to - b.to) < length * 1e-3;
}
