// The measurements inside a real VS Code: builds what ships, opens an empty window, types
// into it with test/bench/editor-host.ts, and resolves to the figures of that file.

import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { runTests } from '@vscode/test-electron';
import { build, bundleTests } from './build.mjs';
import { ensureHost } from './hosts.mjs';
import { out, root, runFolder } from './paths.mjs';
import { ToolError } from './processes.mjs';

/** `which` is a host of hosts.mjs: `newest` or `oldest`. */
export async function measureEditor(which = 'newest') {
  await build();
  const host = await ensureHost(which);
  const sources = [path.join(root, 'test', 'bench', 'editor-host.ts')];
  const [tests] = await bundleTests(sources, path.join(out, 'bench-host'), { format: 'cjs' });
  const own = runFolder('bench');
  const results = path.join(own, 'figures.json');
  try {
    const code = await runTests({
      vscodeExecutablePath: process.env.BUBBLELENS_VSCODE ?? host.executable,
      extensionDevelopmentPath: root,
      extensionTestsPath: path.resolve(tests),
      extensionTestsEnv: { BUBBLELENS_BENCH_RESULTS: results },
    });
    if (code !== 0) throw new ToolError('The measurement in VS Code failed.');
    return JSON.parse(readFileSync(results, 'utf8'));
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}
