/**
 * The stage: two canvases over each other, what is looked at, and the loop that redraws only what changed, on an
 * animation frame. The timeline is below, what follows the mouse is on top; both follow size, pixel ratio and theme.
 */

import type { TimelineView } from '../src/model/protocol.ts';
import { buildCoverage, busyShare, type Coverage, idleProfile } from './coverage.ts';
import { describeItem, spoken } from './describe.ts';
import { element } from './dom.ts';
import { drawAxis, drawLabels, drawMinimap, drawScroll } from './draw-frame.ts';
import { drawOverlay } from './draw-overlay.ts';
import { drawRows } from './draw-rows.ts';
import { type ActionIdentity, findAction, type Item, identityOf } from './items.ts';
import { clampScroll, type Layout, layoutFor } from './layout.ts';
import { type Command, focusOn, type Looking, navigate } from './navigation.ts';
import { type Palette, readPalette } from './palette.ts';
import { indexMicrobatches, type MicrobatchIndex } from './paths.ts';
import type { Scene } from './scene.ts';
import { formatDuration, formatShare } from './ticks.ts';
import { carrySpan, clampSpan, type Span, wholeSpan } from './viewport.ts';

export interface StageEvents {
  readonly reveal: (item: Item) => void;
  /** What is focused or selected, in words; empty when nothing is. */
  readonly tell: (text: string) => void;
  readonly settled: () => void;
  readonly painted: (coverage: Coverage, palette: Palette) => void;
}

export interface Kept {
  readonly span: Span | null;
  readonly scroll: number;
  readonly focus: ActionIdentity | null;
}

export interface Stage {
  readonly element: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly show: (view: TimelineView, kept: Kept | null) => void;
  readonly scene: () => Scene | null;
  readonly looking: () => Looking;
  readonly look: (looking: Looking, easing: boolean) => void;
  readonly command: (command: Command, pointer: number | null) => void;
  readonly hover: (item: Item | null) => void;
  readonly focus: (item: Item, byKeyboard: boolean) => void;
  readonly kept: () => Kept;
  readonly repaint: () => void;
}

interface Shown {
  readonly view: TimelineView;
  readonly coverage: Coverage;
  microbatches: MicrobatchIndex | null;
  profile: Float32Array | null;
}

const EASING_MS = 45;
const NOWHERE: Looking = { span: { from: 0, to: 1 }, scroll: 0, focus: null, range: null };

export function createStage(events: StageEvents): Stage {
  const base = element('canvas', { 'aria-hidden': 'true' });
  const top = element('canvas', { class: 'top', role: 'application', tabindex: '0', 'aria-label': 'Timeline' });
  const made = element('div', { class: 'stage' }, base, top);
  const below = base.getContext('2d');
  const above = top.getContext('2d');

  let shown: Shown | null = null;
  let palette: Palette | null = null;
  let looking = NOWHERE;
  let hovered: Item | null = null;
  let byKeyboard = false;
  let drawnSpan: Span | null = null;
  let size = { width: 0, height: 0 };
  let layout: Layout = layoutFor(size, 1);
  let fontFamily = 'sans-serif';
  let baseDirty = false;
  let frame = 0;
  let lastTime = 0;

  const request = (all: boolean) => {
    baseDirty ||= all;
    if (frame === 0) frame = requestAnimationFrame(draw);
  };

  const sceneOf = (span: Span): Scene | null =>
    shown === null || palette === null
      ? null
      : {
          view: shown.view,
          coverage: shown.coverage,
          layout,
          span,
          scroll: looking.scroll,
          palette,
          dpr: devicePixelRatio || 1,
          fontFamily,
        };

  const draw = (time: number) => {
    frame = 0;
    const elapsed = Math.min(64, time - lastTime);
    lastTime = time;
    if (drawnSpan !== null) {
      drawnSpan = approach(drawnSpan, looking.span, 1 - Math.exp(-elapsed / EASING_MS));
      baseDirty = true;
    }
    palette ??= readPalette(document.body);
    const scene = sceneOf(drawnSpan ?? looking.span);
    if (scene === null || shown === null || below === null || above === null || size.width === 0) return;
    if (baseDirty) {
      const began = performance.now();
      start(below, scene);
      drawAxis(below, scene);
      top.dataset.mode = drawRows(below, scene);
      drawLabels(below, scene);
      shown.profile ??= idleProfile(shown.coverage, Math.max(1, Math.round(layout.plotWidth)));
      drawMinimap(below, scene, shown.profile);
      drawScroll(below, scene);
      top.dataset.frameMs = (performance.now() - began).toFixed(2);
      events.painted(shown.coverage, scene.palette);
    }
    start(above, scene);
    drawOverlay(above, scene, {
      hover: hovered,
      focus: looking.focus,
      range: looking.range,
      rangeLabel: looking.range === null ? '' : rangeWords(shown.coverage, looking.range),
      microbatches: microbatchesOf(shown, hovered ?? looking.focus),
      keyboard: byKeyboard,
    });
    baseDirty = false;
    if (drawnSpan !== null && near(drawnSpan, looking.span)) drawnSpan = null;
    else if (drawnSpan !== null) request(true);
  };

  const start = (context: CanvasRenderingContext2D, scene: Scene) => {
    context.setTransform(scene.dpr, 0, 0, scene.dpr, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
  };

  const fit = () => {
    const box = made.getBoundingClientRect();
    size = { width: Math.floor(box.width), height: Math.floor(box.height) };
    const dpr = devicePixelRatio || 1;
    for (const canvas of [base, top]) {
      canvas.width = Math.round(size.width * dpr);
      canvas.height = Math.round(size.height * dpr);
      canvas.style.width = `${size.width}px`;
      canvas.style.height = `${size.height}px`;
    }
    layout = layoutFor(size, shown?.view.pp ?? 1);
    looking = { ...looking, scroll: clampScroll(layout, looking.scroll) };
    if (shown !== null) shown.profile = null;
    request(true);
  };

  const look = (next: Looking, easing: boolean) => {
    const before = looking;
    looking = { ...next, scroll: clampScroll(layout, next.scroll) };
    const moved = !same(before.span, looking.span);
    if (moved && easing && !reducedMotion()) {
      drawnSpan ??= before.span;
      if (frame === 0) lastTime = performance.now();
    } else if (moved) drawnSpan = null;
    request(moved || before.scroll !== looking.scroll);
    if (before.focus !== looking.focus || before.range !== looking.range) events.tell(words());
    events.settled();
  };

  const words = (): string => {
    if (shown === null) return '';
    if (looking.range !== null) return `selected ${rangeWords(shown.coverage, looking.range)}`;
    const { focus } = looking;
    return focus === null ? '' : spoken(describeItem(shown.view.timeline, shown.view.vpp, focus));
  };

  new ResizeObserver(fit).observe(made);
  watchPixelRatio(fit);

  return {
    element: made,
    canvas: top,
    show: (view, kept) => {
      const before = shown;
      shown = { view, coverage: buildCoverage(view.timeline, view.vpp), microbatches: null, profile: null };
      layout = layoutFor(size, view.pp);
      looking = carry(before?.view ?? null, looking, view, kept);
      looking = { ...looking, scroll: size.height === 0 ? looking.scroll : clampScroll(layout, looking.scroll) };
      hovered = null;
      drawnSpan = null;
      fontFamily = getComputedStyle(document.body).fontFamily;
      top.setAttribute('aria-label', ariaLabel(view));
      events.tell(words());
      request(true);
      events.settled();
    },
    scene: () => sceneOf(drawnSpan ?? looking.span),
    looking: () => looking,
    look,
    command: (command, pointer) => {
      if (shown === null) return;
      byKeyboard = true;
      look(navigate(command, looking, { timeline: shown.view.timeline, layout, pointer }), true);
    },
    hover: (item) => {
      if (sameItem(hovered, item)) return;
      hovered = item;
      request(false);
    },
    focus: (item, keyboard) => {
      if (shown === null) return;
      byKeyboard = keyboard;
      const around = { timeline: shown.view.timeline, layout, pointer: null };
      look(keyboard ? focusOn(looking, around, item) : { ...looking, focus: item }, keyboard);
    },
    kept: () => ({
      span: shown === null || isAll(looking.span, shown.view) ? null : looking.span,
      scroll: looking.scroll,
      focus: shown !== null && looking.focus?.type === 'action' ? identityOf(shown.view.timeline, looking.focus) : null,
    }),
    repaint: () => {
      palette = null;
      fontFamily = getComputedStyle(document.body).fontFamily;
      request(true);
    },
  };
}

/** What to look at once the timeline changed: what was kept through a reload, else as near as possible to before. */
function carry(before: TimelineView | null, looking: Looking, view: TimelineView, kept: Kept | null): Looking {
  const { timeline } = view;
  if (before === null) {
    return {
      span: kept?.span ? clampSpan(kept.span, timeline.makespan) : wholeSpan(timeline.makespan),
      scroll: kept?.scroll ?? 0,
      focus: kept?.focus ? findAction(timeline, kept.focus) : null,
      range: null,
    };
  }
  if (before.planId !== view.planId || before.timeline.unit !== timeline.unit) {
    return { ...NOWHERE, span: wholeSpan(timeline.makespan) };
  }
  const { focus, range } = looking;
  return {
    span: carrySpan(looking.span, before.timeline.makespan, timeline.makespan),
    scroll: looking.scroll,
    focus: focus?.type === 'action' ? findAction(timeline, identityOf(before.timeline, focus)) : null,
    range: range !== null && range.to <= timeline.makespan ? range : null,
  };
}

function microbatchesOf(shown: Shown, item: Item | null): MicrobatchIndex | null {
  if (item?.type === 'action') shown.microbatches ??= indexMicrobatches(shown.view.timeline);
  return shown.microbatches;
}

function rangeWords(coverage: Coverage, range: Span): string {
  const busy = busyShare(coverage, range.from, range.to);
  const length = formatDuration(range.to - range.from, coverage.timeline.unit);
  return `${length}: busy ${formatShare(busy)}, idle ${formatShare(1 - busy)}`;
}

function ariaLabel(view: TimelineView): string {
  const length = formatDuration(view.timeline.makespan, view.timeline.unit);
  return `Timeline of ${view.title}: ${view.pp} ranks over ${length}, ${view.headline}. Arrow keys move between actions, question mark lists the keys.`;
}

function approach(from: Span, to: Span, share: number): Span {
  return { from: from.from + (to.from - from.from) * share, to: from.to + (to.to - from.to) * share };
}

function near(a: Span, b: Span): boolean {
  const length = b.to - b.from;
  return Math.abs(a.from - b.from) < length * 1e-3 && Math.abs(a.to - b.to) < length * 1e-3;
}

function same(a: Span, b: Span): boolean {
  return a.from === b.from && a.to === b.to;
}

function isAll(span: Span, view: TimelineView): boolean {
  return span.to - span.from >= view.timeline.makespan * (1 - 1e-9);
}

function sameItem(a: Item | null, b: Item | null): boolean {
  return a?.type === b?.type && a?.rank === b?.rank && a?.index === b?.index;
}

function reducedMotion(): boolean {
  return (
    document.body.classList.contains('vscode-reduce-motion') || matchMedia('(prefers-reduced-motion: reduce)').matches
  );
}

/** Calls back whenever the window moves to a screen of another pixel ratio, or is zoomed. */
function watchPixelRatio(changed: () => void): void {
  const query = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
  query.addEventListener(
    'change',
    () => {
      changed();
      watchPixelRatio(changed);
    },
    { once: true },
  );
}
