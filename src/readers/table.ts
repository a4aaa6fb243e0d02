/** The readers, one row each, in the order in which they may claim a file. */

import type { Reader } from '../model/reading.ts';
import { megatronLm } from './megatron-lm.ts';
import { nativeReader } from './native.ts';

export const READERS: readonly Reader[] = [nativeReader, megatronLm];
