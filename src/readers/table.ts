/** The readers, one row each, in the order in which they may claim a file. */

import type { Reader } from '../model/reading.ts';
import { megatronLm } from './megatron-lm.ts';
import { megatronLmYaml } from './megatron-lm-yaml.ts';
import { nanotronReader } from './nanotron.ts';
import { nativeReader } from './native.ts';
import { torchtitanReader } from './torchtitan.ts';

export const READERS: readonly Reader[] = [nativeReader, megatronLm, megatronLmYaml, torchtitanReader, nanotronReader];
