/**
 * Opens the timeline's page by itself in a real browser: the page and its policy are those of the extension, only
 * `acquireVsCodeApi` is stood in for, and records what the page sends and keeps.
 */

import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { build } from 'esbuild';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { timelineHtml } from '../../src/editor/timeline-html.ts';
import type { FromWebview, ToWebview } from '../../src/model/protocol.ts';
import { THEMES, type ThemeName } from './timeline-themes.ts';

const NONCE = 'timelineTest0123456789abcdef';
const CHROMIUM_NAMES = ['google-chrome', 'chromium', 'chromium-browser'];
const CHROMIUM_ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export interface Harness {
  readonly open: (options?: OpenOptions) => Promise<OpenPage>;
  readonly close: () => Promise<void>;
}

export interface OpenOptions {
  readonly theme?: ThemeName;
  readonly state?: unknown;
  readonly stateJson?: string;
  readonly toolkit?: boolean;
  readonly context?: BrowserContextOptions;
}

export interface OpenPage {
  readonly page: Page;
  /** Console errors, page errors and violations of the policy. */
  readonly complaints: readonly string[];
  readonly send: (message: ToWebview | Readonly<Record<string, unknown>>) => Promise<void>;
  readonly sent: () => Promise<readonly FromWebview[]>;
  readonly state: () => Promise<unknown>;
  readonly setTheme: (theme: ThemeName) => Promise<void>;
  /** Waits until the page has drawn what it was told and nothing moves any more. */
  readonly settled: () => Promise<void>;
  /** Waits until an expression is true in the page. */
  readonly until: (condition: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function startHarness(): Promise<Harness> {
  const [files, browser] = await Promise.all([
    bundled(),
    chromium.launch({ executablePath: chromiumPath(), args: CHROMIUM_ARGS }),
  ]);
  const pages = new Map<string, string>();
  const server = await serve(files, pages);
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    open: (options = {}) => openPage(browser, origin, pages, options),
    close: async () => {
      await browser.close();
      server.close();
    },
  };
}

async function bundled(): Promise<ReadonlyMap<string, Uint8Array>> {
  const root = process.env.BUBBLELENS_ROOT ?? process.cwd();
  const { outputFiles } = await build({
    entryPoints: ['timeline.ts', 'toolkit.ts', 'timeline.css'].map((name) => join(root, 'webview', name)),
    bundle: true,
    format: 'iife',
    target: 'es2022',
    outdir: '/',
    write: false,
    logLevel: 'silent',
  });
  return new Map(outputFiles.map((file) => [file.path, file.contents]));
}

function serve(files: ReadonlyMap<string, Uint8Array>, pages: ReadonlyMap<string, string>): Promise<Server> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    const body = pages.get(path) ?? files.get(path);
    const type = path.endsWith('.js') ? 'text/javascript' : path.endsWith('.css') ? 'text/css' : 'text/html';
    if (path === '/favicon.ico') return response.writeHead(204).end();
    return response.writeHead(body === undefined ? 404 : 200, { 'content-type': `${type}; charset=utf-8` }).end(body);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

async function openPage(
  browser: Browser,
  origin: string,
  pages: Map<string, string>,
  options: OpenOptions,
): Promise<OpenPage> {
  const path = `/page-${pages.size}.html`;
  pages.set(path, pageOf(origin, options));
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, ...options.context });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.addInitScript({ content: standIn(options.state ?? null) });
  await page.goto(`${origin}${path}`);
  const read = async <T>(expression: string) => (await page.evaluate(expression)) as T;
  // Not Playwright's own waiting: it evaluates text inside the page, which the policy forbids.
  const until = async (condition: string) => {
    for (const end = Date.now() + 15_000; !(await page.evaluate(condition)); await page.waitForTimeout(30)) {
      if (Date.now() > end) throw new Error(`never true: ${condition}`);
    }
  };
  const settled = () => until(SETTLED);
  if (options.toolkit !== false) await until("customElements.get('vscode-button') !== undefined");
  return {
    page,
    complaints,
    settled,
    until,
    send: async (message) => {
      await page.evaluate((data) => (globalThis as unknown as Poster).postMessage(data, '*'), message);
      await settled();
    },
    sent: () => read('testHost.sent'),
    state: () => read('testHost.state'),
    setTheme: async (name) => {
      await page.evaluate(`testHost.setTheme(${JSON.stringify(THEMES[name])})`);
      await settled();
    },
    close: () => context.close(),
  };
}

interface Poster {
  readonly postMessage: (data: unknown, origin: string) => void;
}

function pageOf(origin: string, options: OpenOptions): string {
  const html = timelineHtml({
    nonce: NONCE,
    cspSource: origin,
    scriptUri: `${origin}/timeline.js`,
    toolkitUri: `${origin}/${options.toolkit === false ? 'nothing.js' : 'toolkit.js'}`,
    styleUri: `${origin}/timeline.css`,
    title: 'Timeline',
    ...(options.stateJson === undefined ? {} : { stateJson: options.stateJson }),
  });
  const theme = JSON.stringify(THEMES[options.theme ?? 'dark']);
  return html.replace('<body>', `<body>\n<script nonce="${NONCE}">testHost.setTheme(${theme})</script>`);
}

/** Runs in the page before everything else. */
const standIn = (state: unknown) => `(() => {
  const host = { sent: [], state: ${JSON.stringify(state)},
    setTheme(theme) {
      document.body.dataset.vscodeThemeKind = theme.bodyClass.split(' ')[0];
      document.documentElement.removeAttribute('style');
      for (const [name, value] of Object.entries(theme.variables)) document.documentElement.style.setProperty(name, value);
      document.body.className = theme.bodyClass;
    } };
  window.testHost = host;
  window.acquireVsCodeApi = () => {
    delete window.acquireVsCodeApi;
    return { postMessage: (message) => host.sent.push(message), getState: () => host.state, setState: (next) => { host.state = next; } };
  };
  document.addEventListener('securitypolicyviolation', (event) =>
    console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI));
})()`;

/** Two frames without a change of what the canvases show. */
const SETTLED = `new Promise((resolve) => {
  const sum = () => {
    let text = '';
    for (const canvas of document.querySelectorAll('.stage canvas')) text += canvas.toDataURL().length + ' ';
    return text;
  };
  const before = sum();
  setTimeout(() => requestAnimationFrame(() => resolve(sum() === before)), 60);
})`;

function chromiumPath(): string {
  const asked = process.env.BUBBLELENS_CHROMIUM;
  if (asked) return asked;
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin'];
  for (const name of CHROMIUM_NAMES) {
    const found = folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
    if (found !== undefined) return found;
  }
  throw new Error('No Chromium: set BUBBLELENS_CHROMIUM to its path.');
}
