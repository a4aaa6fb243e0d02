/**
 * The native format as one typed table: every key with its type, range, allowed spellings and meaning. The reader,
 * the completion and the JSON schema (`media/schema/pipeline.schema.json`, held against this table by a test) all
 * follow it. Keys are dotted; `[]` stands for any entry of a list.
 */

import type { CommunicationMode, ScheduleId } from '../../model/schedule.ts';

interface Described {
  readonly description: string;
}

export interface NumberKey extends Described {
  readonly type: 'integer' | 'number';
  readonly minimum: number;
  /** The minimum itself is not allowed. */
  readonly exclusive?: boolean;
  readonly maximum: number;
  readonly examples: readonly number[];
}

export interface BooleanKey extends Described {
  readonly type: 'boolean';
}

export interface TextKey extends Described {
  readonly type: 'text';
  readonly examples: readonly string[];
}

export interface ChoiceKey extends Described {
  readonly type: 'choice';
  /** The values, each with what it means. */
  readonly meanings: Readonly<Record<string, string>>;
  /** Further accepted spellings, each with the value that it means. Letter case, `-`, `_` and spaces do not matter. */
  readonly spellings: Readonly<Record<string, string>>;
}

export interface MapKey extends Described {
  readonly type: 'map';
}

export interface ListKey extends Described {
  readonly type: 'list';
}

export type KeyRow = NumberKey | BooleanKey | TextKey | ChoiceKey | MapKey | ListKey;

const SCHEDULE_MEANINGS: Readonly<Record<ScheduleId, string>> = {
  none: 'No pipeline: one rank.',
  gpipe: 'All forwards, then all backwards. Holds every microbatch.',
  '1f1b': 'One forward, one backward, after a warm-up. Holds at most as many microbatches as there are ranks.',
  'interleaved-1f1b': '1F1B over several stages on each rank: a shorter warm-up, more transfers, more memory.',
  'grouped-interleaved': 'Interleaved 1F1B in groups smaller than the pipeline: less memory, more idle time.',
  '1f1b-v': '1F1B over two stages on each rank that lie as a V.',
  'looped-bfs': 'All forwards stage by stage, then all backwards in reverse, over several stages on each rank.',
  'zb-h1': 'Zero bubble with the memory of 1F1B: the gradient of the weights fills the gaps.',
  'zb-h2': 'Zero bubble with about twice the memory of 1F1B.',
  'zb-1p': 'Zero bubble by search, within the memory of 1F1B.',
  'zb-2p': 'Zero bubble by search, within twice the memory of 1F1B.',
  'interleaved-zb': 'Interleaved 1F1B with the gradient of the weights put off.',
  zbv: 'Zero bubble over two stages on each rank that lie as a V, with the memory of 1F1B.',
  'v-half': 'V-shaped, with about half of the memory of 1F1B.',
  'v-min': 'V-shaped, with about a third of the memory of 1F1B.',
  dualpipe: 'Microbatches enter from both ends; every rank holds two stages, and the parameters twice.',
  dualpipev: 'DualPipe cut in half: V-shaped, without the second copy of the parameters.',
  circular: 'Stages go round the ranks several times, one microbatch behind the other (MaxText).',
};

/** Names under which other tools know the schedules: torch, nanotron, PaddlePaddle, sail-sg/zero-bubble. */
const SCHEDULE_SPELLINGS: Readonly<Record<string, ScheduleId>> = {
  afab: 'gpipe',
  FThenB: 'gpipe',
  AllForwardAllBackward: 'gpipe',
  ScheduleGPipe: 'gpipe',
  Schedule1F1B: '1f1b',
  OneForwardOneBackward: '1f1b',
  'pipedream-flush': '1f1b',
  Interleaved1F1B: 'interleaved-1f1b',
  ScheduleInterleaved1F1B: 'interleaved-1f1b',
  interleaved: 'interleaved-1f1b',
  'interleaved-pp': 'interleaved-1f1b',
  VPP: 'interleaved-1f1b',
  'breadth-first': 'looped-bfs',
  LoopedBFS: 'looped-bfs',
  ScheduleLoopedBFS: 'looped-bfs',
  InterleavedZeroBubble: 'interleaved-zb',
  ScheduleInterleavedZeroBubble: 'interleaved-zb',
  'zero-bubble-h1': 'zb-h1',
  'zero-bubble-h2': 'zb-h2',
  'zero-bubble-v': 'zbv',
  ZBVPP: 'zbv',
  ZBVZeroBubble: 'zbv',
  ScheduleZBVZeroBubble: 'zbv',
  ScheduleDualPipeV: 'dualpipev',
};

const count = (description: string, maximum: number, ...examples: readonly number[]): NumberKey => ({
  type: 'integer',
  minimum: 1,
  maximum,
  description,
  examples,
});

const amount = (description: string, minimum: number, maximum: number, ...examples: readonly number[]): NumberKey => ({
  type: 'number',
  minimum,
  maximum,
  description,
  examples,
});

const above = (description: string, maximum: number, ...examples: readonly number[]): NumberKey => ({
  ...amount(description, 0, maximum, ...examples),
  exclusive: true,
});

const choice = (
  description: string,
  meanings: Readonly<Record<string, string>>,
  spellings: Readonly<Record<string, string>> = {},
): ChoiceKey => ({ type: 'choice', description, meanings, spellings });

const text = (description: string, ...examples: readonly string[]): TextKey => ({
  type: 'text',
  description,
  examples,
});
const flag = (description: string): BooleanKey => ({ type: 'boolean', description });
const map = (description: string): MapKey => ({ type: 'map', description });
const list = (description: string): ListKey => ({ type: 'list', description });

const COMMUNICATION_MEANINGS: Readonly<Record<CommunicationMode, string>> = {
  async: 'A send never blocks the sender.',
  blocking: 'Megatron-LM without overlap: sends and receives are calls in which both ranks meet.',
  overlap: 'Megatron-LM with overlapped transfers while forwards and backwards alternate.',
  'overlap-flush': 'Megatron-LM with overlapped transfers in warm-up and cool-down too.',
  sequential: 'DeepSpeed: a rank computes or transfers, one at a time.',
  'one-stream': 'torch: the transfers of a rank run one after the other, in the order of its list.',
};

const HOUR_MS = 3_600_000;

export const NATIVE_KEYS = {
  bubblelens: { type: 'integer', minimum: 1, maximum: 1, description: 'Version of this format: 1.', examples: [1] },
  name: text('What to call the plan.', 'my run'),

  pipeline: map('The pipeline: its size and its schedule.'),
  'pipeline.size': count(
    'Pipeline parallel size: the number of pipeline ranks. The only key that is required.',
    4096,
    8,
  ),
  'pipeline.schedule': choice(
    'The order in which every rank runs its microbatches.',
    SCHEDULE_MEANINGS,
    SCHEDULE_SPELLINGS,
  ),
  'pipeline.virtualStages': count('Stages (model chunks) that one rank holds.', 1024, 2),
  'pipeline.microbatches': count('Microbatches per optimizer step and data-parallel replica.', 1_000_000_000, 32),
  'pipeline.groupSize': count(
    'Microbatches that a rank runs through one of its stages before it turns to the next; for interleaved schedules.',
    1_000_000_000,
    8,
  ),
  'pipeline.placement': choice('Which rank holds which stage; it follows from the schedule.', {
    loop: 'Stage s lies on rank s mod size.',
    v: 'The stages go down the ranks and back up.',
    bidirectional: 'Two copies of the model, one from each end.',
  }),
  'pipeline.communication': choice('How transfers behave.', COMMUNICATION_MEANINGS),

  parallel: map('The sizes of the other ways of parallelism.'),
  'parallel.tensor': count('Tensor parallel size.', 65_536, 8),
  'parallel.data': count('Data parallel size: replicas of the pipeline.', 1_000_000, 4),
  'parallel.context': count('Context parallel size.', 65_536, 1),
  'parallel.expert': count('Expert parallel size.', 65_536, 1),
  'parallel.sequenceParallel': flag('Whether activations are sharded over the tensor-parallel group too.'),

  batch: map('The batch sizes, in samples.'),
  'batch.micro': count('Samples in one microbatch.', 1_000_000_000, 1),
  'batch.global': count('Samples in one optimizer step, over all replicas.', 1_000_000_000, 128),

  model: map('The shape of the model.'),
  'model.layers': count('Transformer layers of the whole model.', 1_000_000, 94),
  'model.hidden': count('Hidden size.', 10_000_000, 8192),
  'model.heads': count('Attention heads.', 1_000_000, 64),
  'model.kvHeads': count('Key and value heads (grouped-query attention).', 1_000_000, 8),
  'model.ffn': count('Width of the feed-forward layer.', 100_000_000, 28_672),
  'model.gated': flag('Whether the feed-forward layer is gated (SwiGLU): three matrices instead of two.'),
  'model.vocabulary': count('Size of the vocabulary: the weight of the output head.', 100_000_000, 128_256),
  'model.sequence': count('Tokens in one sample.', 1_000_000_000, 8192),
  'model.recompute': choice('Which activations are computed again in the backward pass.', {
    none: 'All activations are kept.',
    selective: 'The cheap and large ones (attention) are computed again.',
    full: 'Only the input of a layer is kept: the backward pass repeats the forward pass.',
  }),
  'model.dtype': choice(
    'Type of the activations.',
    {
      bf16: 'bfloat16, 2 bytes.',
      fp16: 'float16, 2 bytes.',
      fp32: 'float32, 4 bytes.',
      fp8: '8-bit floating point in the matrix products.',
    },
    { bfloat16: 'bf16', float16: 'fp16', half: 'fp16', float32: 'fp32', float: 'fp32' },
  ),
  'model.experts': map('The experts of a mixture-of-experts model.'),
  'model.experts.count': count('Experts in one layer.', 1_000_000, 128),
  'model.experts.topK': count('Experts that one token goes to.', 1_000_000, 8),
  'model.experts.ffn': count('Width of one expert.', 100_000_000, 1536),
  'model.experts.shared': {
    ...count('Experts that every token goes to.', 1_000_000, 1),
    minimum: 0,
  },

  cluster: map('The machines that it runs on.'),
  'cluster.gpus': count('All GPUs of the run.', 10_000_000, 256),
  'cluster.gpu': text('The GPU, as it is sold.', 'H100-SXM-80GB', 'A100-SXM-80GB', 'H200-SXM-141GB'),
  'cluster.gpusPerNode': count('GPUs in one machine.', 65_536, 8),
  'cluster.usdPerGpuHour': amount('What one GPU costs an hour, in US dollars.', 0, 1_000_000, 2.5),

  stages: list('One entry per stage, in the order of the model; times are per microbatch.'),
  'stages[].layers': {
    ...count('Transformer layers of the stage.', 1_000_000, 6),
    minimum: 0,
  },
  'stages[].forwardMs': amount('Time of one forward pass of the stage, in milliseconds.', 0, HOUR_MS, 10.4),
  'stages[].backwardMs': amount(
    'Time of one whole backward pass, in milliseconds, where its two parts are not known.',
    0,
    HOUR_MS,
    17.9,
  ),
  'stages[].backwardInputMs': amount('Time of the gradient of the input, in milliseconds.', 0, HOUR_MS, 10.2),
  'stages[].backwardWeightMs': amount('Time of the gradient of the weights, in milliseconds.', 0, HOUR_MS, 7.7),
  'stages[].activationBytes': amount('Bytes that one live microbatch of the stage holds on each GPU.', 0, 1e15, 1.2e9),

  transfer: map('The transfer of one microbatch between neighbouring ranks.'),
  'transfer.ms': amount('Time of one transfer, in milliseconds.', 0, HOUR_MS, 0.4),
  'transfer.bytes': amount('Size of one transfer, in bytes; instead of `ms`.', 0, 1e15, 67_108_864),
  'transfer.latencyUs': amount('Latency of one transfer, in microseconds.', 0, HOUR_MS * 1000, 10),
  'transfer.gbPerSecond': above('Bandwidth of one link, in 10^9 bytes a second.', 1e9, 25),

  measured: map('What was measured on the real run.'),
  'measured.stepMs': above('Time of one optimizer step, in milliseconds.', 1000 * HOUR_MS, 812),

  run: map('How long the run takes.'),
  'run.steps': count('Optimizer steps of the whole run.', 1e12, 1_000_000),
  'run.tokens': above('Tokens of the whole run; instead of `steps`.', 1e18, 15e12),

  $schema: text('The schema that an editor should check a JSON file with; nothing else reads it.'),
} as const satisfies Readonly<Record<string, KeyRow>>;

export type NativeKey = keyof typeof NATIVE_KEYS;

/** Keys of the table that hold one value (no map, no list) and are not inside a list: those that can be said or set. */
export type ValueKey = {
  [K in NativeKey]: (typeof NATIVE_KEYS)[K] extends MapKey | ListKey
    ? never
    : K extends `stages[]${string}`
      ? never
      : K;
}[NativeKey];

/** The row of a key, widened to the union that the readers switch over. */
export function keyRow(key: NativeKey): KeyRow {
  return NATIVE_KEYS[key];
}

export function isNativeKey(key: string): key is NativeKey {
  return Object.hasOwn(NATIVE_KEYS, key);
}

/** The dotted key of a child: `''` is the root, and an entry of the list `stages` is `stages[]`. */
export function childKey(parent: string, name: string): string {
  return parent === '' ? name : `${parent}.${name}`;
}

/** Names of the keys directly inside a map; `''` is the root, `stages[]` an entry of the list. */
export function childNames(parent: string): readonly string[] {
  const prefix = parent === '' ? '' : `${parent}.`;
  return Object.keys(NATIVE_KEYS)
    .filter((key) => key.startsWith(prefix) && key.length > prefix.length)
    .map((key) => key.slice(prefix.length))
    .filter((name) => !name.includes('.') && !name.includes('[]'));
}

export function choiceValues(row: ChoiceKey): readonly string[] {
  return Object.keys(row.meanings);
}

/** The value of a choice that an accepted spelling means; null when it means none. */
export function canonicalChoice(row: ChoiceKey, written: string): string | null {
  const wanted = plainWord(written);
  const value = choiceValues(row).find((candidate) => plainWord(candidate) === wanted);
  if (value !== undefined) return value;
  const spelling = Object.keys(row.spellings).find((candidate) => plainWord(candidate) === wanted);
  return spelling === undefined ? null : row.spellings[spelling]!;
}

function plainWord(word: string): string {
  return word.toLowerCase().replace(/[-_\s]/g, '');
}

/** "a whole number from 1 to 4096", for messages and documentation. */
export function expectation(row: KeyRow): string {
  switch (row.type) {
    case 'integer':
      return row.minimum === row.maximum
        ? `the number ${row.minimum}`
        : `a whole number from ${row.minimum} to ${plainNumber(row.maximum)}`;
    case 'number':
      return `a number ${row.exclusive ? 'above' : 'from'} ${row.minimum} ${row.exclusive ? 'and up to' : 'to'} ${plainNumber(row.maximum)}`;
    case 'boolean':
      return 'true or false';
    case 'text':
      return 'a text';
    case 'choice':
      return `one of ${choiceValues(row).join(', ')}`;
    case 'map':
      return 'a map of keys';
    case 'list':
      return 'a list';
  }
}

function plainNumber(value: number): string {
  return value >= 1e6 ? value.toExponential().replace('e+', 'e') : String(value);
}
