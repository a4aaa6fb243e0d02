/** The readers, one row each, in the order in which they may claim a file. */

import type { Reader } from '../model/reading.ts';
import { accelerateReader } from './accelerate.ts';
import { arealReader } from './areal.ts';
import { flagscaleReader } from './flagscale.ts';
import { llamaFactoryReader } from './llama-factory.ts';
import { megatronBridgeReader } from './megatron-bridge.ts';
import { megatronLm } from './megatron-lm.ts';
import { megatronLmYaml } from './megatron-lm-yaml.ts';
import { megatronYamlCfg } from './megatron-yaml-cfg.ts';
import { nanotronReader } from './nanotron.ts';
import { nativeReader } from './native.ts';
import { nemoReader } from './nemo.ts';
import { nemoRlReader } from './nemo-rl.ts';
import { neuronxReader } from './neuronx.ts';
import { primusReader } from './primus.ts';
import { rollReader } from './roll.ts';
import { torchtitanReader } from './torchtitan.ts';

export const READERS: readonly Reader[] = [
  nativeReader,
  megatronLm,
  megatronLmYaml,
  torchtitanReader,
  nanotronReader,
  megatronYamlCfg,
  nemoReader,
  nemoRlReader,
  megatronBridgeReader,
  flagscaleReader,
  primusReader,
  rollReader,
  llamaFactoryReader,
  arealReader,
  neuronxReader,
  accelerateReader,
];
