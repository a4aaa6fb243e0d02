// The notices that travel with the package: bundled libraries keep their licences. Which
// ones are bundled is read from what esbuild took in, so the list cannot fall behind.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './paths.mjs';
import { ToolError } from './processes.mjs';

/** Writes the licences of every package among `inputs` (paths from the root) to `file`. */
export function writeNotices(inputs, file) {
  const folders = new Set();
  for (const input of inputs) {
    const found = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];
    if (found) folders.add(found);
  }
  const notices = [...folders].sort().map((folder) => notice(path.join(root, folder)));
  writeFileSync(file, ['Bubblelens contains the following software.\n', ...notices].join('\n'));
}

function notice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const licenceFile = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (!licenceFile && !license) throw new ToolError(`${name} is bundled, but states no licence.`);
  const text = licenceFile ? readFileSync(path.join(folder, licenceFile), 'utf8').trim() : '';
  const extra = path.join(folder, 'NOTICE');
  const more = existsSync(extra) ? `\n\n${readFileSync(extra, 'utf8').trim()}` : '';
  return `${'-'.repeat(72)}\n${name} ${version} (${license})\n\n${text}${more}\n`;
}
