// `npm start`: see Bubblelens at work. It builds, prints what the command line says about
// examples/, and opens examples/ in an editor with the extension: the desktop VS Code where
// one is installed and a display is there, else a real VS Code served on a loopback port,
// until Ctrl+C. `--port N` fixes the port, `--no-open` opens no browser, and `--once` stops
// as soon as the address has been printed.

import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { build } from './build.mjs';
import { cacheRoot, dist, root } from './paths.mjs';
import { run, which } from './processes.mjs';
import { startHost } from './serve.mjs';

const examples = path.join(root, 'examples');
const settings = {
  'workbench.startupEditor': 'readme',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'git.openRepositoryInParentFolders': 'never',
};

async function report() {
  const cli = path.join(dist, 'cli.js');
  if (!existsSync(cli)) return console.log('The command line is not there yet: no report.');
  const files = readdirSync(examples)
    .map((name) => path.join('examples', name))
    .filter((file) => statSync(path.join(root, file)).isFile() && !file.endsWith('.md'));
  if (files.length === 0) return console.log('There are no examples yet: no report.');
  return run(process.execPath, [cli, 'explain', ...files], { show: true, cwd: root });
}

/** The desktop editor's program, where it can show a window. */
function desktopEditor() {
  const display = process.env.DISPLAY || process.env.WAYLAND_DISPLAY || process.platform === 'darwin';
  return display ? which('code') : undefined;
}

/** What an installed extension consists of. */
const shipped = ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'dist', 'media', 'examples'];

/**
 * An extensions folder with this repository's build as an installed extension. Files, not links: an editor resolves
 * links, takes the code for another extension's, and its webviews get no answers.
 */
function installedExtension(folder) {
  const { name, publisher, version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const extension = path.join(folder, `${publisher}.${name}-${version}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(extension, { recursive: true });
  for (const each of shipped) cpSync(path.join(root, each), path.join(extension, each), { recursive: true });
}

async function serve({ port, once, open }) {
  // Ctrl+C is the usual end here, not a failure.
  process.once('SIGINT', () => process.exit(0));
  const home = path.join(cacheRoot(), 'start');
  const extensionsDir = path.join(home, `extensions-${process.pid}`);
  installedExtension(extensionsDir);
  const userDataDir = path.join(home, 'user');
  const host = await startHost({
    folder: examples,
    port,
    extensionsDir,
    userDataDir,
    settings,
    smokeTestDriver: false,
  });
  process.on('exit', () => rmSync(extensionsDir, { recursive: true, force: true }));
  console.log(`\nVS Code ${host.version} with Bubblelens and the examples:\n\n  ${host.url}\n`);
  if (once) return host.stop();
  const opener = process.env.DISPLAY || process.env.WAYLAND_DISPLAY ? which('xdg-open') : undefined;
  if (open && opener) spawn(opener, [host.url], { stdio: 'ignore', detached: true }).unref();
  console.log('Ctrl+C ends it.');
  const code = await host.exited;
  console.error(`The editor's server ended with code ${code}.`);
  await host.stop();
  process.exitCode = 1;
}

function option(name) {
  const args = process.argv.slice(2);
  const at = args.indexOf(name);
  return at < 0 ? undefined : args[at + 1];
}

async function main() {
  await build();
  await report();
  const code = process.argv.includes('--once') ? undefined : desktopEditor();
  if (code) {
    await run(code, [`--extensionDevelopmentPath=${root}`, examples], { show: true });
    return;
  }
  const port = Number(option('--port') ?? 0);
  await serve({ port, once: process.argv.includes('--once'), open: !process.argv.includes('--no-open') });
}

await main().catch((error) => {
  console.error(error.output ? `${error.message}\n${error.output}` : error.message);
  process.exitCode = 1;
});
