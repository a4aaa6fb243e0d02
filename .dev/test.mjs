// The whole test run, `npm test`: build, types, lint, unit tests, tests inside the oldest and
// the newest VS Code, browser tests, and the package installed as a user installs it.
// `npm test -- unit`, `-- host`, `-- host:oldest`, `-- browser` and so on run those steps
// alone; any further word picks the test files (for the editors: the tests) whose name holds
// it. UPDATE=1 reaches the tests. The last line printed is the count, and nothing else is
// counted than what a runner reported; a step that reports no test has failed.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { SourceMap } from 'node:module';
import path from 'node:path';
import { runTests } from '@vscode/test-electron';
import { build, bundleTests } from './build.mjs';
import { ensureHost, hostTable } from './hosts.mjs';
import { packageExtension } from './package.mjs';
import { out, root, runFolder } from './paths.mjs';
import { run, ToolError } from './processes.mjs';
import { installExtension } from './serve.mjs';
import { ensureChromium } from './system.mjs';

/** What the editor's window shows while a group of tests runs: nothing, or a copy of examples. */
const hostWindows = ['empty', 'folder'];

const steps = [
  { name: 'build', run: () => build().then(() => one(true)) },
  { name: 'types', run: types },
  { name: 'lint', run: () => command(['@biomejs', 'biome', 'bin', 'biome'], ['check', '.']) },
  { name: 'unit', run: unit },
  ...hostTable.map((row) => ({ name: `host:${row.name}`, run: (words) => inHost(row, words), editor: true })),
  { name: 'browser', run: inBrowser, editor: true },
  { name: 'package', run: packaged, editor: true },
];

const one = (ok) => ({ passed: ok ? 1 : 0, failed: ok ? 0 : 1 });
const add = (a, b) => ({ passed: a.passed + b.passed, failed: a.failed + b.failed });
const nothing = { passed: 0, failed: 0 };

async function command(program, args) {
  const file = path.join(root, 'node_modules', ...program);
  const { code } = await run(process.execPath, [file, ...args], { show: true, cwd: root });
  return one(code === 0);
}

/** The sources, and the webview where it has a configuration of its own (it knows the DOM, not node). */
async function types() {
  const compiler = ['typescript', 'bin', 'tsc'];
  const ours = await command(compiler, ['--noEmit']);
  if (!existsSync(path.join(root, 'webview', 'tsconfig.json'))) return ours;
  return add(ours, await command(compiler, ['--noEmit', '-p', 'webview']));
}

/** Test files below a folder of `test/`, the folders in `except` left out. */
function testFiles(folder, words, except = []) {
  const top = path.join(root, 'test', folder);
  if (!existsSync(top)) return [];
  const files = readdirSync(top, { recursive: true })
    .filter((file) => file.endsWith('.test.ts') && !except.includes(file.split(path.sep)[0]))
    .map((file) => path.join(top, file))
    .sort();
  return words.length === 0 ? files : files.filter((file) => words.some((word) => file.includes(word)));
}

async function unit(words) {
  return nodeTests('test', testFiles('', words, ['host', 'browser', 'fixtures']), [
    '--test-concurrency=2',
    '--test-timeout=300000',
  ]);
}

async function inBrowser(words) {
  return nodeTests('test-browser', testFiles('browser', words), ['--test-concurrency=1', '--test-timeout=600000']);
}

/** Bundles test files and runs them with node's runner, counted from its own summary. */
async function nodeTests(folder, sources, options) {
  if (sources.length === 0) {
    console.log('There are no such tests yet.');
    return nothing;
  }
  const files = await bundleTests(sources, path.join(out, folder));
  const report = path.join(out, `${folder}-${process.pid}.tap`);
  const reporters = ['--test-reporter=spec', '--test-reporter-destination=stdout'];
  reporters.push('--test-reporter=tap', `--test-reporter-destination=${report}`);
  const env = { ...process.env, BUBBLELENS_ROOT: root };
  delete env.NODE_TEST_CONTEXT;
  const flags = ['--enable-source-maps', '--test', ...options, ...reporters];
  const { code } = await run(process.execPath, [...flags, ...files], { show: true, cwd: root, env });
  const summary = existsSync(report) ? readFileSync(report, 'utf8') : '';
  rmSync(report, { force: true });
  const count = (what) => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(summary)?.[1] ?? 0);
  // The runner takes a file without any test for a test that passed; here it is one that failed.
  const lines = new Set(summary.split('\n').map((line) => /^ok \d+ - (.*)$/.exec(line)?.[1]));
  const empty = files.filter((file) => lines.has(file));
  for (const file of empty) console.error(`No test in ${path.relative(out, file)}`);
  const counted = {
    passed: count('pass') - empty.length,
    failed: count('fail') + count('cancelled') + empty.length,
  };
  return honest(counted, code !== 0, 'the runner');
}

/** Adds a failure where a run failed without saying in which test, or reported no test at all. */
function honest(counted, runFailed, who) {
  if (counted.passed + counted.failed === 0) console.error(`No test was reported by ${who}.`);
  else if (runFailed && counted.failed === 0) console.error(`All tests passed, but ${who} failed.`);
  else return counted;
  return add(counted, one(false));
}

/** The tests of test/host inside one VS Code, once for each kind of window. */
async function inHost(row, words) {
  const [tests] = await bundleTests([path.join(root, 'test/host/index.ts')], path.join(out, 'test-host'), {
    format: 'cjs',
  }).then((files) => files.map((file) => path.resolve(file)));
  const host = await ensureHost(row.name);
  let counted = nothing;
  for (const window of hostWindows) counted = add(counted, await inWindow(host, window, tests, words));
  return counted;
}

async function inWindow(host, window, extensionTestsPath, words) {
  const own = runFolder('window');
  const results = path.join(own, 'results.jsonl');
  const folder = path.join(own, 'examples');
  mkdirSync(folder);
  if (existsSync(path.join(root, 'examples'))) cpSync(path.join(root, 'examples'), folder, { recursive: true });
  console.log(`VS Code ${host.vscode}, ${window === 'empty' ? 'an empty window' : 'a folder with the examples'}`);
  try {
    const failed = await runTests({
      vscodeExecutablePath: process.env.BUBBLELENS_VSCODE ?? host.executable,
      extensionDevelopmentPath: root,
      extensionTestsPath,
      launchArgs: window === 'empty' ? [] : [folder],
      extensionTestsEnv: {
        // Each test has a limit of its own; this one is for a window that never starts or ends.
        BUBBLELENS_HOST_TIMEOUT_MS: process.env.BUBBLELENS_HOST_TIMEOUT_MS ?? '600000',
        BUBBLELENS_ROOT: root,
        BUBBLELENS_HOST_RESULTS: results,
        BUBBLELENS_HOST_WINDOW: window,
        BUBBLELENS_HOST_TESTS: words.join(' '),
      },
    }).then(
      (code) => code !== 0,
      () => true,
    );
    return hostResults(results, failed, words.length > 0, inSources(extensionTestsPath));
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

/** Puts source places where a text names places of a bundle: the editor's own stack traces do not. */
function inSources(bundle) {
  const map = new SourceMap(JSON.parse(readFileSync(`${bundle}.map`, 'utf8')));
  return (text) =>
    text.replace(/([^\s(]+):(\d+):(\d+)/g, (whole, file, line, column) => {
      if (file !== bundle) return whole;
      const { originalSource, originalLine, originalColumn } = map.findEntry(Number(line) - 1, Number(column) - 1);
      if (originalSource === undefined) return whole;
      const source = path.relative(root, path.resolve(path.dirname(bundle), originalSource));
      return `${source}:${originalLine + 1}:${originalColumn + 1}`;
    });
}

/** Counts the result lines; tests that were planned but never reported have failed. */
function hostResults(file, runFailed, chosen, located) {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').filter(Boolean) : [];
  const records = lines.map((line) => JSON.parse(line));
  const planned = records.find((record) => record.planned !== undefined)?.planned;
  const ended = records.filter((record) => record.name !== undefined);
  for (const { name, ok, ms, error } of ended) {
    console.log(`${ok ? '✔' : '✖'} ${name} (${ms} ms)${ok ? '' : `\n${located(error)}`}`);
  }
  const passed = ended.filter((record) => record.ok).length;
  const lost = Math.max(0, (planned ?? 0) - ended.length);
  if (lost > 0) console.error(`${lost} of ${planned} tests never ended.`);
  const counted = { passed, failed: ended.length - passed + lost };
  if (planned === 0 && chosen && !runFailed) return counted;
  return honest(counted, runFailed, 'VS Code');
}

/** The package is made, small enough, and installs in the oldest and the newest VS Code. */
async function packaged() {
  if (!existsSync(path.join(root, 'src', 'extension.ts'))) {
    console.log('src/extension.ts is not there yet: nothing to package.');
    return nothing;
  }
  const { file, id } = await packageExtension();
  let counted = one(true);
  for (const row of hostTable) {
    const extensionsDir = runFolder('extensions');
    const output = await installExtension({ version: row.name, vsix: file, extensionsDir });
    const installed = readdirSync(extensionsDir).some((name) => name.startsWith(`${id}-`));
    console.log(`${installed ? '✔' : '✖'} installs in VS Code ${row.vscode}${installed ? '' : `\n${output}`}`);
    rmSync(extensionsDir, { recursive: true, force: true });
    counted = add(counted, one(installed));
  }
  return counted;
}

/** Runs a step; a tool that fails or throws is one failure, with its output. */
async function runStep(step, words) {
  console.log(`\n== ${step.name}`);
  const started = Date.now();
  const counted = await step.run(words).catch((error) => {
    const known = error instanceof ToolError;
    console.error(known ? `${error.message}\n${error.output}` : (error.stack ?? error));
    return one(false);
  });
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  console.log(`== ${step.name}: ${counted.passed} passed, ${counted.failed} failed in ${seconds} s`);
  return counted;
}

async function main(words) {
  const named = (word) => steps.filter((step) => step.name === word || step.name.startsWith(`${word}:`));
  const chosen = new Set(words.flatMap(named));
  const rest = words.filter((word) => named(word).length === 0);
  const todo = steps.filter((step) => step.name === 'build' || chosen.size === 0 || chosen.has(step));
  const hosts = todo.flatMap((step) => (step.editor ? (/^host:(.*)/.exec(step.name)?.[1] ?? 'newest') : []));
  let built = false;
  let ready = Promise.resolve();
  let counted = nothing;
  for (const step of todo) {
    if (step.editor && !built) {
      console.log(`\n== ${step.name}: left out, since there is no build`);
      continue;
    }
    if (step.name === 'unit' || step.editor) await ready.catch(() => undefined);
    const result = await runStep(step, rest);
    counted = add(counted, result);
    if (step.name !== 'build') continue;
    built = result.failed === 0;
    // The hosts are set up while the compiler and the linter run, but not beside tests that measure time.
    if (built && hosts.length > 0) ready = setUp([...new Set(hosts)]);
    ready.catch(() => undefined);
  }
  if (rest.length > 0 && counted.passed + counted.failed <= 1) {
    console.error(`No test has a name with: ${rest.join(', ')}`);
    counted = add(counted, one(false));
  }
  console.log(`\n${counted.passed} passed, ${counted.failed} failed`);
  return counted.failed === 0 ? 0 : 1;
}

async function setUp(names) {
  process.env.BUBBLELENS_CHROMIUM = await ensureChromium();
  await Promise.all(names.map(ensureHost));
}

process.exit(await main(process.argv.slice(2)));
