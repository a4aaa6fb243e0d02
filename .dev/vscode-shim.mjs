// Stands for the `code` program where no desktop VS Code is at hand: it takes the arguments
// that @vscode/test-electron's `runTests` starts VS Code with, serves a real VS Code on a
// loopback port, opens it in a headless browser with the same development and test paths,
// passes the extension host's console on, and ends with the test run's exit code. Each run
// has fresh user data and extensions, so the caller's profile folders are not used.

import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { launchBrowser, startHost, windowUrl } from './serve.mjs';

const timeoutMs = Number(process.env.BUBBLELENS_HOST_TIMEOUT_MS ?? 180_000);

/** What the arguments ask for; flags that only concern a desktop are left out. */
export function readArguments(argv) {
  const asked = { version: 'newest', extensionDevelopmentPath: [], workspaceTrust: true };
  for (const argument of argv) {
    const [, flag, value = ''] = /^--([^=]+)(?:=(.*))?$/s.exec(argument) ?? [];
    if (flag === undefined) asked.folder ??= path.resolve(argument);
    else if (flag === 'bubblelens-host') asked.version = value;
    else if (flag === 'extensionDevelopmentPath') asked.extensionDevelopmentPath.push(value);
    else if (flag === 'extensionTestsPath') asked.extensionTestsPath = value;
    else if (flag === 'disable-workspace-trust') asked.workspaceTrust = false;
  }
  return asked;
}

async function runWindow(asked) {
  const host = await startHost({
    version: asked.version,
    workspaceTrust: asked.workspaceTrust,
    log: process.env.BUBBLELENS_HOST_LOG ? (text) => process.stderr.write(text) : undefined,
  });
  let browser;
  try {
    browser = await launchBrowser();
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const ended = new Promise((resolve, reject) => {
      page.on('crash', () => reject(new Error('the browser page crashed')));
      host.exited.then((code) => reject(new Error(`the server ended with code ${code}`)));
      page.exposeFunction('codeAutomationExit', (code) => resolve(code)).catch(reject);
    });
    ended.catch(() => undefined);
    await page.exposeFunction('codeAutomationLog', relay);
    await page.goto(windowUrl(host.origin, asked));
    return await ended;
  } finally {
    await Promise.allSettled([browser?.close(), host.stop()]);
  }
}

/** What the workbench says of itself in every run; BUBBLELENS_HOST_LOG=1 shows it all. */
const chatter =
  /^(\[[\w :-]+\]|Creating a socket|Resolv(ing|ed) connection token|Updating additional builtin|ChatSessionStore|Creation of workbench|Timed out waiting for auth|Canceled: |getaddrinfo )/;

/** Prints a line of the extension host's console where a desktop VS Code would. */
function relay(type, args) {
  const text = args.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join(' ');
  if (chatter.test(text) && !process.env.BUBBLELENS_HOST_LOG) return;
  const stream = type === 'error' || type === 'warn' ? process.stderr : process.stdout;
  stream.write(text.endsWith('\n') ? text : `${text}\n`);
}

async function main() {
  const asked = readArguments(process.argv.slice(2));
  if (!asked.extensionTestsPath) {
    console.error('This stands for VS Code in test runs only: --extensionTestsPath is missing.');
    return 2;
  }
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => {
      console.error(`The tests in VS Code did not end within ${timeoutMs / 1000} s.`);
      resolve(124);
    }, timeoutMs);
  });
  const run = runWindow(asked).catch((error) => {
    console.error(`VS Code could not run the tests: ${error.message.split('\n')[0]}`);
    return 70;
  });
  const code = await Promise.race([run, late]);
  clearTimeout(timer);
  return code;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.exit(await main());
