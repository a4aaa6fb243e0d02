/**
 * The mouse and the keyboard on the stage. Wheel scrolls the ranks, with Ctrl zooms at the pointer, with Shift pans;
 * drag pans, Shift+drag measures, drag on the minimap moves its window; a click goes to the line that is responsible.
 */

import { describeItem } from './describe.ts';
import { type ActionItem, actionItem, type Item, itemAt, pairedWith } from './items.ts';
import { barTop, clampScroll, rankAt } from './layout.ts';
import { commandOf, type PageCommand } from './navigation.ts';
import type { Scene } from './scene.ts';
import type { Stage } from './stage.ts';
import type { Tooltip } from './tooltip.ts';
import { panSpan, xToTime, zoomSpan } from './viewport.ts';

const CLICK_DISTANCE = 4;
/** How near to a thin action, in pixels, the pointer takes it. */
const SLACK = 2;
const WHEEL_ZOOM = 0.0022;
const WHEEL_LINE = 18;
const LEAST_RANGE = 4;

type Drag =
  | { readonly type: 'pan'; readonly x: number; readonly y: number; moved: boolean; lastX: number; lastY: number }
  | { readonly type: 'measure'; readonly x: number; readonly time: number; moved: boolean }
  | { readonly type: 'minimap' };

interface GestureEvents {
  readonly reveal: (item: Item) => void;
  readonly page: (command: Exclude<PageCommand, 'reveal'>) => void;
}

export function listen(stage: Stage, tooltip: Tooltip, events: GestureEvents): void {
  const { canvas } = stage;
  let drag: Drag | null = null;
  let pointer: number | null = null;

  canvas.addEventListener('pointerdown', (event) => {
    const scene = stage.scene();
    if (event.button !== 0 || scene === null) return;
    canvas.setPointerCapture(event.pointerId);
    const { offsetX: x, offsetY: y } = event;
    tooltip.hide();
    stage.hover(null);
    if (inMinimap(scene, y)) {
      drag = { type: 'minimap' };
      centreOn(stage, scene, x);
    } else if (event.shiftKey) {
      drag = { type: 'measure', x, time: timeAt(scene, x), moved: false };
    } else {
      drag = { type: 'pan', x, y, moved: false, lastX: x, lastY: y };
    }
  });

  canvas.addEventListener('pointermove', (event) => {
    const scene = stage.scene();
    if (scene === null) return;
    const { offsetX: x, offsetY: y } = event;
    pointer = inPlot(scene, x) ? timeAt(scene, x) : null;
    if (drag !== null) return dragTo(stage, scene, drag, x, y);
    const item = itemUnder(scene, x, y);
    stage.hover(item);
    canvas.style.cursor = item !== null ? 'pointer' : inMinimap(scene, y) ? 'ew-resize' : 'default';
    if (item === null) return tooltip.hide();
    const description = describeItem(scene.view.timeline, scene.view.vpp, item);
    tooltip.show(description, 'Click to go to the line responsible', x, y);
  });

  canvas.addEventListener('pointerup', (event) => {
    const scene = stage.scene();
    const ended = drag;
    drag = null;
    if (scene === null || ended?.type !== 'pan' || ended.moved) return;
    const item = itemUnder(scene, event.offsetX, event.offsetY);
    if (item === null) return stage.look({ ...stage.looking(), range: null, focus: null }, false);
    stage.focus(item);
    events.reveal(item);
  });

  canvas.addEventListener('pointercancel', () => {
    drag = null;
  });

  canvas.addEventListener('pointerleave', () => {
    pointer = null;
    stage.hover(null);
    tooltip.hide();
  });

  canvas.addEventListener('wheel', (event) => wheel(stage, tooltip, event), { passive: false });

  canvas.addEventListener('keydown', (event) => {
    const command = commandOf(event);
    if (command === null) return;
    event.preventDefault();
    tooltip.hide();
    const { focus } = stage.looking();
    if (command === 'help' || command === 'table') events.page(command);
    else if (command !== 'reveal') stage.command(command, pointer);
    else if (focus !== null) events.reveal(focus);
  });
}

function dragTo(stage: Stage, scene: Scene, drag: Drag, x: number, y: number): void {
  const { makespan } = scene.view.timeline;
  const looking = stage.looking();
  if (drag.type === 'minimap') {
    centreOn(stage, scene, x);
    return;
  }
  if (drag.type === 'measure') {
    const time = Math.min(Math.max(timeAt(scene, x), 0), makespan);
    const range = { from: Math.min(drag.time, time), to: Math.max(drag.time, time) };
    drag.moved ||= Math.abs(x - drag.x) >= LEAST_RANGE;
    stage.look({ ...looking, range: drag.moved && range.to > range.from ? range : null }, false);
    return;
  }
  drag.moved ||= Math.hypot(x - drag.x, y - drag.y) >= CLICK_DISTANCE;
  if (!drag.moved) return;
  stage.hover(null);
  stage.canvas.style.cursor = 'grabbing';
  const perPixel = (looking.span.to - looking.span.from) / scene.layout.plotWidth;
  stage.look(
    {
      ...looking,
      span: panSpan(looking.span, (drag.lastX - x) * perPixel, makespan),
      scroll: clampScroll(scene.layout, looking.scroll + drag.lastY - y),
    },
    false,
  );
  drag.lastX = x;
  drag.lastY = y;
}

function wheel(stage: Stage, tooltip: Tooltip, event: WheelEvent): void {
  const scene = stage.scene();
  if (scene === null) return;
  event.preventDefault();
  tooltip.hide();
  const looking = stage.looking();
  const { makespan } = scene.view.timeline;
  const unit = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : WHEEL_LINE;
  const [deltaX, deltaY] = [event.deltaX * unit, event.deltaY * unit];
  const perPixel = (looking.span.to - looking.span.from) / scene.layout.plotWidth;
  if (event.ctrlKey || event.metaKey) {
    const factor = Math.exp(Math.min(Math.max(deltaY, -300), 300) * WHEEL_ZOOM);
    stage.look({ ...looking, span: zoomSpan(looking.span, factor, timeAt(scene, event.offsetX), makespan) }, false);
    return;
  }
  const sideways = event.shiftKey && deltaX === 0 ? deltaY : deltaX;
  const downwards = event.shiftKey ? 0 : deltaY;
  stage.look(
    {
      ...looking,
      span: sideways === 0 ? looking.span : panSpan(looking.span, sideways * perPixel, makespan),
      scroll: clampScroll(scene.layout, looking.scroll + downwards),
    },
    false,
  );
}

function itemUnder(scene: Scene, x: number, y: number): Item | null {
  const rank = rankAt(scene.layout, scene.scroll, y);
  if (rank === null || !inPlot(scene, x)) return null;
  const slack = (SLACK * (scene.span.to - scene.span.from)) / scene.layout.plotWidth;
  const item = itemAt(scene.view.timeline, rank, timeAt(scene, x), slack);
  return item?.type === 'action' ? laneOf(scene, item, y) : item;
}

/** Of an overlapped pair, the action whose half of the row the pointer is in. */
function laneOf(scene: Scene, item: ActionItem, y: number): ActionItem {
  const { timeline } = scene.view;
  const twin = pairedWith(timeline, item.rank, item.index);
  const lower = y >= barTop(scene.layout, scene.scroll, item.rank) + scene.layout.barHeight / 2;
  return twin < 0 || twin > item.index !== lower ? item : actionItem(timeline, item.rank, twin);
}

function centreOn(stage: Stage, scene: Scene, x: number): void {
  const { makespan } = scene.view.timeline;
  const looking = stage.looking();
  const time = ((x - scene.layout.plotLeft) / scene.layout.plotWidth) * makespan;
  const middle = (looking.span.from + looking.span.to) / 2;
  stage.look({ ...looking, span: panSpan(looking.span, time - middle, makespan) }, false);
}

function timeAt(scene: Scene, x: number): number {
  return xToTime(scene.span, scene.layout.plotLeft, scene.layout.plotWidth, x);
}

function inPlot(scene: Scene, x: number): boolean {
  return x >= scene.layout.plotLeft && x <= scene.layout.plotLeft + scene.layout.plotWidth;
}

function inMinimap(scene: Scene, y: number): boolean {
  return y < scene.layout.minimapTop + scene.layout.minimapHeight;
}
