/**
 * A window of a real VS Code in a real browser, with the extension under development, on a fresh copy of the
 * examples: what the tests of the editor look at and type into.
 */

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, ConsoleMessage, Frame, Page } from 'playwright-core';
import { type Host, launchBrowser, openWindow, runCommand, startHost } from '../../.dev/serve.mjs';
import { analyse, prepare, readerFor } from '../../src/analysis.ts';
import type { Analysis } from '../../src/model/analysis.ts';
import { DEFAULT_ANALYSIS_SETTINGS } from '../../src/model/settings.ts';

export const ROOT = process.env.BUBBLELENS_ROOT ?? process.cwd();
const SHOTS = path.join(ROOT, 'out', 'screenshots');
const QUIET = {
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.disableAIFeatures': true,
  'editor.minimap.enabled': false,
};

export interface Editor {
  readonly host: Host;
  readonly folder: string;
  readonly open: (file: string) => Promise<EditorWindow>;
  readonly close: () => Promise<void>;
}

export interface EditorWindow {
  readonly page: Page;
  /** What our code or its page complained of: console errors, exceptions, violations of the policy. */
  readonly complaints: readonly string[];
  readonly lens: (text: string | RegExp) => ReturnType<Page['locator']>;
  /** The timeline's page, once it has drawn something. */
  readonly timeline: () => Promise<Frame>;
  /** Selects a piece of a line by its place, both from 1, and types over it. */
  readonly retype: (line: number, from: string, to: string) => Promise<void>;
  /** "Ln 22, Col 5" of the status bar, as a line number. */
  readonly cursorLine: () => Promise<number>;
  readonly command: (title: string) => Promise<void>;
  readonly theme: (name: string) => Promise<void>;
  readonly shot: (name: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function startEditor(options: { readonly workspaceTrust?: boolean } = {}): Promise<Editor> {
  const folder = mkdtempSync(path.join(tmpdir(), 'bubblelens-editor-'));
  cpSync(path.join(ROOT, 'examples'), folder, { recursive: true });
  mkdirSync(SHOTS, { recursive: true });
  const host = await startHost({ folder, settings: QUIET, ...options });
  const browser = await launchBrowser();
  return {
    host,
    folder,
    open: (file) => openEditor(browser, host, folder, file),
    close: async () => {
      await browser.close();
      await host.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function openEditor(browser: Browser, host: Host, folder: string, file: string): Promise<EditorWindow> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (isOurs(message)) complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`exception: ${error.message}`));
  await openWindow(page, { host });
  await page.getByRole('treeitem', { name: file }).waitFor();
  await page.getByRole('treeitem', { name: file }).dblclick();
  await page.locator('.codelens-decoration a').first().waitFor({ timeout: 30_000 });
  return {
    page,
    complaints,
    lens: (text) => page.locator('.codelens-decoration a', { hasText: text }),
    timeline: () => timelineFrame(page),
    retype: (line, from, to) => retype(page, path.join(folder, file), line, from, to),
    cursorLine: async () => {
      const text = await page.locator('#status\\.editor\\.selection').textContent();
      return Number(/Ln (\d+)/.exec(text ?? '')?.[1]);
    },
    command: (title) => runCommand(page, title),
    theme: (name) => chooseTheme(page, name),
    shot: async (name) => {
      await page.screenshot({ path: path.join(SHOTS, `editor-${name}.png`) });
    },
    close: () => page.close(),
  };
}

/** The workbench complains of much that a served editor lacks; what concerns webviews, policies or us is kept. */
function isOurs(message: ConsoleMessage): boolean {
  const text = message.text();
  if (/bubblelens/i.test(text)) return message.type() === 'error';
  if (/Content Security Policy|violates/i.test(text)) return true;
  return message.type() === 'error' && /webview\/(timeline|toolkit)/.test(message.location().url);
}

async function timelineFrame(page: Page): Promise<Frame> {
  const end = performance.now() + 30_000;
  while (performance.now() < end) {
    for (const frame of page.frames()) {
      const text = await frame
        .locator('.headline')
        .textContent({ timeout: 200 })
        .catch(() => null);
      if (text) return frame;
    }
    await page.waitForTimeout(100);
  }
  return assert.fail('the timeline did not show');
}

async function retype(page: Page, file: string, line: number, from: string, to: string): Promise<void> {
  const text = readFileSync(file, 'utf8').split('\n')[line - 1] ?? '';
  const column = text.indexOf(from) + 1;
  assert.ok(column > 0, `line ${line} has no "${from}"`);
  await page.locator('.editor-instance .view-lines').first().click();
  await page.keyboard.press('Control+G');
  const input = page.locator('.quick-input-widget input.input');
  await input.waitFor();
  await input.fill(`:${line}:${column}`);
  await page.keyboard.press('Enter');
  await input.waitFor({ state: 'hidden' });
  for (const _ of from) await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.type(to);
}

async function chooseTheme(page: Page, name: string): Promise<void> {
  await runCommand(page, 'Preferences: Color Theme');
  const input = page.locator('.quick-input-widget input.input');
  await input.waitFor();
  await input.fill(name);
  await page.locator('.quick-input-widget').getByRole('option', { name }).first().click();
  await page.waitForTimeout(800);
}

/** What the facade says of a text under a file's name: the numbers that `explain` prints. */
export async function expected(file: string, text: string): Promise<Analysis> {
  const reader = readerFor(file, text);
  assert.ok(reader, `${file} is nobody's`);
  await prepare(reader);
  return analyse({ file, texts: { [file]: text }, said: {}, settings: DEFAULT_ANALYSIS_SETTINGS });
}

export function exampleText(file: string): string {
  return readFileSync(path.join(ROOT, 'examples', file), 'utf8');
}

/** The line, from 1, on which a text first stands. */
export function lineOf(text: string, part: string): number {
  const offset = text.indexOf(part);
  assert.ok(offset >= 0, `"${part}" is not in the text`);
  return text.slice(0, offset).split('\n').length;
}
