/** The whole keyboard: which keys are ours, and what each does. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionItem } from '../../webview/items.ts';
import { layoutFor } from '../../webview/layout.ts';
import { type Command, commandOf, type Looking, navigate } from '../../webview/navigation.ts';
import { timelineFrom } from './random-timeline.ts';

const row = (gap: number) =>
  Array.from({ length: 10 }, (_, microbatch) => ({ gap, length: 9, kind: 0, stage: 0, microbatch, pair: false }));
const timeline = timelineFrom(Array.from({ length: 40 }, (_, rank) => row(rank === 0 ? 0 : 1)));
const layout = layoutFor({ width: 1000, height: 300 }, 40);
const around = { timeline, layout, pointer: null };
const whole: Looking = { span: { from: 0, to: timeline.makespan }, scroll: 0, focus: null, range: null };
const run = (commands: readonly Command[], from = whole) =>
  commands.reduce((looking, command) => navigate(command, looking, around), from);

const key = (code: string, character = '', modifiers: Partial<Parameters<typeof commandOf>[0]> = {}) =>
  commandOf({ code, key: character, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...modifiers });

test('letters go by their place on the keyboard', () => {
  assert.equal(key('KeyW', 'z'), 'zoomIn');
  assert.equal(key('KeyA', 'q'), 'panLeft');
  assert.equal(key('Digit0', 'à'), 'fit');
  assert.equal(key('BracketLeft', '['), 'previousGap');
  assert.equal(key('Digit9', ']', { ctrlKey: true, altKey: true }), 'nextGap');
  assert.equal(key('Slash', '?', { shiftKey: true }), 'help');
});

test('keys with a modifier stay with the editor, but for going to the line', () => {
  for (const modifiers of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }]) {
    for (const code of ['KeyW', 'KeyS', 'KeyF', 'KeyA', 'Digit0', 'ArrowLeft', 'Home'])
      assert.equal(key(code, '', modifiers), null);
  }
  assert.equal(key('Enter', 'Enter', { ctrlKey: true }), 'reveal');
  assert.equal(key('Enter', 'Enter', { metaKey: true }), 'reveal');
  assert.equal(key('KeyP', 'P', { ctrlKey: true, shiftKey: true }), null);
  assert.equal(key('KeyW', 'W', { shiftKey: true }), null);
  assert.equal(key('Tab', 'Tab'), null);
  assert.equal(key('constructor', 'constructor'), null);
});

test('arrows walk over actions and ranks and keep them in view', () => {
  assert.deepEqual(run(['nextAction']).focus, actionItem(timeline, 0, 0));
  assert.deepEqual(run(['nextAction', 'nextAction', 'nextAction', 'previousAction']).focus, actionItem(timeline, 0, 1));
  const deep = run(['nextAction', ...Array<Command>(39).fill('rankDown')]);
  assert.equal(deep.focus?.rank, 39);
  assert.equal(deep.scroll, layout.maxScroll);
  assert.equal(run(['rankDown'], deep).focus?.rank, 39);
  const zoomed = run(['firstAction', 'zoomToSelection']);
  assert.ok(zoomed.span.to - zoomed.span.from < 60);
  const end = run(['lastAction'], zoomed);
  assert.deepEqual(end.focus, actionItem(timeline, 0, 9));
  assert.ok(end.span.from <= end.focus!.start && end.span.to >= end.focus!.end);
});

test('brackets walk over the gaps', () => {
  const gap = run(['nextGap']).focus;
  assert.equal(gap?.type, 'gap');
  assert.equal(gap?.rank, 0);
  assert.equal(run(['nextGap', 'nextGap']).focus?.rank, 1);
  assert.equal(run(['previousGap']).focus?.rank, 39);
});

test('zoom goes around the pointer, else the focused item, else the middle', () => {
  const share = (looking: Looking, time: number) => (time - looking.span.from) / (looking.span.to - looking.span.from);
  const atPointer = navigate('zoomIn', whole, { ...around, pointer: 20 });
  assert.ok(Math.abs(share(atPointer, 20) - share(whole, 20)) < 1e-9);
  const focused = { ...whole, focus: actionItem(timeline, 0, 7) };
  assert.ok(Math.abs(share(navigate('zoomIn', focused, around), 67.5) - share(whole, 67.5)) < 1e-9);
  assert.deepEqual(run(['zoomIn', 'zoomIn', 'panLeft', 'fit']).span, whole.span);
});

test('a selected span is zoomed to before the focused item, and cleared before it', () => {
  const selected: Looking = { ...whole, focus: actionItem(timeline, 0, 2), range: { from: 30, to: 50 } };
  assert.deepEqual(run(['zoomToSelection'], selected).span, { from: 30, to: 50 });
  const cleared = run(['clear'], selected);
  assert.equal(cleared.range, null);
  assert.notEqual(cleared.focus, null);
  assert.equal(run(['clear'], cleared).focus, null);
});
