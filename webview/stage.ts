/**
 * The stage: what is looked at on the timeline, and how commands and gestures change it. `painter.ts` draws it.
 */

import type { TimelineView } from '../src/model/protocol.ts';
import { carry, type Kept, keptOf, NOWHERE, restore } from './carry.ts';
import { buildCoverage, type Coverage } from './coverage.ts';
import { describeItem, spoken } from './describe.ts';
import type { Item } from './items.ts';
import { clampScroll, layoutFor } from './layout.ts';
import { type Command, focusOn, type Looking, navigate } from './navigation.ts';
import { createPainter, ease, type Painter, rangeWords, request, rereadTheme, resize, sceneOf } from './painter.ts';
import type { Palette } from './palette.ts';
import type { Scene } from './scene.ts';
import { formatDuration } from './ticks.ts';

export interface StageEvents {
  /** What is focused or selected, in words; empty when nothing is. */
  readonly tell: (text: string) => void;
  /** What is looked at has changed. */
  readonly settled: () => void;
  readonly painted: (coverage: Coverage, palette: Palette) => void;
}

export interface Stage {
  readonly element: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  /** `kept` is what was looked at before a reload; only the first view takes it. */
  readonly show: (view: TimelineView, kept: Kept | null) => void;
  readonly scene: () => Scene | null;
  readonly looking: () => Looking;
  readonly look: (looking: Looking, easing: boolean) => void;
  readonly command: (command: Command, pointer: number | null) => void;
  readonly hover: (item: Item | null) => void;
  readonly focus: (item: Item) => void;
  readonly kept: () => Kept;
  readonly rereadTheme: () => void;
}

export function createStage(events: StageEvents): Stage {
  const painter = createPainter(NOWHERE, events.painted);
  const fit = () => {
    resize(painter);
    painter.looking = scrolled(painter, painter.looking);
  };
  new ResizeObserver(fit).observe(painter.element);
  watchPixelRatio(fit);
  return {
    element: painter.element,
    canvas: painter.top,
    show: (view, kept) => show(painter, events, view, kept),
    scene: () => sceneOf(painter),
    looking: () => painter.looking,
    look: (looking, easing) => look(painter, events, looking, easing),
    command: (command, pointer) => {
      if (painter.shown === null) return;
      painter.byKeyboard = true;
      const around = { timeline: painter.shown.view.timeline, layout: painter.layout, pointer };
      look(painter, events, navigate(command, painter.looking, around), true);
    },
    hover: (item) => {
      if (isSame(painter.hovered, item)) return;
      painter.hovered = item;
      request(painter, false);
    },
    focus: (item) => {
      if (painter.shown === null) return;
      painter.byKeyboard = false;
      const around = { timeline: painter.shown.view.timeline, layout: painter.layout, pointer: null };
      const focused = focusOn(painter.looking, around, item);
      look(painter, events, { ...focused, span: painter.looking.span }, false);
    },
    kept: () => (painter.shown === null ? keptOfNothing(painter.looking) : keptOf(painter.shown.view, painter.looking)),
    rereadTheme: () => rereadTheme(painter),
  };
}

function show(painter: Painter, events: StageEvents, view: TimelineView, kept: Kept | null): void {
  const before = painter.shown?.view ?? null;
  painter.shown = { view, coverage: buildCoverage(view.timeline, view.vpp), microbatches: null, profile: null };
  painter.layout = layoutFor(painter.size, view.pp);
  const looking = before === null ? restore(view, kept) : carry(before, painter.looking, view);
  // Before the page has a size, nothing can be said of how far it scrolls.
  painter.looking = painter.size.height === 0 ? looking : scrolled(painter, looking);
  painter.hovered = null;
  painter.moving = null;
  painter.top.setAttribute('aria-label', ariaLabel(view));
  events.tell(words(painter));
  rereadTheme(painter);
  events.settled();
}

function look(painter: Painter, events: StageEvents, next: Looking, easing: boolean): void {
  const before = painter.looking;
  painter.looking = scrolled(painter, next);
  const moved = before.span.from !== next.span.from || before.span.to !== next.span.to;
  if (moved && easing && !reducedMotion()) ease(painter, before.span);
  else if (moved) painter.moving = null;
  request(painter, moved || before.scroll !== painter.looking.scroll);
  if (before.focus !== next.focus || before.range !== next.range) events.tell(words(painter));
  events.settled();
}

function scrolled(painter: Painter, looking: Looking): Looking {
  return { ...looking, scroll: clampScroll(painter.layout, looking.scroll) };
}

function words({ shown, looking }: Painter): string {
  if (shown === null) return '';
  if (looking.range !== null) return `selected ${rangeWords(shown.coverage, looking.range)}`;
  return looking.focus === null ? '' : spoken(describeItem(shown.view.timeline, shown.view.vpp, looking.focus));
}

function ariaLabel(view: TimelineView): string {
  const length = formatDuration(view.timeline.makespan, view.timeline.unit);
  return `Timeline of ${view.title}: ${view.pp} ranks over ${length}, ${view.headline}. Arrow keys move between actions, question mark lists the keys.`;
}

function keptOfNothing({ scroll }: Looking): Kept {
  return { span: null, scroll, focus: null };
}

function isSame(a: Item | null, b: Item | null): boolean {
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
