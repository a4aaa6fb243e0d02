/**
 * The fixtures of the frameworks that feed Megatron-core from YAML: each folder is a root of its own, its documents are
 * the files that the reader claims, and companions are handed out as the reader asks for them.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reader, Reading, Texts } from '../../src/model/reading.ts';
import { accelerateReader } from '../../src/readers/accelerate.ts';
import { arealReader } from '../../src/readers/areal.ts';
import { flagscaleReader } from '../../src/readers/flagscale.ts';
import { llamaFactoryReader } from '../../src/readers/llama-factory.ts';
import { megatronBridgeReader } from '../../src/readers/megatron-bridge.ts';
import { megatronYamlCfg } from '../../src/readers/megatron-yaml-cfg.ts';
import { nemoReader } from '../../src/readers/nemo.ts';
import { nemoRlReader } from '../../src/readers/nemo-rl.ts';
import { neuronxReader } from '../../src/readers/neuronx.ts';
import { primusReader } from '../../src/readers/primus.ts';
import { rollReader } from '../../src/readers/roll.ts';

export const MCORE_READERS: readonly Reader[] = [
  nemoReader,
  nemoRlReader,
  megatronBridgeReader,
  megatronYamlCfg,
  flagscaleReader,
  primusReader,
  rollReader,
  llamaFactoryReader,
  arealReader,
  neuronxReader,
  accelerateReader,
];

export function folderOf(reader: Reader): string {
  return join(process.cwd(), 'test/fixtures', reader.id);
}

/** All files of a reader's root by their path, goldens left out. */
export function rootOf(reader: Reader): Texts {
  const folder = folderOf(reader);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.golden.txt'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return Object.fromEntries(
    files.map((file) => [file.slice(folder.length + 1).replaceAll('\\', '/'), readFileSync(file, 'utf8')]),
  );
}

/** The documents of a root. */
export function documentsOf(reader: Reader): readonly string[] {
  return Object.entries(rootOf(reader))
    .filter(([file, text]) => reader.claims(file, text))
    .map(([file]) => file);
}

export interface Gathered {
  readonly texts: Texts;
  readonly reading: Reading;
}

/** Reads a document, and again with every companion that it asks for and the root has. */
export function gathered(reader: Reader, file: string, root: Texts, text: string = root[file]!): Gathered {
  let texts: Texts = { [file]: text };
  for (;;) {
    const reading = reader.read(file, texts, {});
    const found = reading.needs.filter((need) => Object.hasOwn(root, need) && !Object.hasOwn(texts, need));
    if (found.length === 0) return { texts, reading };
    texts = { ...texts, ...Object.fromEntries(found.map((need) => [need, root[need]!])) };
  }
}
