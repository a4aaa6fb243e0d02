/** The fixtures of the Python readers: one folder for each, its files read alone. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reader } from '../../src/model/reading.ts';
import { colossalAi } from '../../src/readers/colossal-ai.ts';
import { deepSpeedPython } from '../../src/readers/deepspeed-python.ts';
import { megatronBridgePython } from '../../src/readers/megatron-bridge-python.ts';
import { nemo2 } from '../../src/readers/nemo2.ts';
import { olmoCore } from '../../src/readers/olmo-core.ts';
import { torchtitanPython } from '../../src/readers/torchtitan-python.ts';

export const PYTHON_READERS: readonly Reader[] = [
  megatronBridgePython,
  nemo2,
  torchtitanPython,
  olmoCore,
  colossalAi,
  deepSpeedPython,
];

export function fixtureFolder(reader: Reader): string {
  return join(process.cwd(), 'test/fixtures', reader.id);
}

/** The files of a reader's folder by name. */
export function pythonFixtures(reader: Reader): Readonly<Record<string, string>> {
  const folder = fixtureFolder(reader);
  const names = readdirSync(folder).filter((name) => name.endsWith('.py'));
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}
