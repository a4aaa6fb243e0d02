/**
 * Model shapes by name, for configs that name a model and give no number: `Qwen/Qwen3-30B-A3B` has 48 layers. Every
 * row says where its figures were read. What torchtitan's table of flavors holds is shared with it. Used only where
 * the file itself is silent, and labelled so.
 */

import { type Flavor, modelFlavor } from './model-flavors.ts';

export interface KnownModel extends Flavor {
  /** As the registry calls it, for the reader of a hover: "Qwen3-30B-A3B". */
  readonly label: string;
  /** Where the figures were read. */
  readonly source: string;
}

type Shape = readonly [layers: number, hidden: number, heads: number, kvHeads: number, ffn: number, vocabulary: number];
/** Experts, those that a token visits, the width of one, and of the shared ones together. */
type Experts = readonly [count: number, topK: number, ffn: number, shared: number];
type Row = readonly [label: string, shape: Shape, experts?: Experts];

/** Read from the configs that the publishers ship (`config.json` of the model on huggingface.co). */
const PUBLISHED: readonly Row[] = [
  ['Llama-3.2-1B', [16, 2048, 32, 8, 8192, 128256]],
  ['Qwen1.5-MoE-A2.7B', [24, 2048, 16, 16, 5632, 151936], [60, 4, 1408, 5632]],
  ['Qwen2-0.5B', [24, 896, 14, 2, 4864, 151936]],
  ['Qwen2-1.5B', [28, 1536, 12, 2, 8960, 151936]],
  ['Qwen2-7B', [28, 3584, 28, 4, 18944, 152064]],
  ['Qwen2-57B-A14B', [28, 3584, 28, 4, 18944, 151936], [64, 8, 2560, 20480]],
  ['Qwen2-72B', [80, 8192, 64, 8, 29568, 152064]],
  ['Qwen2.5-14B', [48, 5120, 40, 8, 13824, 152064]],
  ['Qwen2.5-72B', [80, 8192, 64, 8, 29568, 152064]],
  ['Qwen3-Coder-480B-A35B', [62, 6144, 96, 8, 8192, 151936], [160, 8, 2560, 0]],
  ['Qwen3-Omni-30B-A3B', [48, 2048, 32, 4, 768, 152064], [128, 8, 768, 0]],
  ['Mistral-7B', [32, 4096, 32, 8, 14336, 32000]],
  ['Mistral-Nemo', [40, 5120, 32, 8, 14336, 131072]],
  ['Mistral-Large', [88, 12288, 96, 8, 28672, 32768]],
  ['Mixtral-8x7B', [32, 4096, 32, 8, 14336, 32000], [8, 2, 14336, 0]],
  ['Mixtral-8x22B', [56, 6144, 48, 8, 16384, 32000], [8, 2, 16384, 0]],
  ['Gemma-2B', [18, 2048, 8, 1, 16384, 256000]],
  ['Gemma-7B', [28, 3072, 16, 16, 24576, 256000]],
  ['Gemma-2-2B', [26, 2304, 8, 4, 9216, 256000]],
  ['Gemma-2-9B', [42, 3584, 16, 8, 14336, 256000]],
  ['Gemma-2-27B', [46, 4608, 32, 16, 36864, 256000]],
  ['Gemma-3-1B', [26, 1152, 4, 1, 6912, 262144]],
  ['Gemma-3-4B', [34, 2560, 8, 4, 10240, 262208]],
  ['Gemma-3-12B', [48, 3840, 16, 8, 15360, 262208]],
  ['Gemma-3-27B', [62, 5376, 32, 16, 21504, 262208]],
  ['DeepSeek-LLM-7B', [30, 4096, 32, 32, 11008, 102400]],
  ['DeepSeek-Coder-6.7B', [32, 4096, 32, 32, 11008, 32256]],
  ['DeepSeek-Coder-1.3B', [24, 2048, 16, 16, 5504, 32256]],
  ['Yi-6B', [32, 4096, 32, 4, 11008, 64000]],
  ['Yi-34B', [60, 7168, 56, 8, 20480, 64000]],
];

/** Read at THUDM/slime@624b824a scripts/models. */
const SLIME: readonly Row[] = [
  ['Llama-3.2-3B', [28, 3072, 24, 8, 8192, 128256]],
  ['Qwen2.5-0.5B', [24, 896, 14, 2, 4864, 151936]],
  ['Qwen2.5-1.5B', [28, 1536, 12, 2, 8960, 151936]],
  ['Qwen2.5-3B', [36, 2048, 16, 2, 11008, 151936]],
  ['Qwen2.5-7B', [28, 3584, 28, 4, 18944, 152064]],
  ['Qwen2.5-32B', [64, 5120, 40, 8, 27648, 152064]],
  ['Qwen3-Next-80B-A3B', [48, 2048, 16, 2, 5120, 151936], [512, 10, 512, 512]],
  ['Qwen3.5-0.8B', [24, 1024, 8, 2, 3584, 248320]],
  ['Qwen3.5-4B', [32, 2560, 16, 4, 9216, 248320]],
  ['Qwen3.5-9B', [32, 4096, 16, 4, 12288, 248320]],
  ['Qwen3.5-27B', [64, 5120, 24, 4, 17408, 248320]],
  ['Qwen3.5-35B-A3B', [40, 2048, 16, 2, 512, 248320], [256, 8, 512, 512]],
  ['GLM-4-9B', [40, 4096, 32, 2, 13696, 151552]],
  ['GLM-4.5', [92, 5120, 96, 8, 12288, 151552], [160, 8, 1536, 1536]],
  ['GLM-4.5-Air', [46, 4096, 96, 8, 10944, 151552], [128, 8, 1408, 1408]],
  ['Kimi-K2', [61, 7168, 64, 64, 18432, 163840], [384, 8, 2048, 2048]],
  ['Moonlight-16B-A3B', [27, 2048, 16, 16, 11264, 163840], [64, 6, 1408, 2816]],
  ['MiMo-7B', [36, 4096, 32, 8, 11008, 151680]],
  ['MiniMax-M2', [62, 3072, 48, 8, 1536, 200064], [256, 8, 1536, 0]],
];

/** Read at AMD-AGI/Primus@fd1eeabb primus/configs/models/megatron. */
const PRIMUS: readonly Row[] = [
  ['DeepSeek-V4-Flash', [43, 4096, 64, 1, 18432, 129280], [256, 6, 2048, 2048]],
  ['DeepSeek-V4-Pro', [61, 7168, 128, 1, 18432, 129280], [384, 6, 3072, 3072]],
];

/** Read at NVIDIA/NeMo@8cfedd7203 nemo/collections/llm/gpt/model/{nemotron,base}.py; none has a gated feed-forward. */
const NEMO: readonly Row[] = [
  ['Nemotron-3-4B', [32, 3072, 24, 8, 9216, 256000]],
  ['Nemotron-3-8B', [32, 4096, 32, 32, 16384, 256000]],
  ['Nemotron-3-22B', [40, 6144, 48, 48, 24576, 256000]],
  ['Nemotron-4-15B', [32, 6144, 48, 8, 24576, 256000]],
  ['Nemotron-4-340B', [96, 18432, 96, 8, 73728, 256000]],
  ['GPT-3-175B', [96, 12288, 96, 96, 49152, 50257]],
];

/** The same figures as a flavor of torchtitan's table. */
const FLAVORS: readonly (readonly [label: string, family: string, flavor: string])[] = [
  ['Llama-2-7B', 'llama2', '7b'],
  ['Llama-2-13B', 'llama2', '13b'],
  ['Llama-2-70B', 'llama2', '70b'],
  ['Llama-3-8B', 'llama3', '8b'],
  ['Llama-3-70B', 'llama3', '70b'],
  ['Llama-3.1-405B', 'llama3', '405b'],
  ['Llama-4-Scout', 'llama4', '17bx16e'],
  ['Llama-4-Maverick', 'llama4', '17bx128e'],
  ['DeepSeek-V2-Lite', 'deepseek_v3', '16b'],
  ['DeepSeek-V2', 'deepseek_v3', '236b'],
  ['DeepSeek-V3', 'deepseek_v3', '671b'],
  ['Qwen3-0.6B', 'qwen3', '0.6b'],
  ['Qwen3-1.7B', 'qwen3', '1.7b'],
  ['Qwen3-4B', 'qwen3', '4b'],
  ['Qwen3-8B', 'qwen3', '8b'],
  ['Qwen3-14B', 'qwen3', '14b'],
  ['Qwen3-32B', 'qwen3', '32b'],
  ['Qwen3-30B-A3B', 'qwen3', '30b-a3b'],
  ['Qwen3-235B-A22B', 'qwen3', '235b-a22b'],
  ['gpt-oss-20b', 'gpt_oss', '20b'],
  ['gpt-oss-120b', 'gpt_oss', '120b'],
];

/** Other names of the same shape: fine-tunes, and language models inside a model for pictures. */
const SAME: Readonly<Record<string, string>> = {
  'Llama-3.1-8B': 'Llama-3-8B',
  'Llama-3.1-70B': 'Llama-3-70B',
  'Llama-3.3-70B': 'Llama-3-70B',
  'Llama-4-Scout-17B-16E': 'Llama-4-Scout',
  'Llama-4-Maverick-17B-128E': 'Llama-4-Maverick',
  'Qwen2-VL-2B': 'Qwen2-1.5B',
  'Qwen2-VL-7B': 'Qwen2-7B',
  'Qwen2-VL-72B': 'Qwen2-72B',
  'Qwen2-Math-7B': 'Qwen2-7B',
  'Qwen2.5-Math-1.5B': 'Qwen2.5-1.5B',
  'Qwen2.5-Math-7B': 'Qwen2.5-7B',
  'Qwen2.5-Math-72B': 'Qwen2.5-72B',
  'Qwen2.5-Coder-7B': 'Qwen2.5-7B',
  'Qwen2.5-Coder-32B': 'Qwen2.5-32B',
  'Qwen2.5-VL-3B': 'Qwen2.5-3B',
  'Qwen2.5-VL-7B': 'Qwen2.5-7B',
  'Qwen2.5-VL-32B': 'Qwen2.5-32B',
  'Qwen2.5-VL-72B': 'Qwen2.5-72B',
  'QwQ-32B': 'Qwen2.5-32B',
  'Qwen3-VL-4B': 'Qwen3-4B',
  'Qwen3-VL-8B': 'Qwen3-8B',
  'Qwen3-VL-32B': 'Qwen3-32B',
  'Qwen3-VL-30B-A3B': 'Qwen3-30B-A3B',
  'Qwen3-VL-235B-A22B': 'Qwen3-235B-A22B',
  'Qwen3-Coder-30B-A3B': 'Qwen3-30B-A3B',
  'DeepSeek-R1': 'DeepSeek-V3',
  'DeepSeek-R1-Zero': 'DeepSeek-V3',
  'DeepSeek-V3.1': 'DeepSeek-V3',
  'DeepSeek-V3.1-Terminus': 'DeepSeek-V3',
  'DeepSeek-V2.5': 'DeepSeek-V2',
  'DeepSeek-R1-Distill-Qwen-1.5B': 'Qwen2.5-1.5B',
  'DeepSeek-R1-Distill-Qwen-7B': 'Qwen2.5-7B',
  'DeepSeek-R1-Distill-Qwen-14B': 'Qwen2.5-14B',
  'DeepSeek-R1-Distill-Qwen-32B': 'Qwen2.5-32B',
  'DeepSeek-R1-Distill-Llama-8B': 'Llama-3-8B',
  'DeepSeek-R1-Distill-Llama-70B': 'Llama-3-70B',
  'DeepSeek-R1-0528-Qwen3-8B': 'Qwen3-8B',
  'GLM-4.5V': 'GLM-4.5-Air',
  'GLM-4.5-355B-A32B': 'GLM-4.5',
  'GLM-4.5-106B-A12B': 'GLM-4.5-Air',
  'GLM-4.6': 'GLM-4.5',
  'Kimi-K2.5': 'Kimi-K2',
  'MiniMax-M2.5': 'MiniMax-M2',
  Moonlight: 'Moonlight-16B-A3B',
};

function known(source: string): (row: Row) => KnownModel {
  return ([label, [layers, hidden, heads, kvHeads, ffn, vocabulary], experts]) => ({
    label,
    source,
    layers,
    hidden,
    heads,
    kvHeads,
    ffn,
    vocabulary,
    experts:
      experts === undefined ? null : { count: experts[0], topK: experts[1], ffn: experts[2], shared: experts[3] },
  });
}

function fromFlavors(): readonly KnownModel[] {
  return FLAVORS.flatMap(([label, family, name]) => {
    const flavor = modelFlavor(family, name, false);
    const source = `pytorch/torchtitan@238fa9953 torchtitan/models/${family}`;
    return flavor === null ? [] : [{ ...flavor, label, source }];
  });
}

/** Endings that name a training stage, a number format or a date, and nothing of the shape. */
const ENDING =
  /[-_](?:instruct|chat|base|hf|it|pt|thinking|reasoning|preview|fp8|bf16|int[48]|awq|gptq|mcore|dynamic|latest|v0\.\d|\d{4})$/;

/** Letters, digits and dots of the last part of a name, without what says nothing of the shape. */
function keyOf(name: string): string {
  let key = name.slice(-200).replace(/\/+$/, '').split('/').at(-1)!.toLowerCase();
  key = key.replace(/\.ya?ml$/, '').replace(/^meta[-_]/, '');
  for (let before = ''; before !== key; ) {
    before = key;
    key = key.replace(ENDING, '');
  }
  return key.replace(/[-_ ]/g, '');
}

const MODELS: ReadonlyMap<string, KnownModel> = (() => {
  const rows = [
    ...PUBLISHED.map((row) => known(`config.json of ${row[0]} on huggingface.co`)(row)),
    ...SLIME.map(known('THUDM/slime@624b824a scripts/models')),
    ...PRIMUS.map(known('AMD-AGI/Primus@fd1eeabb primus/configs/models/megatron')),
    ...NEMO.map(known('NVIDIA/NeMo@8cfedd7203 nemo/collections/llm/gpt/model')),
    ...fromFlavors(),
  ];
  const models = new Map(rows.map((row) => [keyOf(row.label), row]));
  for (const [name, same] of Object.entries(SAME)) {
    const row = models.get(keyOf(same));
    if (row !== undefined) models.set(keyOf(name), { ...row, label: name });
  }
  return models;
})();

/** All rows, for the tests. */
export function knownModels(): readonly KnownModel[] {
  return [...MODELS.values()];
}

/**
 * The shape behind a model name: a Hugging Face id (`meta-llama/Llama-3.1-8B-Instruct`), the last folder of a path, or
 * a plain name. null where the registry does not hold it; nothing is guessed from a size in the name.
 */
export function modelByName(name: string): KnownModel | null {
  return MODELS.get(keyOf(name)) ?? null;
}
