/**
 * The models that NeMo 2 names by class (`Llama31Config405B`), by version (`nemotron4_340b`) or by recipe module
 * (`llama3_8b`), as names of the model registry. Classes as in NVIDIA/NeMo@8cfedd7203 nemo/collections/llm/gpt/model.
 */

const CLASSES: Readonly<Record<string, string>> = {
  Llama2Config7B: 'Llama-2-7B',
  Llama2Config13B: 'Llama-2-13B',
  Llama2Config70B: 'Llama-2-70B',
  Llama3Config8B: 'Llama-3-8B',
  Llama3Config70B: 'Llama-3-70B',
  Llama31Config8B: 'Llama-3.1-8B',
  Llama31Config70B: 'Llama-3.1-70B',
  Llama31Config405B: 'Llama-3.1-405B',
  Llama32Config1B: 'Llama-3.2-1B',
  Llama32Config3B: 'Llama-3.2-3B',
  Llama31Nemotron70BConfig: 'Llama-3.1-70B',
  Llama31NemotronNano8BConfig: 'Llama-3.1-8B',
  Llama4Experts16Config: 'Llama-4-Scout',
  Llama4Experts128Config: 'Llama-4-Maverick',
  DeepSeekV2Config: 'DeepSeek-V2',
  DeepSeekV2LiteConfig: 'DeepSeek-V2-Lite',
  DeepSeekV3Config: 'DeepSeek-V3',
  MistralConfig7B: 'Mistral-7B',
  MistralNeMoConfig12B: 'Mistral-Nemo',
  MixtralConfig8x7B: 'Mixtral-8x7B',
  MixtralConfig8x22B: 'Mixtral-8x22B',
  GemmaConfig2B: 'Gemma-2B',
  GemmaConfig7B: 'Gemma-7B',
  Gemma2Config2B: 'Gemma-2-2B',
  Gemma2Config9B: 'Gemma-2-9B',
  Gemma2Config27B: 'Gemma-2-27B',
  Gemma3Config1B: 'Gemma-3-1B',
  Gemma3Config4B: 'Gemma-3-4B',
  Gemma3Config12B: 'Gemma-3-12B',
  Gemma3Config27B: 'Gemma-3-27B',
  GPTOSSConfig20B: 'gpt-oss-20b',
  GPTOSSConfig120B: 'gpt-oss-120b',
  GPTConfig175B: 'GPT-3-175B',
  Nemotron3Config4B: 'Nemotron-3-4B',
  Nemotron3Config8B: 'Nemotron-3-8B',
  Nemotron3Config22B: 'Nemotron-3-22B',
  Nemotron4Config15B: 'Nemotron-4-15B',
  Nemotron4Config340B: 'Nemotron-4-340B',
  Qwen2Config500M: 'Qwen2-0.5B',
  Qwen2Config1P5B: 'Qwen2-1.5B',
  Qwen2Config7B: 'Qwen2-7B',
  Qwen2Config72B: 'Qwen2-72B',
  Qwen25Config500M: 'Qwen2.5-0.5B',
  Qwen25Config1P5B: 'Qwen2.5-1.5B',
  Qwen25Config3B: 'Qwen2.5-3B',
  Qwen25Config7B: 'Qwen2.5-7B',
  Qwen25Config14B: 'Qwen2.5-14B',
  Qwen25Config32B: 'Qwen2.5-32B',
  Qwen25Config72B: 'Qwen2.5-72B',
  Qwen3Config600M: 'Qwen3-0.6B',
  Qwen3Config1P7B: 'Qwen3-1.7B',
  Qwen3Config4B: 'Qwen3-4B',
  Qwen3Config8B: 'Qwen3-8B',
  Qwen3Config14B: 'Qwen3-14B',
  Qwen3Config32B: 'Qwen3-32B',
  Qwen3Config30B_A3B: 'Qwen3-30B-A3B',
  Qwen3Config235B_A22B: 'Qwen3-235B-A22B',
};

/** `llama31_405b`, `qwen25_7b`, `nemotron4_15b_16k`: family, size, and perhaps a sequence length. */
const VERSION = /^(?:llm\.)?([a-z]+)(\d*)_(\d+x\d+b|\d+p?\d*[bm](?:_a\d+b)?)(?:_\d+k)?$/;

const FAMILIES: Readonly<Record<string, string>> = {
  llama: 'Llama',
  nemotron: 'Nemotron',
  qwen: 'Qwen',
  gemma: 'Gemma',
  mistral: 'Mistral',
  mixtral: 'Mixtral',
};

/** The registry's name for a class; null for one that is none of a known model. */
export function nemoModelName(className: string): string | null {
  return Object.hasOwn(CLASSES, className) ? CLASSES[className]! : null;
}

/** The registry's name for a version or a recipe module of NeMo; null where none is known. */
export function nemoVersionName(version: string): string | null {
  if (/^deepseek_v3$/.test(version)) return 'DeepSeek-V3';
  if (/^gpt3_175b$/.test(version)) return 'GPT-3-175B';
  const found = VERSION.exec(version);
  if (found === null || !Object.hasOwn(FAMILIES, found[1]!)) return null;
  const size = found[3]!.toUpperCase().replace('X', 'x');
  return nemoModelName(`${FAMILIES[found[1]!]}${found[2]}Config${size}`);
}
