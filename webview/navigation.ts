/**
 * Keys to commands, and what a command does to what is looked at. Pure, so that the whole keyboard can be tested
 * without a browser. Letters go by their place on the keyboard (`event.code`), as in Perfetto.
 */

import { exhaustive } from '../src/model/exhaustive.ts';
import type { Timeline } from '../src/model/timeline.ts';
import { actionItem, type Item, itemAbove, itemAt, neighbourAction, neighbourGap } from './items.ts';
import { type Layout, scrollToRank } from './layout.ts';
import { panSpan, revealSpan, type Span, spanAround, wholeSpan, zoomSpan } from './viewport.ts';

export interface Looking {
  readonly span: Span;
  readonly scroll: number;
  readonly focus: Item | null;
  /** A selected span of time. */
  readonly range: Span | null;
}

interface Surroundings {
  readonly timeline: Timeline;
  readonly layout: Layout;
  /** The time under the pointer, where there is one. */
  readonly pointer: number | null;
}

export type Command =
  | 'zoomIn'
  | 'zoomOut'
  | 'panLeft'
  | 'panRight'
  | 'nextAction'
  | 'previousAction'
  | 'rankUp'
  | 'rankDown'
  | 'firstAction'
  | 'lastAction'
  | 'nextGap'
  | 'previousGap'
  | 'zoomToSelection'
  | 'clear'
  | 'fit';

/** What the page does itself. */
export type PageCommand = 'reveal' | 'help' | 'table';

interface Key {
  readonly code: string;
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

const BY_CODE: Readonly<Record<string, Command | PageCommand>> = {
  KeyW: 'zoomIn',
  KeyS: 'zoomOut',
  KeyA: 'panLeft',
  KeyD: 'panRight',
  KeyF: 'zoomToSelection',
  KeyT: 'table',
  Enter: 'zoomToSelection',
  NumpadEnter: 'zoomToSelection',
  ArrowRight: 'nextAction',
  ArrowLeft: 'previousAction',
  ArrowUp: 'rankUp',
  ArrowDown: 'rankDown',
  Home: 'firstAction',
  End: 'lastAction',
  BracketRight: 'nextGap',
  BracketLeft: 'previousGap',
  Escape: 'clear',
  Digit0: 'fit',
  Numpad0: 'fit',
};

const BY_CHARACTER: Readonly<Record<string, Command | PageCommand>> = {
  '?': 'help',
  '[': 'previousGap',
  ']': 'nextGap',
  '+': 'zoomIn',
  '-': 'zoomOut',
};

/** null where the key is not ours, so that the editor's shortcuts go on working. */
export function commandOf(key: Key): Command | PageCommand | null {
  const character = Object.hasOwn(BY_CHARACTER, key.key) ? BY_CHARACTER[key.key]! : null;
  const withModifier = key.ctrlKey || key.metaKey || key.altKey;
  if (withModifier) {
    const enter = key.code === 'Enter' || key.code === 'NumpadEnter';
    if (enter && !key.altKey && !key.shiftKey) return 'reveal';
    const byAltGraph = key.ctrlKey && key.altKey && (key.key === '[' || key.key === ']');
    return byAltGraph ? character : null;
  }
  if (character !== null) return character;
  return !key.shiftKey && Object.hasOwn(BY_CODE, key.code) ? BY_CODE[key.code]! : null;
}

const ZOOM_STEP = 0.75;
const PAN_STEP = 0.15;

export function navigate(command: Command, looking: Looking, around: Surroundings): Looking {
  const { timeline } = around;
  const { span, focus } = looking;
  const { makespan } = timeline;
  const length = span.to - span.from;
  switch (command) {
    case 'zoomIn':
      return { ...looking, span: zoomSpan(span, ZOOM_STEP, pivotOf(looking, around), makespan) };
    case 'zoomOut':
      return { ...looking, span: zoomSpan(span, 1 / ZOOM_STEP, pivotOf(looking, around), makespan) };
    case 'panLeft':
      return { ...looking, span: panSpan(span, -length * PAN_STEP, makespan) };
    case 'panRight':
      return { ...looking, span: panSpan(span, length * PAN_STEP, makespan) };
    case 'nextAction':
    case 'previousAction':
      return focusOn(looking, around, besides(looking, around, command === 'nextAction' ? 1 : -1));
    case 'rankUp':
    case 'rankDown':
      return focusOn(
        looking,
        around,
        focus === null ? anyItem(looking, around) : itemAbove(timeline, focus, command === 'rankUp' ? -1 : 1),
      );
    case 'firstAction':
    case 'lastAction':
      return focusOn(looking, around, endOfRank(timeline, focus?.rank ?? 0, command === 'firstAction'));
    case 'nextGap':
    case 'previousGap':
      return focusOn(looking, around, neighbourGap(timeline, focus, command === 'nextGap' ? 1 : -1));
    case 'zoomToSelection':
      return { ...looking, span: selectionSpan(looking, makespan) };
    case 'clear':
      return looking.range !== null ? { ...looking, range: null } : { ...looking, focus: null };
    case 'fit':
      return { ...looking, span: wholeSpan(makespan) };
    default:
      return exhaustive(command);
  }
}

/** Focuses an item and brings it into view; null leaves everything as it is. */
export function focusOn(looking: Looking, around: Surroundings, item: Item | null): Looking {
  if (item === null) return looking;
  return {
    ...looking,
    focus: item,
    span: revealSpan(looking.span, item.start, item.end, around.timeline.makespan),
    scroll: scrollToRank(around.layout, looking.scroll, item.rank),
  };
}

function pivotOf(looking: Looking, around: Surroundings): number {
  const { span, focus } = looking;
  if (around.pointer !== null) return around.pointer;
  const middle = focus === null ? Number.NaN : (focus.start + focus.end) / 2;
  return middle >= span.from && middle <= span.to ? middle : (span.from + span.to) / 2;
}

function besides(looking: Looking, around: Surroundings, step: 1 | -1): Item | null {
  return looking.focus === null ? anyItem(looking, around) : neighbourAction(around.timeline, looking.focus, step);
}

/** Where the keyboard starts: the first action in view on the first rank. */
function anyItem(looking: Looking, around: Surroundings): Item | null {
  const { timeline } = around;
  const item = itemAt(timeline, 0, looking.span.from, timeline.makespan * 1e-9);
  if (item === null || item.type === 'action') return item;
  return neighbourAction(timeline, item, 1) ?? item;
}

function endOfRank(timeline: Timeline, rank: number, first: boolean): Item | null {
  const start = timeline.rankStart[rank]!;
  const end = timeline.rankStart[rank + 1]!;
  return start === end ? null : actionItem(timeline, rank, first ? start : end - 1);
}

function selectionSpan(looking: Looking, makespan: number): Span {
  if (looking.range !== null) return looking.range;
  const { focus } = looking;
  if (focus === null) return looking.span;
  return spanAround(focus.start, focus.end, makespan);
}
