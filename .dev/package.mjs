// Makes the package that users install. Everything that may ship is copied to a staging
// folder and built there for production, so that the development build stays as it is;
// `.vscodeignore` is the one list of what goes in. A package above its budget is an error:
// people install it over a remote connection to a cluster's login node.

import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from './build.mjs';
import { out, root } from './paths.mjs';
import { must, npmEnvironment, ToolError } from './processes.mjs';

/** The last line of the packager that runs on node 20. */
const packager = '@vscode/vsce@3.9.2';
const budget = 500_000;
const leftOut = new Set(['node_modules', 'dist', 'out', 'src', 'test', 'webview']);

/** Packages the extension; resolves to the file's path, its size and the extension's id. */
export async function packageExtension() {
  const { name, publisher, version, repository } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const staging = path.join(out, `package-${process.pid}`);
  const file = path.join(root, `${name}-${version}.vsix`);
  try {
    stage(staging);
    await build({ production: true, folder: path.join(staging, 'dist') });
    const args = ['--yes', packager, 'package', '--no-dependencies', '--allow-missing-repository', '--out', file];
    // Without a public repository there is no address that a relative link could lead to.
    if (!repository) args.push('--no-rewrite-relative-links');
    const licence = readdirSync(staging).some((each) => /^licen[cs]e/i.test(each));
    if (!licence) args.push('--skip-license');
    console.log((await must('npx', args, { cwd: staging, env: npmEnvironment() })).trim());
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  const bytes = statSync(file).size;
  console.log(`${path.basename(file)}: ${(bytes / 1000).toFixed(1)} kB of ${budget / 1000} kB`);
  if (bytes > budget) throw new ToolError(`The package is above its budget: ${bytes} B (at most ${budget} B).`);
  return { file, bytes, id: `${publisher}.${name}` };
}

function stage(staging) {
  rmSync(staging, { recursive: true, force: true });
  for (const each of readdirSync(root)) {
    const hidden = each.startsWith('.') && each !== '.vscodeignore';
    if (hidden || leftOut.has(each) || each.endsWith('.vsix')) continue;
    cpSync(path.join(root, each), path.join(staging, each), { recursive: true });
  }
  if (!existsSync(path.join(staging, 'package.json'))) throw new ToolError('There is nothing to package.');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await packageExtension().catch((error) => {
    console.error(error.output ? `${error.message}\n${error.output}` : error.message);
    process.exit(1);
  });
}
