/**
 * The timeline's page in a real browser, by itself: what it says equals the data, mouse and keyboard do what they
 * should, it survives reload, theme changes and broken text, and it never complains or breaks its policy.
 */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TimelineState, TimelineView } from '../../src/model/protocol.ts';
import { barTop, layoutFor } from '../../webview/layout.ts';
import { formatDuration, formatShare, formatTime } from '../../webview/ticks.ts';
import { type Harness, type OpenOptions, type OpenPage, startHarness } from './timeline-harness.ts';
import { type Sample, sampleView } from './timeline-sample.ts';

const SMALL: Sample = { schedule: '1f1b', pp: 4, vpp: 1, microbatches: 8 };
const UNEVEN: Sample = { ...SMALL, forward: (stage) => (stage === 3 ? 14 : 10), transfer: 0.5 };

let harness: Harness;
before(async () => {
  harness = await startHarness();
});
after(() => harness.close());

async function withPage(options: OpenOptions, view: TimelineView | null, use: (open: OpenPage) => Promise<void>) {
  const open = await harness.open(options);
  try {
    if (view !== null) await open.send({ type: 'show', version: 1, view });
    await use(open);
    assert.deepEqual(open.complaints, []);
  } finally {
    await open.close();
  }
}

const text = async (open: OpenPage, selector: string) => (await open.page.locator(selector).textContent()) ?? '';
const readout = (open: OpenPage) => text(open, '.readout');

/** Where a time on a rank is on the page, as long as the whole step is in view. */
async function pointOf(open: OpenPage, view: TimelineView, rank: number, time: number) {
  const box = await open.page.locator('canvas.top').boundingBox();
  assert.ok(box);
  const layout = layoutFor(box, view.pp);
  return {
    x: box.x + layout.plotLeft + (time / view.timeline.makespan) * layout.plotWidth,
    y: box.y + barTop(layout, 0, rank) + layout.barHeight / 2,
  };
}

async function press(open: OpenPage, ...keys: readonly string[]) {
  for (const key of keys) await open.page.keyboard.press(key);
  await open.settled();
}

async function pixel(open: OpenPage, point: { readonly x: number; readonly y: number }): Promise<readonly number[]> {
  const data = await open.page.evaluate(`(() => {
    const canvas = document.querySelector('.stage canvas');
    const box = canvas.getBoundingClientRect();
    const scale = canvas.width / box.width;
    return [...canvas.getContext('2d').getImageData((${point.x} - box.x) * scale, (${point.y} - box.y) * scale, 1, 1).data];
  })()`);
  return data as readonly number[];
}

test('the page says it is ready, and shows headline, causes, badge and the choice of plans', async () => {
  const plans = [
    { id: 'main', name: 'first' },
    { id: 'other', name: 'second' },
  ];
  const view = sampleView({ ...UNEVEN, plans });
  await withPage({}, view, async (open) => {
    assert.equal((await open.sent())[0]?.type, 'ready');
    assert.equal(await text(open, '.headline'), view.headline);
    assert.equal((await text(open, '.waterfall')).replace(/\s+/g, ' '), view.waterfall);
    assert.equal(await text(open, '.badge'), view.badgeText);
    assert.equal(await text(open, 'h1'), view.title);
    await open.page.locator('vscode-dropdown').click();
    await open.page.locator('vscode-option', { hasText: 'second' }).click();
    assert.deepEqual((await open.sent()).at(-1), { type: 'choosePlan', planId: 'other' });
  });
});

test('a single plan leaves no choice', async () => {
  await withPage({}, sampleView(SMALL), async (open) => {
    assert.equal(await open.page.locator('vscode-dropdown').isVisible(), false);
  });
});

test('the table holds the numbers of every rank', async () => {
  const view = sampleView(UNEVEN);
  await withPage({}, view, async (open) => {
    assert.equal(await open.page.locator('table').isVisible(), false);
    await open.page.locator('vscode-checkbox').click();
    const rows = await open.page.locator('tbody tr').all();
    const cells = await Promise.all(rows.map((row) => row.locator('th, td').allTextContents()));
    assert.deepEqual(
      cells,
      view.ranks.map((rank) => [
        String(rank.rank),
        rank.holds,
        ...[rank.idleFraction, rank.warmupFraction, rank.stallFraction, rank.cooldownFraction].map(formatShare),
        String(rank.peakActivations),
      ]),
    );
    await open.page.locator('canvas.top').focus();
    await press(open, 't');
    assert.equal(await open.page.locator('table').isVisible(), false);
  });
});

test('the tooltip tells the action under the pointer, and a click goes to its line', async () => {
  const view = sampleView(UNEVEN);
  const { timeline } = view;
  await withPage({}, view, async (open) => {
    for (const index of [timeline.rankStart[1]! + 3, timeline.rankStart[2]! + 5, timeline.rankStart[4]! - 1]) {
      const rank = [0, 1, 2, 3].find((r) => timeline.rankStart[r]! <= index && index < timeline.rankStart[r + 1]!)!;
      const [start, end] = [timeline.start[index]!, timeline.end[index]!];
      const point = await pointOf(open, view, rank, (start + end) / 2);
      await open.page.mouse.move(point.x, point.y);
      const told = await text(open, '.tooltip');
      assert.match(
        told,
        new RegExp(`rank ${rank}, stage ${timeline.stage[index]}, microbatch ${timeline.microbatch[index]}`),
      );
      assert.ok(
        told.includes(`${formatDuration(end - start, 'ms')}, from ${formatTime(start)} to ${formatTime(end)}`),
        told,
      );
      await open.page.mouse.click(point.x, point.y);
      assert.deepEqual((await open.sent()).at(-1), {
        type: 'revealAction',
        rank,
        stage: timeline.stage[index],
        kind: ['F', 'I', 'W', 'B'][timeline.kind[index]!],
        microbatch: timeline.microbatch[index],
      });
    }
  });
});

test('a click on a gap goes to what is responsible, with its cause', async () => {
  const view = sampleView(UNEVEN);
  const { timeline } = view;
  await withPage({}, view, async (open) => {
    const warmup = await pointOf(open, view, 3, timeline.start[timeline.rankStart[3]!]! / 2);
    await open.page.mouse.click(warmup.x, warmup.y);
    assert.deepEqual((await open.sent()).at(-1), { type: 'revealGap', rank: 3, cause: 'warmup', waitedForRank: 2 });
    const done = timeline.end[timeline.rankStart[4]! - 1]!;
    const cooldown = await pointOf(open, view, 3, (done + timeline.makespan) / 2);
    await open.page.mouse.click(cooldown.x, cooldown.y);
    assert.deepEqual((await open.sent()).at(-1), { type: 'revealGap', rank: 3, cause: 'cooldown', waitedForRank: -1 });
    assert.match(await readout(open), /^Idle: cool-down, rank 3, done until every rank is/);
  });
});

test('a drag pans and is no click; Shift+drag measures', async () => {
  const view = sampleView(SMALL);
  await withPage({}, view, async (open) => {
    const from = await pointOf(open, view, 1, 100);
    const to = await pointOf(open, view, 1, 200);
    await open.page.mouse.move(from.x, from.y);
    await open.page.mouse.down();
    await open.page.mouse.move(to.x, to.y, { steps: 4 });
    await open.page.mouse.up();
    assert.deepEqual(await open.sent(), [{ type: 'ready' }]);

    const left = await pointOf(open, view, 0, 0);
    const right = await pointOf(open, view, 0, view.timeline.makespan);
    await open.page.keyboard.down('Shift');
    await open.page.mouse.move(left.x, left.y);
    await open.page.mouse.down();
    await open.page.mouse.move(right.x, right.y, { steps: 4 });
    await open.page.mouse.up();
    await open.page.keyboard.up('Shift');
    await open.settled();
    const idle = 1 - view.ranks.reduce((sum, rank) => sum + 1 - rank.idleFraction, 0) / view.pp;
    const duration = formatDuration(view.timeline.makespan, 'ms');
    assert.equal(await readout(open), `selected ${duration}: busy ${formatShare(1 - idle)}, idle ${formatShare(idle)}`);
    assert.equal(await text(open, '.spoken'), await readout(open));
  });
});

test('by keyboard alone: walk, speak, zoom, go to the line, and leave', async () => {
  const view = sampleView(UNEVEN);
  const { timeline } = view;
  await withPage({}, view, async (open) => {
    for (let tabs = 0; tabs < 8; tabs++) {
      await open.page.keyboard.press('Tab');
      if (await open.page.evaluate("document.activeElement?.matches('canvas.top')")) break;
    }
    assert.equal(await open.page.evaluate("document.activeElement?.getAttribute('role')"), 'application');
    await press(open, 'ArrowRight', 'ArrowRight', 'ArrowRight');
    assert.match(await text(open, '.spoken'), /^F0\.2 forward, rank 0, stage 0, microbatch 2, 10 ms, from 20 to 30/);
    await press(open, 'ArrowDown');
    assert.match(await text(open, '.spoken'), /rank 1/);
    await press(open, ']');
    assert.match(await text(open, '.spoken'), /^Idle: stall, rank 1, waiting for rank/);
    await press(open, 'Enter');
    await open.until('testHost.state?.span != null');
    const state = (await open.state()) as TimelineState;
    assert.ok(state.span !== null && state.span.to - state.span.from < timeline.makespan);
    await press(open, 'Control+Enter');
    const revealed = (await open.sent()).at(-1);
    assert.ok(revealed?.type === 'revealGap' && revealed.rank === 1 && revealed.cause === 'stall');
    await press(open, 'ArrowRight', 'Control+Enter');
    assert.equal((await open.sent()).at(-1)?.type, 'revealAction');
    await press(open, 'Escape');
    assert.match(await readout(open), /for keys$/);
    await press(open, '?');
    assert.equal(await open.page.locator('dialog').isVisible(), true);
    await press(open, 'Escape');
    assert.equal(await open.page.locator('dialog').isVisible(), false);
    await press(open, '0');
    await open.until('testHost.state.span === null');
  });
});

test('keys act only while the timeline has the focus', async () => {
  await withPage({}, sampleView(SMALL), async (open) => {
    await press(open, 'w', 'ArrowRight', ']');
    assert.match(await readout(open), /for keys$/);
    const state = (await open.state()) as TimelineState;
    assert.equal(state.span, null);
    assert.equal(state.focus, null);
  });
});

test('wheel with Ctrl zooms at the pointer and keeps it where it is', async () => {
  const view = sampleView(SMALL);
  await withPage({}, view, async (open) => {
    const point = await pointOf(open, view, 1, 135);
    await open.page.mouse.move(point.x, point.y);
    const before = await text(open, '.tooltip');
    await open.page.keyboard.down('Control');
    for (let n = 0; n < 5; n++) await open.page.mouse.wheel(0, -200);
    await open.page.keyboard.up('Control');
    await open.until('testHost.state?.span != null');
    await open.page.mouse.move(point.x, point.y + 1);
    assert.equal(await text(open, '.tooltip'), before);
    const { span } = (await open.state()) as TimelineState;
    assert.ok(span !== null && span.from < 135 && span.to > 135 && span.to - span.from < view.timeline.makespan / 2);
  });
});

test('a changed text keeps the zoom and the focused action, and a broken one keeps the last view, marked', async () => {
  const view = sampleView(SMALL);
  await withPage({}, view, async (open) => {
    const point = await pointOf(open, view, 1, 135);
    await open.page.mouse.click(point.x, point.y);
    const focused = (await readout(open)).split(',')[0];
    await open.page.locator('canvas.top').focus();
    await press(open, 'w', 'w');
    await open.until('testHost.state?.span != null');
    const { span } = (await open.state()) as TimelineState;

    await open.send({ type: 'stale', version: 2, reason: 'line 14 is broken' });
    assert.equal(await text(open, '.notice'), 'Not up to date: line 14 is broken');
    assert.equal(await text(open, '.headline'), view.headline);
    assert.equal(await open.page.evaluate("getComputedStyle(document.querySelector('.stage canvas')).opacity"), '0.5');

    const next = sampleView({ ...SMALL, microbatches: 16 });
    await open.send({ type: 'show', version: 3, view: next });
    assert.equal(await open.page.locator('.notice').isVisible(), false);
    assert.equal(await text(open, '.headline'), next.headline);
    assert.equal((await readout(open)).split(',')[0], focused);
    await open.page.waitForTimeout(250);
    assert.deepEqual(((await open.state()) as TimelineState).span, span);
  });
});

test('older, unknown and misshapen messages change nothing', async () => {
  const view = sampleView(SMALL);
  await withPage({}, view, async (open) => {
    await open.send({ type: 'show', version: 0, view: sampleView(UNEVEN) });
    await open.send({ type: 'paint', version: 9 });
    await open.send({ type: 'show', version: 9, view: { ...view, headline: null } });
    await open.send({ type: 'show', version: 9, view: { ...view, timeline: { ...view.timeline, end: [] } } });
    assert.equal(await text(open, '.headline'), view.headline);
  });
});

test('nothing to draw is said, with the reason, and markup in it stays text', async () => {
  await withPage({}, null, async (open) => {
    const reason = 'layers ?: <img src=x onerror=alert(1)> is not in this file';
    await open.send({ type: 'empty', version: 1, reason });
    assert.equal(await text(open, '.empty p'), reason);
    assert.equal(await open.page.locator('main').isVisible(), false);
    const view = sampleView({ ...SMALL, title: '<b>bold</b> & "quoted"' });
    await open.send({ type: 'show', version: 2, view });
    assert.equal(await text(open, 'h1'), view.title);
    assert.equal(await open.page.locator('.empty').isVisible(), false);
    await open.send({ type: 'empty', version: 3, reason: 'gone' });
    await open.send({ type: 'stale', version: 4, reason: 'still broken' });
    assert.equal(await text(open, '.notice'), 'Not up to date: still broken');
  });
});

test('after a reload the same span, table and focus come back', async () => {
  const view = sampleView({ ...SMALL, planId: 'second', plans: [] });
  const stateJson = JSON.stringify({ document: 'file:///a%20b/</script><script>alert(1)</script>.sh' });
  let kept: unknown;
  await withPage({ stateJson }, view, async (open) => {
    const point = await pointOf(open, view, 2, 155);
    await open.page.mouse.click(point.x, point.y);
    await press(open, 'w', 'w', 'w', 't');
    await open.until('testHost.state?.span != null && testHost.state.table');
    kept = await open.state();
  });
  const state = kept as TimelineState;
  assert.equal(state.document, 'file:///a%20b/</script><script>alert(1)</script>.sh');
  assert.equal(state.planId, 'second');
  await withPage({ state: kept }, view, async (open) => {
    assert.equal(await open.page.locator('table').isVisible(), true);
    assert.match(await readout(open), new RegExp(`rank 2, stage 2, microbatch ${state.focus?.microbatch},`));
    await open.page.waitForTimeout(250);
    assert.deepEqual(await open.state(), kept);
  });
});

test('the timeline draws without the toolkit', async () => {
  const view = sampleView(SMALL);
  const open = await harness.open({ toolkit: false });
  await open.send({ type: 'show', version: 1, view });
  assert.equal(await open.page.evaluate("document.querySelector('canvas.top').dataset.mode"), 'bars');
  assert.equal(await text(open, '.headline'), view.headline);
  assert.deepEqual(
    open.complaints.filter((complaint) => !complaint.includes('404')),
    [],
  );
  await open.close();
});

test('every theme repaints in its own colours, forward and backward apart', async () => {
  const view = sampleView(SMALL);
  await withPage({}, view, async (open) => {
    const forward = await pointOf(open, view, 0, 1.5);
    const backward = await pointOf(open, view, 0, 101.5);
    const seen = new Set<string>();
    for (const theme of ['dark', 'light', 'highContrast', 'highContrastLight', 'dark'] as const) {
      await open.setTheme(theme);
      const [f, b] = [await pixel(open, forward), await pixel(open, backward)];
      assert.notDeepEqual(f, b);
      seen.add(`${f} ${b}`);
    }
    assert.equal(seen.size, 4);
  });
});

test('a colour that the user sets is the colour that is drawn', async () => {
  const view = sampleView(SMALL);
  await withPage({}, view, async (open) => {
    await open.page.evaluate("document.documentElement.style.setProperty('--vscode-bubblelens-forward', '#ff00aa')");
    await open.settled();
    assert.deepEqual(await pixel(open, await pointOf(open, view, 0, 1.5)), [255, 0, 170, 255]);
  });
});

test('with forced colours the system decides', async () => {
  const view = sampleView(SMALL);
  const point = async (open: OpenPage) => pixel(open, await pointOf(open, view, 0, 1.5));
  let forced: readonly number[] = [];
  await withPage({ context: { forcedColors: 'active' } }, view, async (open) => {
    forced = await point(open);
  });
  await withPage({}, view, async (open) => assert.notDeepEqual(await point(open), forced));
});

test('reduced motion jumps', async () => {
  await withPage({ context: { reducedMotion: 'reduce' } }, sampleView(SMALL), async (open) => {
    await open.page.locator('canvas.top').focus();
    const frames = await open.page.evaluate(`new Promise((resolve) => {
      const canvas = document.querySelector('canvas.top');
      const picture = () => document.querySelector('.stage canvas').toDataURL();
      const pictures = new Set([picture()]);
      canvas.dispatchEvent(new KeyboardEvent('keydown', { code: 'KeyW', key: 'w' }));
      let left = 8;
      const look = () => { pictures.add(picture()); if (--left > 0) requestAnimationFrame(look); else resolve(pictures.size); };
      requestAnimationFrame(look);
    })`);
    assert.equal(frames, 2);
  });
});

test('100,000 actions are drawn as columns, and each is still found under the pointer', async (context) => {
  const view = sampleView({ schedule: '1f1b', pp: 64, vpp: 1, microbatches: 800 });
  await withPage({ context: { viewport: { width: 1400, height: 1300 } } }, view, async (open) => {
    assert.equal(await open.page.evaluate("document.querySelector('canvas.top').dataset.mode"), 'columns');
    const { makespan } = view.timeline;
    const background = await pixel(open, { x: 2, y: (await pointOf(open, view, 0, 0)).y });
    const busy = await pixel(open, await pointOf(open, view, 32, makespan / 2));
    assert.notDeepEqual(busy, background);
    const point = await pointOf(open, view, 0, makespan / 2);
    await open.page.mouse.move(point.x, point.y);
    assert.match(await text(open, '.tooltip'), /rank 0, stage 0, microbatch \d+/);
    const times = await open.page.evaluate(`new Promise((resolve) => {
      const canvas = document.querySelector('canvas.top');
      const times = [];
      const step = () => {
        canvas.dispatchEvent(new WheelEvent('wheel', { ctrlKey: true, deltaY: times.length % 2 ? 30 : -30, cancelable: true }));
        requestAnimationFrame(() => { times.push(Number(canvas.dataset.frameMs)); times.length < 30 ? step() : resolve(times); });
      };
      step();
    })`);
    const sorted = [...(times as number[])].sort((a, b) => a - b);
    context.diagnostic(`frame of 102,400 actions: median ${sorted[15]} ms, worst ${sorted[29]} ms`);
  });
});
