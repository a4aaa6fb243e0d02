// Builds everything that ships with esbuild: the extension, the command line, one chunk for
// each parser (loaded on first use, since a cold parser is the dearest part of a start), and
// the webview. The same module bundles the tests, so that they see the sources as they ship.
// `--watch` rebuilds on change; `--production` minifies, prints sizes and holds the budgets.

import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import * as esbuild from 'esbuild';
import { writeNotices } from './notices.mjs';
import { dist, root } from './paths.mjs';
import { ToolError } from './processes.mjs';

const node = { platform: 'node', format: 'cjs', target: 'node20', external: ['vscode'] };
const browser = { platform: 'browser', format: 'iife', target: 'es2022' };

/** What ships: source, output below the output folder, how, and the largest size in bytes. */
const entries = [
  { source: 'src/extension.ts', output: 'extension.js', options: node, budget: 60_000 },
  { source: 'src/worker/core-chunk.ts', output: 'core.js', options: node, budget: 600_000 },
  { source: 'src/cli/main.ts', output: 'cli.js', options: node, executable: true },
  { source: 'src/worker/main.ts', output: 'worker.js', options: node },
  { source: 'webview/timeline.ts', output: 'webview/timeline.js', options: browser },
  { source: 'webview/timeline.css', output: 'webview/timeline.css', options: browser },
  { source: 'webview/toolkit.ts', output: 'webview/toolkit.js', options: browser, budget: 200_000 },
];

const parserFolder = path.join(root, 'src', 'readers', 'parse');

/** The readers and the simulator are a chunk too: the worker's thread loads them, and activation must not. */
const coreChunk = path.join(root, 'src', 'worker', 'core-chunk.ts');

/**
 * Leaves a dynamic import of a parser, or of the core, to the chunk of that name. `base` is where chunks lie
 * as seen from the importing bundle. Static imports of a parser are bundled as usual.
 */
function parserChunks(base) {
  return {
    name: 'parser-chunks',
    setup(build) {
      build.onResolve({ filter: /(^|\/)(parse|worker)\/[\w-]+(\.ts)?$|^\.\/[\w-]+(\.ts)?$/ }, (args) => {
        if (args.kind !== 'dynamic-import') return undefined;
        const target = path.resolve(args.resolveDir, args.path);
        if (target === coreChunk) return { path: './core.js', external: true };
        if (path.dirname(target) !== parserFolder) return undefined;
        return { path: `${base}/${path.basename(target, '.ts')}.js`, external: true };
      });
    },
  };
}

/** The rows of what ships, parsers included, whose sources are there. */
export function shippedEntries() {
  const parsers = existsSync(parserFolder)
    ? readdirSync(parserFolder).filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    : [];
  const chunks = parsers.map((name) => ({
    source: `src/readers/parse/${name}`,
    output: `parsers/${path.basename(name, '.ts')}.js`,
    options: node,
    chunk: true,
  }));
  const present = [];
  for (const entry of [...entries, ...chunks]) {
    if (existsSync(path.join(root, entry.source))) present.push(entry);
    else console.log(`${entry.source} is not there yet: skipped.`);
  }
  return present;
}

function entryOptions(entry, folder, production) {
  const source = path.join(root, entry.source);
  const shebang = entry.executable && !readFileSync(source, 'utf8').startsWith('#!');
  return {
    ...entry.options,
    entryPoints: [source],
    outfile: path.join(folder, entry.output),
    bundle: true,
    mainFields: ['module', 'main'],
    // A plain `require` in the output: it works wherever the editor or node loads the bundle.
    supported: entry.options === node ? { 'dynamic-import': false } : {},
    plugins: entry.options === node ? [parserChunks(entry.chunk ? '.' : './parsers')] : [],
    banner: shebang ? { js: '#!/usr/bin/env node' } : {},
    minify: production,
    sourcemap: !production,
    sourcesContent: false,
    legalComments: production ? 'none' : 'inline',
    metafile: true,
    define: { 'process.env.NODE_ENV': production ? '"production"' : '"development"' },
    absWorkingDir: root,
    logLevel: 'silent',
  };
}

/**
 * Builds what ships into `folder`. In production its sizes are printed and returned, and a
 * size above its budget is an error. Stale outputs of earlier builds are removed.
 */
export async function build({ production = false, folder = dist } = {}) {
  const present = shippedEntries();
  if (production) rmSync(folder, { recursive: true, force: true });
  else removeStale(folder, present);
  const results = await Promise.all(present.map((entry) => bundle(entryOptions(entry, folder, production))));
  for (const entry of present) if (entry.executable) chmodSync(path.join(folder, entry.output), 0o755);
  if (!production) return [];
  writeNotices(
    results.flatMap((result) => Object.keys(result.metafile.inputs)),
    path.join(folder, 'third-party-notices.txt'),
  );
  return holdBudgets(present, folder);
}

/** One esbuild run whose errors become one readable ToolError. */
async function bundle(options) {
  try {
    return await esbuild.build(options);
  } catch (error) {
    const messages = await esbuild.formatMessages(error.errors ?? [], { kind: 'error', color: false });
    throw new ToolError(`The build failed: ${options.entryPoints[0]}`, messages.join('') || String(error));
  }
}

function removeStale(folder, present) {
  const parsers = path.join(folder, 'parsers');
  if (!existsSync(parsers)) return;
  const wanted = new Set(present.map((entry) => entry.output));
  for (const name of readdirSync(parsers)) {
    if (!wanted.has(`parsers/${name.replace(/\.map$/, '')}`)) rmSync(path.join(parsers, name));
  }
}

function holdBudgets(present, folder) {
  const sizes = present.map((entry) => ({ ...entry, bytes: statSync(path.join(folder, entry.output)).size }));
  for (const { output, bytes, budget } of sizes) {
    const limit = budget ? `  of ${(budget / 1000).toFixed(0)} kB` : '';
    console.log(`${output.padEnd(24)} ${(bytes / 1000).toFixed(1).padStart(8)} kB${limit}`);
  }
  const above = sizes.filter(({ bytes, budget }) => budget && bytes > budget);
  if (above.length === 0) return sizes;
  const list = above.map(({ output, bytes, budget }) => `${output} ${bytes} B (at most ${budget})`);
  throw new ToolError(`Above the size budget: ${list.join(', ')}`);
}

/** Rebuilds on every change until the process ends. */
export async function watch() {
  for (const entry of shippedEntries()) {
    const context = await esbuild.context({ ...entryOptions(entry, dist, false), logLevel: 'info' });
    await context.watch();
  }
  console.log('Watching; Ctrl+C ends it. Restart after adding a new entry or parser.');
}

/** Leaves the tools themselves to where they are: they find the repository by their own place. */
const toolsStayOutside = {
  name: 'tools-stay-outside',
  setup(build) {
    build.onResolve({ filter: /\.dev\/[\w-]+\.mjs$/ }, (args) => ({
      path: pathToFileURL(path.resolve(args.resolveDir, args.path)).href,
      external: true,
    }));
  },
};

/**
 * Bundles tests for node as modules that share their chunks, or, with `format: 'cjs'`, as
 * the editor's extension host loads them. Parsers are bundled in. Returns the output files.
 */
export async function bundleTests(sources, folder, { format = 'esm' } = {}) {
  removeOld(folder);
  const esm = format === 'esm';
  const result = await esbuildTests(sources, folder, esm);
  // A parser's chunk counts as an entry too: only what was asked for is a test.
  const asked = new Set(sources.map((source) => path.relative(root, source)));
  const made = Object.entries(result.metafile.outputs).filter(([, output]) => asked.has(output.entryPoint));
  return made.map(([file]) => path.join(root, file));
}

/** Removes bundles of long ago, but not those that another run may be using at this moment. */
function removeOld(folder) {
  const old = Date.now() - 10 * 60_000;
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder, { recursive: true })) {
    const file = path.join(folder, name);
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat?.isFile() && stat.mtimeMs < old) rmSync(file, { force: true });
  }
}

function esbuildTests(sources, folder, esm) {
  const requireBanner =
    "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";
  return bundle({
    entryPoints: sources,
    outdir: folder,
    outbase: path.join(root, esm ? 'test' : 'test/host'),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: esm ? 'esm' : 'cjs',
    splitting: esm,
    outExtension: esm ? { '.js': '.mjs' } : {},
    banner: esm ? { js: requireBanner } : {},
    mainFields: ['module', 'main'],
    external: ['vscode', 'esbuild', 'typescript', 'playwright-core', '@vscode/test-electron'],
    plugins: [toolsStayOutside],
    sourcemap: 'linked',
    sourcesContent: false,
    metafile: true,
    absWorkingDir: root,
    logLevel: 'silent',
  });
}

async function main() {
  if (process.argv.includes('--watch')) return watch();
  const started = Date.now();
  await build({ production: process.argv.includes('--production') });
  console.log(`Built in ${Date.now() - started} ms.`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await main().catch((error) => {
    console.error(error.output ? `${error.message}\n${error.output}` : error.message);
    process.exit(1);
  });
}
