/**
 * `npm start` as a newcomer meets it: the address that it prints is opened in a plain browser, an example shows its
 * number, and the lens opens a timeline that draws.
 */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../../.dev/serve.mjs';
import { exampleText, expected, ROOT } from './editor-window.ts';

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = '';
    child.stdout?.on('data', (chunk) => {
      printed += String(chunk);
      const address = /http:\/\/\S+/.exec(printed);
      if (address) resolve(address[0]);
    });
    child.once('exit', (code) => reject(new Error(`npm start ended with ${code}: ${printed}`)));
  });
}

async function headline(page: Page): Promise<string> {
  const end = performance.now() + 60_000;
  while (performance.now() < end) {
    for (const frame of page.frames()) {
      const text = await frame
        .locator('.headline')
        .textContent({ timeout: 200 })
        .catch(() => null);
      if (text) return text;
    }
    await page.waitForTimeout(100);
  }
  return assert.fail('the timeline stayed blank');
}

test('the editor that npm start serves shows number and timeline', { timeout: 240_000 }, async () => {
  const file = 'measured.pipeline.yaml';
  const [plan] = (await expected(file, exampleText(file))).plans;
  assert.ok(plan);
  const child = spawn(process.execPath, [path.join(ROOT, '.dev/start.mjs'), '--no-open'], { cwd: ROOT });
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(await addressOf(child));
    const item = page.getByRole('treeitem', { name: file });
    await item.waitFor({ timeout: 60_000 });
    await item.dblclick();
    const lens = page.locator('.codelens-decoration a', { hasText: plan.texts.lens });
    await lens.waitFor({ timeout: 60_000 });
    await lens.click();
    assert.equal(await headline(page), plan.texts.headline);
  } finally {
    await browser.close();
    child.removeAllListeners('exit');
    child.kill('SIGINT');
  }
});
