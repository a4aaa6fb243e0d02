/**
 * The model shapes behind torchtitan's flavors (`[model] name`, `flavor`). Figures are those of pytorch/torchtitan at
 * 238fa9953, torchtitan/models/{llama3,llama4,deepseek_v3,qwen3,gpt_oss}/__init__.py; llama2 and the eight-layer
 * debug model at f504a14a6, torchtitan/models/llama/__init__.py. The width of the feed-forward is computed from them
 * as the models do it (llama: int(2/3 of 4 x hidden), times the multiplier, rounded up to `multiple_of`).
 */

export interface FlavorExperts {
  readonly count: number;
  readonly topK: number;
  /** Width of one routed expert, and of the shared ones together. */
  readonly ffn: number;
  readonly shared: number;
}

export interface Flavor {
  readonly layers: number;
  readonly hidden: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly ffn: number;
  readonly vocabulary: number;
  readonly experts: FlavorExperts | null;
}

type Row = readonly [layers: number, hidden: number, heads: number, kvHeads: number, ffn: number];
type ExpertRow = readonly [count: number, topK: number, ffn: number, shared: number];

function flavor([layers, hidden, heads, kvHeads, ffn]: Row, vocabulary: number, experts?: ExpertRow): Flavor {
  if (experts === undefined) return { layers, hidden, heads, kvHeads, ffn, vocabulary, experts: null };
  const [count, topK, width, shared] = experts;
  return { layers, hidden, heads, kvHeads, ffn, vocabulary, experts: { count, topK, ffn: width, shared } };
}

const MODELS: Readonly<Record<string, Readonly<Record<string, Flavor>>>> = {
  llama2: {
    '7b': flavor([32, 4096, 32, 32, 11008], 32000),
    '13b': flavor([40, 5120, 40, 40, 13824], 32000),
    '26b': flavor([80, 5120, 40, 40, 13824], 32000),
    '70b': flavor([80, 8192, 64, 8, 28672], 32000),
  },
  llama3: {
    debugmodel: flavor([6, 256, 16, 16, 768], 2048),
    '8b': flavor([32, 4096, 32, 8, 14336], 128256),
    '70b': flavor([80, 8192, 64, 8, 28672], 128256),
    '405b': flavor([126, 16384, 128, 8, 53248], 128256),
  },
  llama4: {
    debugmodel: flavor([6, 256, 16, 16, 768], 2048, [8, 1, 512, 512]),
    '17bx16e': flavor([48, 5120, 40, 8, 16384], 202048, [16, 1, 8192, 8192]),
    '17bx128e': flavor([48, 5120, 40, 8, 16384], 202048, [128, 1, 8192, 8192]),
  },
  deepseek_v3: {
    debugmodel: flavor([6, 256, 16, 16, 1024], 2048, [8, 3, 256, 512]),
    '16b': flavor([27, 2048, 16, 16, 10944], 102400, [64, 6, 1408, 2816]),
    '236b': flavor([60, 5120, 128, 128, 12288], 102400, [160, 6, 1536, 3072]),
    '671b': flavor([61, 7168, 128, 128, 18432], 129280, [256, 8, 2048, 2048]),
  },
  qwen3: {
    debugmodel: flavor([8, 256, 16, 8, 3072], 2048),
    debugmodel_moe: flavor([8, 256, 16, 8, 3072], 2048, [64, 8, 768, 0]),
    '0.6b': flavor([28, 1024, 16, 8, 3072], 151936),
    '1.7b': flavor([28, 2048, 16, 8, 6144], 151936),
    '4b': flavor([36, 2560, 32, 8, 9728], 151936),
    '8b': flavor([36, 4096, 32, 8, 12288], 151936),
    '14b': flavor([40, 5120, 40, 8, 17408], 151936),
    '32b': flavor([64, 5120, 64, 8, 25600], 151936),
    '30b-a3b': flavor([48, 2048, 32, 4, 6144], 151936, [128, 8, 768, 0]),
    '235b-a22b': flavor([94, 4096, 64, 4, 12288], 151936, [128, 8, 1536, 0]),
  },
  gpt_oss: {
    debugmodel: flavor([4, 256, 64, 8, 2880], 201088, [8, 4, 2880, 0]),
    '20b': flavor([24, 2880, 64, 8, 2880], 201088, [32, 4, 2880, 0]),
    '120b': flavor([36, 2880, 64, 8, 2880], 201088, [128, 4, 2880, 0]),
  },
};

/** Until 2025-04 the debug model of llama3 had eight layers. */
const OLD_DEBUG_MODEL = flavor([8, 256, 16, 16, 768], 2048);

/** Endings that change the attention kernel and nothing that a plan needs. */
const ATTENTION_SUFFIX = /_(?:flex|varlen|flex_attn|varlen_attn|irope)$/;

/**
 * The shape of a flavor; null where the registry has none. Names of experiments that wrap a model
 * (`simple_fsdp.llama3`, `llama3_ft`) count as the model.
 */
export function modelFlavor(model: string, name: string, beforeApril2025: boolean): Flavor | null {
  const key = name.toLowerCase().replace(ATTENTION_SUFFIX, '');
  const family = Object.keys(MODELS).find(
    (each) => model === each || model.startsWith(`${each}_`) || model.endsWith(`.${each}`),
  );
  if (family === undefined) return null;
  if (family === 'llama3' && key === 'debugmodel' && beforeApril2025) return OLD_DEBUG_MODEL;
  const flavors = MODELS[family]!;
  return Object.hasOwn(flavors, key) ? flavors[key]! : null;
}
