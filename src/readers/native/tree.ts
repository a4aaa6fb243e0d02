/** The tree of a native file, by the front end that its name asks for. */

import { readJsonc } from '../jsonc/read.ts';
import type { Tree } from '../tree.ts';
import { readYaml } from '../yaml/read.ts';

export function isJson(file: string): boolean {
  return /\.jsonc?$/i.test(file);
}

export function nativeTree(file: string, text: string): Tree {
  return isJson(file) ? readJsonc(file, text) : readYaml(file, text);
}
