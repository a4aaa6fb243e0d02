/**
 * What each of Megatron-core's keys means to a pipeline, in one line, and the words of those that take only some.
 * Options that are refused for being old, and those of forks, are nothing to offer and have no line. Mirrors
 * NVIDIA/Megatron-LM@d98e8a64dd megatron/training/arguments.py and megatron/core/transformer/transformer_config.py.
 */

import type { MegatronKey } from './keys.ts';

/** Keys that a person would write today. */
export type OfferedKey = Exclude<MegatronKey, `old${string}` | `fork${string}`>;

export interface MegatronHelp {
  readonly about: string;
  /** The only words it takes, with what each means. */
  readonly words?: Readonly<Record<string, string>>;
}

export const MEGATRON_HELP: Readonly<Record<OfferedKey, MegatronHelp>> = {
  pp: { about: 'Pipeline ranks. Megatron takes 1 when it is absent.' },
  tp: { about: 'Tensor-parallel ranks that share every layer; the heads must divide over them. 1 when absent.' },
  cp: { about: 'Context-parallel ranks that share a sequence, which 2 x this size must divide. 1 when absent.' },
  ep: { about: 'Expert-parallel ranks; the number of experts must be a multiple of it. 1 when absent.' },
  etp: { about: 'Tensor-parallel ranks of an expert. The tensor-parallel size when absent.' },
  weightShards: { about: 'Shards of the weights over tensor-parallel ranks; a multiple of the tensor-parallel size.' },
  expertWeightShards: { about: "Shards of the experts' weights; a multiple of the expert tensor-parallel size." },
  layersPerVirtualStage: {
    about: 'Layers of one virtual stage: interleaves the schedule. Layers / pipeline size must be a multiple of it.',
  },
  virtualStages: {
    about: 'Virtual stages on each rank: interleaves the schedule. Takes the place of layers per virtual stage.',
  },
  layout: {
    about: 'What each stage holds, such as Et*4|(tt|)*6t*4L: E embedding, t a layer, m an MTP layer, L the loss.',
  },
  firstLayers: { about: 'Layers of the first pipeline rank; the others share what is left.' },
  lastLayers: { about: 'Layers of the last pipeline rank; the others share what is left.' },
  accountEmbedding: { about: 'The embedding counts as a layer when layers are split over stages.' },
  accountLoss: { about: 'The loss counts as a layer when layers are split over stages.' },
  groupSize: {
    about:
      'Microbatches that a virtual stage runs before the next one. At least the pipeline size, which it is when absent.',
  },
  noOverlapP2p: { about: 'Transfers do not overlap with work. With interleaving it needs more than 2 pipeline ranks.' },
  microBatch: { about: 'Samples of one microbatch on one data-parallel rank.' },
  globalBatch: { about: 'Samples of one step: micro batch x data-parallel size x microbatches.' },
  microbatches: { about: 'Microbatches of one step: more of them, less idle time.' },
  rampup: { about: 'Start, increment and samples of a batch that grows up to the global batch size.' },
  stepSchedule: { about: 'Global batch sizes by the samples from which they hold.' },
  decreaseBatch: { about: 'A global batch that the micro batches do not divide is made smaller, not refused.' },
  layers: { about: 'Transformer layers. They must divide over the stages, unless the split is given otherwise.' },
  encoderLayers: { about: 'Layers, by the name that encoder models give them.' },
  mtpLayers: { about: 'Multi-token-prediction layers, which the last stage holds.' },
  hybridPattern: { about: 'The kind of every layer of a hybrid model, with | between stages.' },
  hybridOverride: { about: 'The kind of every layer of a hybrid model, by the older name.' },
  hidden: { about: 'Width of the model.' },
  heads: { about: 'Attention heads, a multiple of the tensor-parallel size.' },
  groupQuery: { about: 'Groups of queries share keys and values.' },
  queryGroups: { about: 'Groups of queries: the heads of keys and values.' },
  ffn: { about: 'Width of the feed-forward layer. 4 x the hidden size when absent.' },
  swiglu: { about: 'A gated feed-forward layer.' },
  vocabulary: { about: 'Words of the vocabulary: what the last stage pays for the output layer.' },
  sequence: { about: 'Tokens of one sample.' },
  encoderSequence: { about: 'Tokens of one sample, by the name that encoder models give them.' },
  recomputeActivations: { about: 'The activations of attention are computed again in the backward.' },
  recomputeGranularity: {
    about: 'What is computed again in the backward, in exchange for memory.',
    words: {
      full: 'Whole layers: least memory, about a third more compute.',
      selective: 'The activations of attention: most of the memory for little compute.',
    },
  },
  bf16: { about: 'Trains in bfloat16.' },
  fp16: { about: 'Trains in float16.' },
  fp8: { about: 'Trains in 8-bit floats, in this format.' },
  fp4: { about: 'Trains in 4-bit floats, in this format.' },
  experts: { about: 'Experts of a mixture-of-experts layer.' },
  topK: { about: 'Experts of one token.' },
  moeFfn: { about: 'Width of one expert.' },
  sharedFfn: { about: 'Width of the shared experts together.' },
  overlapExperts: {
    about: 'Hides the exchange of tokens between experts behind the work of another microbatch. Needs virtual stages.',
  },
  torchFsdp2: { about: "Shards with torch's FSDP2, which excludes pipelines." },
  hybridContext: { about: 'Context parallelism by the length of each sample, which excludes pipelines.' },
  trainIters: { about: 'Steps of the run.' },
  trainSamples: { about: 'Samples of the run, in place of its steps.' },
  checkpointArgs: { about: 'Takes the shape of the model from the checkpoint.' },
  yamlConfig: { about: 'A YAML file that gives every argument; the others are ignored.' },
};

/** null for what is nothing to offer. */
export function megatronHelp(key: MegatronKey): MegatronHelp | null {
  return Object.hasOwn(MEGATRON_HELP, key) ? MEGATRON_HELP[key as OfferedKey] : null;
}
