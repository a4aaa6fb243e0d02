/** The readers, one row each, in the order in which they may claim a file. */

import type { Reader } from '../model/reading.ts';
import { accelerateReader } from './accelerate.ts';
import { arealReader } from './areal.ts';
import { colossalAi } from './colossal-ai.ts';
import { deepSpeed } from './deepspeed.ts';
import { deepSpeedPython } from './deepspeed-python.ts';
import { flagscaleReader } from './flagscale.ts';
import { gptNeox } from './gpt-neox.ts';
import { llamaFactoryReader } from './llama-factory.ts';
import { maxtext } from './maxtext.ts';
import { megatronBridgeReader } from './megatron-bridge.ts';
import { megatronBridgePython } from './megatron-bridge-python.ts';
import { megatronDeepSpeed } from './megatron-deepspeed.ts';
import { megatronLm } from './megatron-lm.ts';
import { megatronLmYaml } from './megatron-lm-yaml.ts';
import { megatronYamlCfg } from './megatron-yaml-cfg.ts';
import { mindformers } from './mindformers.ts';
import { mindspeedLlm } from './mindspeed-llm.ts';
import { mlperf } from './mlperf.ts';
import { msSwift } from './ms-swift.ts';
import { nanotronReader } from './nanotron.ts';
import { nativeReader } from './native.ts';
import { nemoReader } from './nemo.ts';
import { nemoRlReader } from './nemo-rl.ts';
import { nemo2 } from './nemo2.ts';
import { neuronxReader } from './neuronx.ts';
import { olmoCore } from './olmo-core.ts';
import { paddlenlp } from './paddlenlp.ts';
import { primusReader } from './primus.ts';
import { rollReader } from './roll.ts';
import { slime } from './slime.ts';
import { torchtitanReader } from './torchtitan.ts';
import { torchtitanPython } from './torchtitan-python.ts';
import { verl } from './verl.ts';

export const READERS: readonly Reader[] = [
  nativeReader,
  msSwift,
  slime,
  verl,
  mindspeedLlm,
  megatronDeepSpeed,
  mlperf,
  megatronLm,
  megatronLmYaml,
  gptNeox,
  deepSpeed,
  maxtext,
  mindformers,
  paddlenlp,
  torchtitanReader,
  torchtitanPython,
  nanotronReader,
  megatronYamlCfg,
  nemoReader,
  nemoRlReader,
  megatronBridgeReader,
  megatronBridgePython,
  nemo2,
  olmoCore,
  colossalAi,
  deepSpeedPython,
  flagscaleReader,
  primusReader,
  rollReader,
  llamaFactoryReader,
  arealReader,
  neuronxReader,
  accelerateReader,
];
