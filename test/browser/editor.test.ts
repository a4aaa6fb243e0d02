/**
 * The whole way in a real editor and a real browser: a config is opened, its lens leads to the timeline, the numbers
 * are those of `explain`, they follow the typing, a click leads back to the line, and a reload brings it all back.
 */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Frame } from 'playwright-core';
import { timelineView } from '../../src/analysis.ts';
import { barTop, layoutFor } from '../../webview/layout.ts';
import { type Editor, type EditorWindow, exampleText, expected, lineOf, startEditor } from './editor-window.ts';

let editor: Editor;
before(async () => {
  editor = await startEditor();
});
after(() => editor.close());

async function withWindow(file: string, use: (window: EditorWindow) => Promise<void>): Promise<void> {
  const window = await editor.open(file);
  try {
    await use(window);
    assert.deepEqual(window.complaints, []);
  } catch (error) {
    await window.shot('failed');
    throw error;
  } finally {
    await window.close();
  }
}

async function plan(file: string, text: string) {
  const analysis = await expected(file, text);
  const [found] = analysis.plans;
  const view = found && timelineView(analysis, found.plan.id).view;
  assert.ok(found && view);
  return { ...found, view };
}

/** Clicks into the timeline at a time on a rank, as long as the whole step is in view. */
async function clickAt(
  { page }: EditorWindow,
  frame: Frame,
  view: Awaited<ReturnType<typeof plan>>['view'],
  rank: number,
  time: number,
) {
  const box = await frame.locator('canvas.top').boundingBox();
  assert.ok(box);
  const layout = layoutFor(box, view.pp);
  const x = box.x + layout.plotLeft + (time / view.timeline.makespan) * layout.plotWidth;
  await page.mouse.click(x, box.y + barTop(layout, 0, rank) + layout.barHeight / 2);
}

async function headlineIs(frame: Frame, wanted: string): Promise<void> {
  await frame.locator('.headline', { hasText: wanted }).waitFor({ timeout: 15_000 });
}

async function cursorComesTo(window: EditorWindow, line: number): Promise<void> {
  const end = performance.now() + 10_000;
  while ((await window.cursorLine().catch(() => 0)) !== line) {
    if (performance.now() > end) assert.fail(`the cursor is on line ${await window.cursorLine()}, not on ${line}`);
    await window.page.waitForTimeout(50);
  }
}

test('lens, timeline, typing, clicking, reloading', { timeout: 180_000 }, async () => {
  const file = 'measured.pipeline.yaml';
  const text = exampleText(file);
  await withWindow(file, async (window) => {
    const { page } = window;
    const first = await plan(file, text);
    await window.lens(first.texts.lens).click();
    const frame = await window.timeline();
    await headlineIs(frame, first.texts.headline);
    assert.equal(((await frame.locator('.waterfall').textContent()) ?? '').replace(/\s+/g, ' '), first.texts.waterfall);
    assert.equal(await frame.locator('.badge').textContent(), first.texts.badge);
    const hint = page
      .locator('.view-line', { hasText: 'size: 8' })
      .filter({ hasText: first.texts.hint.replaceAll(' ', '\u00a0') });
    await hint.first().waitFor();

    await clickAt(window, frame, first.view, 0, first.view.timeline.makespan * 0.005);
    await cursorComesTo(window, lineOf(text, 'forwardMs: 10.4, backwardInputMs: 10.2'));
    await clickAt(window, frame, first.view, 7, first.view.timeline.makespan * 0.97);
    await cursorComesTo(window, lineOf(text, 'microbatches: 32'));

    await window.retype(lineOf(text, 'microbatches: 32\n'), '32', '64');
    const edited = await plan(file, text.replace('microbatches: 32\n', 'microbatches: 64\n'));
    assert.notEqual(edited.texts.headline, first.texts.headline);
    await headlineIs(frame, edited.texts.headline);
    await window.lens(edited.texts.lens).waitFor();

    await window.command('File: Save');
    await page.locator('.tab.dirty').waitFor({ state: 'detached' });
    // A served editor writes down its layout every five seconds; a reload before that brings an older one back.
    await page.waitForTimeout(8000);
    await page.reload();
    await headlineIs(await window.timeline(), edited.texts.headline);
    await window.lens(edited.texts.lens).waitFor();
  });
});

test('the GPU count is said where the lens asks for it', { timeout: 120_000 }, async () => {
  const file = 'short-on-microbatches.toml';
  await withWindow(file, async (window) => {
    const input = window.page.locator('.quick-input-widget input.input');
    await window.lens(/GPU count \?/).click();
    await input.waitFor();
    await input.fill('sixty');
    await window.page.locator('.quick-input-message', { hasText: 'whole number' }).waitFor();
    await input.fill('64');
    await window.page.keyboard.press('Enter');
    await window.lens(/GPU count \?/).waitFor({ state: 'detached' });
  });
});

test('an example opens from the palette', { timeout: 120_000 }, async () => {
  await withWindow('sound-nanotron.yaml', async (window) => {
    await window.command('Bubblelens: Open Example');
    const option = window.page.getByRole('option', { name: /heavy-last-stage\.sh/ });
    await option.waitFor();
    await window.shot('examples');
    await option.click();
    const { texts } = await plan('heavy-last-stage.sh', exampleText('heavy-last-stage.sh'));
    await window.lens(texts.lens).waitFor({ timeout: 15_000 });
  });
});

test('light, dark and high contrast, while open', { timeout: 180_000 }, async () => {
  const file = 'heavy-last-stage.sh';
  const { texts } = await plan(file, exampleText(file));
  await withWindow(file, async (window) => {
    await window.lens(texts.lens).click();
    await headlineIs(await window.timeline(), texts.headline);
    for (const [name, theme] of [
      ['light', 'Light Modern'],
      ['dark', 'Dark Modern'],
      ['high-contrast', 'Dark High Contrast'],
      ['high-contrast-light', 'Light High Contrast'],
    ] as const) {
      await window.theme(theme);
      await window.shot(name);
      const box = await window.lens(texts.lens).boundingBox();
      assert.ok(box);
      await window.page.mouse.move(box.x + 40, box.y + 26);
      const hover = window.page.locator('.monaco-hover:visible', { hasText: texts.headline }).first();
      await hover.waitFor();
      assert.ok((((await hover.textContent()) ?? '').match(/\n/g) ?? []).length <= 16);
      await window.shot(`${name}-hover`);
      await window.page.keyboard.press('Escape');
      await window.page.mouse.move(5, 5);
    }
  });
});

test('a folder in Restricted Mode is read too', { timeout: 120_000 }, async () => {
  const restricted = await startEditor({ workspaceTrust: true });
  try {
    const file = 'interleaved-megatron.sh';
    const window = await restricted.open(file);
    await window.page.getByText('Restricted Mode').first().waitFor();
    const { texts } = await plan(file, exampleText(file));
    await window.lens(texts.lens).waitFor();
    assert.deepEqual(window.complaints, []);
  } finally {
    await restricted.close();
  }
});
