// Serves a real VS Code on a loopback port and opens its window in a browser: what the
// editor tests, the browser tests and `npm start` share. Every server keeps its user data
// and extensions in folders of its own, is ended with all it started, and is ended too when
// this process ends first.

import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { ensureHost } from './hosts.mjs';
import { root, runFolder } from './paths.mjs';
import { endGroup, must, ToolError } from './processes.mjs';
import { ensureChromium } from './system.mjs';

const live = new Set();

/**
 * Starts a server. Options, all optional:
 * `version` (`newest`, `oldest` or a version), `folder` (opened by `url`), `port` (0: a free
 * one), `extensionsDir` and `userDataDir` (else fresh ones, deleted by `stop`), `settings`
 * (an object of editor settings), `workspaceTrust` (true: folders open in Restricted Mode),
 * `smokeTestDriver` (false: a plain editor that takes no development payload), `env`, and
 * `log` (called with the server's output).
 * Resolves to `{ url, origin, port, version, folder, extensionsDir, userDataDir, exited, stop }`.
 */
export async function startHost(options = {}) {
  const host = await ensureHost(options.version ?? 'newest');
  const own = runFolder('host');
  const userDataDir = options.userDataDir ?? path.join(own, 'user');
  const extensionsDir = options.extensionsDir ?? path.join(own, 'extensions');
  mkdirSync(extensionsDir, { recursive: true });
  if (options.settings) writeSettings(userDataDir, options.settings);

  const args = [...serverArguments(host, userDataDir, extensionsDir), '--host', '127.0.0.1'];
  args.push('--port', String(options.port ?? 0), '--without-connection-token');
  if (options.smokeTestDriver !== false) args.push('--enable-smoke-test-driver');
  if (!options.workspaceTrust) args.push('--disable-workspace-trust');
  const child = spawn(host.nodePath, args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: serverEnvironment(options.env),
  });
  const entry = { child, own };
  watchLive(entry);
  const exited = new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
  const stop = async () => {
    await endGroup(child);
    rmSync(own, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    live.delete(entry);
  };
  try {
    const port = await listeningPort(child, exited, options.log);
    const origin = `http://127.0.0.1:${port}`;
    const url = windowUrl(origin, { folder: options.folder });
    const { folder } = options;
    return { url, origin, port, version: host.vscode, folder, extensionsDir, userDataDir, exited, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Installs a packaged extension into an extensions folder, as a user would. */
export async function installExtension({ version = 'newest', vsix, extensionsDir }) {
  const host = await ensureHost(version);
  const own = runFolder('install');
  try {
    const args = [...serverArguments(host, own, extensionsDir), '--install-extension', vsix];
    return await must(host.nodePath, args, { env: serverEnvironment() });
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

/**
 * The address of a window. `folder` (or a `.code-workspace` file) is opened, else the window
 * is empty. `extensionDevelopmentPath` (one or several), `extensionTestsPath` and further
 * pairs in `payload` need the smoke test driver.
 */
export function windowUrl(origin, { folder, extensionDevelopmentPath = [], extensionTestsPath, payload = [] } = {}) {
  const url = new URL('/', origin);
  if (!folder) url.searchParams.set('ew', 'true');
  else url.searchParams.set(folder.endsWith('.code-workspace') ? 'workspace' : 'folder', path.resolve(folder));
  const remote = (file) => `vscode-remote://${url.host}${path.resolve(file)}`;
  const pairs = [['skipWelcome', 'true'], ...payload];
  for (const each of [extensionDevelopmentPath].flat()) pairs.push(['extensionDevelopmentPath', remote(each)]);
  if (extensionTestsPath) pairs.push(['extensionTestsPath', remote(extensionTestsPath)]);
  if (pairs.length > 1) url.searchParams.set('payload', JSON.stringify(pairs));
  return url.href;
}

/** A headless browser that the editor's window runs in. The caller closes it. */
export async function launchBrowser(options = {}) {
  const executablePath = await ensureChromium();
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'];
  return chromium.launch({ executablePath, args, headless: true, ...options });
}

/**
 * Opens the workbench of a started host in a page, with the repository's extension under
 * development unless `extensionDevelopmentPath` says otherwise, and waits until the window
 * is restored and its extensions are known.
 */
export async function openWindow(page, { host, folder = host.folder, timeoutMs = 60_000, ...rest }) {
  await page.goto(windowUrl(host.origin, { folder, extensionDevelopmentPath: root, ...rest }));
  const started = Date.now();
  const left = () => ({ timeout: Math.max(1000, timeoutMs - (Date.now() - started)) });
  await page.locator('.monaco-workbench .part.statusbar').waitFor(left());
  const extensionsKnown = () => performance.getEntriesByName('code/didLoadExtensions').length > 0;
  await page.waitForFunction(extensionsKnown, undefined, left()).catch((error) => {
    throw new ToolError(`The editor's window did not get ready: ${error.message}`);
  });
  await page.evaluate(() => globalThis.driver?.whenWorkbenchRestored());
}

/** Runs a command from the palette by its full title, such as `View: Toggle Output`. */
export async function runCommand(page, title) {
  await page.keyboard.press('F1');
  const input = page.locator('.quick-input-widget input.input');
  await input.waitFor();
  await input.fill(`>${title}`);
  const exact = new RegExp(`^${title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(,|$)`);
  await page.locator('.quick-input-widget').getByRole('option', { name: exact }).first().click();
}

function serverArguments(host, userDataDir, extensionsDir) {
  const folders = ['--server-data-dir', userDataDir, '--user-data-dir', userDataDir, '--extensions-dir', extensionsDir];
  return [host.serverMain, ...folders, '--accept-server-license-terms', '--telemetry-level', 'off'];
}

/** The server starts from a plain environment: an editor's own terminal sets variables that mislead it. */
function serverEnvironment(extra = {}) {
  const env = { ...process.env, ...extra };
  for (const key of Object.keys(env)) {
    if (key.startsWith('VSCODE_') || key === 'ELECTRON_RUN_AS_NODE' || key === 'NODE_TEST_CONTEXT') delete env[key];
  }
  return env;
}

function writeSettings(userDataDir, settings) {
  const folder = path.join(userDataDir, 'Machine');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'settings.json'), JSON.stringify(settings, undefined, 2));
}

/** The port that the server says it listens on. */
function listeningPort(child, exited, log) {
  return new Promise((resolve, reject) => {
    let output = '';
    const fail = (why) => reject(new ToolError(`The editor's server did not start: ${why}`, output));
    const timer = setTimeout(() => fail('it said nothing for 60 s'), 60_000);
    const read = (chunk) => {
      log?.(String(chunk));
      if (output === undefined) return;
      output += chunk;
      const port = /Extension host agent listening on (\d+)/.exec(output)?.[1];
      if (!port) return;
      output = undefined;
      clearTimeout(timer);
      resolve(Number(port));
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', (error) => fail(error.message));
    exited.then((code) => {
      clearTimeout(timer);
      fail(`it ended with code ${code}: ${output?.trim().split('\n').at(-1)}`);
    });
  });
}

/** Ends what is still running when this process ends. */
function watchLive(entry) {
  if (live.size === 0 && !watchLive.installed) {
    watchLive.installed = true;
    process.once('SIGINT', () => process.exit(130));
    process.once('SIGTERM', () => process.exit(143));
    process.on('exit', endLive);
  }
  live.add(entry);
}

function endLive() {
  for (const { child, own } of live) {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
    rmSync(own, { recursive: true, force: true });
  }
}
