/**
 * What people reported in public issue threads, numbered as in the collection that the project was planned with: the
 * right code at the right token, and where a thread has a right answer, that answer. Threads whose answer needs costs
 * are held here to read without a false error; threads of frameworks that nothing reads are restated in the native
 * format. The configs are our own, with the numbers of the thread.
 */

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { analyse } from '../../src/analysis.ts';
import type { PlanAnalysis } from '../../src/model/analysis.ts';
import type { FindingCode } from '../../src/model/finding-codes.ts';
import type { Plan } from '../../src/model/plan.ts';
import { DEFAULT_ANALYSIS_SETTINGS } from '../../src/model/settings.ts';
import { loadParsers } from '../../src/readers/parsers.ts';
import { fixtureTexts } from './front-ends.ts';

before(() => loadParsers(['yaml', 'jsonc', 'toml', 'python']));

/** Each class of diagnosis that the threads were sorted into, and the codes that it has here; none: nothing refuses. */
const CODES_OF_CLASS = {
  'E-LAYERS-PP': ['layers-not-divisible'],
  'E-LAYERS-DROPPED': ['layers-not-divisible', 'split-invalid'],
  'E-M-LT-PP': ['group-size-out-of-range', 'microbatches-below-minimum'],
  'E-WORLD-EP': ['expert-size-not-divisible'],
  'E-LAYOUT-VPP': ['layout-invalid'],
  'E-SPLIT-INSIDE': ['split-invalid'],
  'E-ZERO-PP': ['options-conflict'],
  // A warning in the collection; refused at launch since.
  'W-VPP-GROUP': ['group-size-out-of-range'],
  'W-SCHED-STAGES': ['schedule-not-legal'],
  'I-UNSUPPORTED': ['options-conflict'],
  // Answered by a value: what is derived, and what the split is.
  'W-DEFAULT-M': [],
  'W-GBS-DERIVED': [],
  'W-RAMPUP-BUBBLE': [],
  'I-UNEVEN-EXPLAIN': [],
  // Answered by costs.
  'W-ENDS-HEAVY': [],
  'W-MEM-UNEVEN': [],
  'I-TP-VS-PP': [],
  'I-NOT-BUBBLE': [],
} as const satisfies Readonly<Record<string, readonly FindingCode[]>>;

type IssueClass = keyof typeof CODES_OF_CLASS;

interface Answer {
  /** Layers per rank, chunks of a rank joined with `+`. */
  readonly split?: string;
  readonly pp?: number;
  readonly vpp?: number;
  readonly microbatches?: number;
  readonly groupSize?: number;
  readonly globalBatchSize?: number;
}

interface Config {
  /** Below `test/fixtures/`; the first folder is the root. */
  readonly file: string;
  readonly reader: string;
  /** The code, the characters that it stands on, and what it must say; absent where the framework accepts the config. */
  readonly refused?: readonly [code: FindingCode, token: string, says: RegExp];
  /** What the related places must say, each in one of them. */
  readonly related?: readonly string[];
  readonly answer?: Answer;
}

interface IssueCase {
  readonly row: number;
  readonly thread: string;
  readonly class: IssueClass;
  readonly configs: readonly Config[];
}

const ones = (ranks: number, chunks: number): string => Array(ranks).fill(Array(chunks).fill(1).join('+')).join('|');

const CASES: readonly IssueCase[] = [
  {
    row: 1,
    thread: 'modelscope/ms-swift#5737',
    class: 'E-LAYERS-PP',
    configs: [
      {
        file: 'ms-swift/layers-not-divisible.sh',
        reader: 'ms-swift',
        refused: ['layers-not-divisible', '4', /46 layers/],
      },
      { file: 'ms-swift/layers-ends-mended.sh', reader: 'ms-swift', answer: { split: '11|12|12|11' } },
    ],
  },
  {
    row: 2,
    thread: 'NVIDIA/Megatron-LM#468',
    class: 'E-LAYERS-DROPPED',
    configs: [
      {
        file: 'megatron-lm/refused-layers-per-virtual-stage.sh',
        reader: 'megatron-lm',
        refused: ['layers-not-divisible', '2', /older builds train 64 of 80 layers/],
      },
      {
        file: 'issue-cases/dropped-layers-mended.sh',
        reader: 'megatron-lm',
        answer: { vpp: 5, split: ones(16, 5) },
      },
    ],
  },
  {
    row: 3,
    thread: 'NVIDIA/Megatron-LM#381',
    class: 'E-LAYERS-PP',
    configs: [
      {
        file: 'issue-cases/seven-layers.sh',
        reader: 'megatron-lm',
        refused: ['layers-not-divisible', '2', /7 layers/],
      },
      { file: 'issue-cases/seven-layers-ends.sh', reader: 'megatron-lm', answer: { split: '3|4' } },
      { file: 'issue-cases/seven-layers-layout.sh', reader: 'megatron-lm', answer: { split: '3|4' } },
    ],
  },
  {
    row: 4,
    thread: 'NVIDIA/Megatron-LM#2718',
    class: 'E-LAYERS-DROPPED',
    configs: [
      {
        file: 'issue-cases/both-ends-of-two.sh',
        reader: 'megatron-lm',
        refused: [
          'split-invalid',
          '11',
          /24 middle layers remaining but 0 middle PP stages .* Older builds train without/,
        ],
      },
      { file: 'issue-cases/both-ends-of-two-mended.sh', reader: 'megatron-lm', answer: { split: '23|25' } },
    ],
  },
  {
    row: 5,
    thread: 'NVIDIA/Megatron-LM#1829',
    class: 'W-VPP-GROUP',
    configs: [
      {
        file: 'issue-cases/group-below-pipeline.sh',
        reader: 'megatron-lm',
        refused: ['group-size-out-of-range', '2', /\[PP=4, M=8\]/],
      },
      { file: 'issue-cases/group-unset.sh', reader: 'megatron-lm', answer: { groupSize: 4 } },
    ],
  },
  {
    row: 6,
    thread: 'NVIDIA-NeMo/Speech#14288',
    class: 'E-M-LT-PP',
    configs: [
      {
        file: 'nemo/too-few-microbatches.yaml',
        reader: 'nemo',
        refused: ['group-size-out-of-range', '24', /\[PP=6, M=3\]/],
      },
      { file: 'issue-cases/enough-microbatches.yaml', reader: 'nemo', answer: { microbatches: 6, groupSize: 6 } },
    ],
  },
  {
    row: 7,
    thread: 'NVIDIA-NeMo/Speech#14838',
    class: 'E-WORLD-EP',
    configs: [
      {
        file: 'nemo/experts-and-world.yaml',
        reader: 'nemo',
        refused: ['expert-size-not-divisible', '2', /world_size \(4\) .* size \(8\)/],
        // The other two factors, and the four GPUs.
        related: [
          'expert_tensor_parallel_size 2',
          'pipeline_model_parallel_size 2',
          'trainer.devices 2',
          'num_nodes 2',
        ],
      },
    ],
  },
  {
    row: 8,
    thread: 'NVIDIA-NeMo/Megatron-Bridge#1502',
    class: 'E-LAYOUT-VPP',
    configs: [
      {
        file: 'megatron-bridge/layout-conflict.yaml',
        reader: 'megatron-bridge',
        refused: ['layout-invalid', '1', /virtual_pipeline_model_parallel_size=1, detected_vpp_size=4/],
      },
      {
        file: 'issue-cases/layout-rewritten.yaml',
        reader: 'megatron-bridge',
        answer: { pp: 4, vpp: 1, split: '15|16|16|14' },
      },
    ],
  },
  {
    row: 9,
    thread: 'NVIDIA-NeMo/Megatron-Bridge#5884',
    class: 'E-LAYERS-PP',
    configs: [
      {
        file: 'megatron-bridge/uneven-vl.yaml',
        reader: 'megatron-bridge',
        refused: ['layers-not-divisible', '8', /60 layers/],
      },
      {
        file: 'megatron-bridge/uneven-vl-right.yaml',
        reader: 'megatron-bridge',
        answer: { vpp: 4, split: ['1+1+1+1', ...Array(7).fill('2+2+2+2')].join('|') },
      },
    ],
  },
  {
    row: 10,
    thread: 'radixark/miles#1102',
    class: 'I-UNEVEN-EXPLAIN',
    configs: [{ file: 'slime/dynamic.sh', reader: 'slime', answer: { split: '16|16|16|13' } }],
  },
  {
    row: 11,
    thread: 'pytorch/torchtitan#774',
    class: 'W-SCHED-STAGES',
    configs: [
      {
        file: 'issue-cases/zbv-one-stage-a-rank.toml',
        reader: 'torchtitan',
        refused: ['schedule-not-legal', '["layers.8", "layers.16", "layers.24"]', /2 stages per rank, got 1/],
      },
      { file: 'issue-cases/zbv.toml', reader: 'torchtitan', answer: { vpp: 2, split: '4+4|4+4|4+4|4+4' } },
    ],
  },
  {
    row: 12,
    thread: 'pytorch/torchtitan#781',
    class: 'W-DEFAULT-M',
    configs: [
      { file: 'issue-cases/default-microbatches.toml', reader: 'torchtitan', answer: { vpp: 2, microbatches: 8 } },
    ],
  },
  {
    row: 13,
    thread: 'pytorch/torchtitan#598',
    class: 'E-SPLIT-INSIDE',
    configs: [
      {
        file: 'issue-cases/point-inside-block.toml',
        reader: 'torchtitan',
        refused: ['split-invalid', 'layers.4.attn.qvw', /only before whole layers/],
      },
    ],
  },
  {
    row: 14,
    thread: 'pytorch/torchtitan#963',
    class: 'E-LAYERS-DROPPED',
    // The main trainer gives the remainder to a stage, so that nothing is refused.
    configs: [{ file: 'issue-cases/odd-layers.toml', reader: 'torchtitan', answer: { split: '14|13' } }],
  },
  {
    row: 15,
    thread: 'deepspeedai/DeepSpeed#1378',
    class: 'W-ENDS-HEAVY',
    configs: [
      { file: 'issue-cases/ends-share-embeddings.py', reader: 'deepspeed-python', answer: { split: '1|1|1|1' } },
    ],
  },
  {
    row: 16,
    thread: 'bigscience-workshop/Megatron-DeepSpeed#186',
    class: 'W-ENDS-HEAVY',
    configs: [
      { file: 'issue-cases/layers-only.sh', reader: 'megatron-deepspeed', answer: { split: '1|1|1|1' } },
      {
        file: 'megatron-deepspeed/weighed-embeddings.sh',
        reader: 'megatron-deepspeed',
        answer: { split: '5|6|6|6|6|6|6|6|6|6|6|5' },
      },
    ],
  },
  {
    row: 17,
    thread: 'deepspeedai/DeepSpeed#568',
    class: 'E-ZERO-PP',
    configs: [
      { file: 'deepspeed/zero/ds_config.json', reader: 'deepspeed', refused: ['options-conflict', '2', /ZeRO/] },
    ],
  },
  {
    row: 18,
    thread: 'deepspeedai/Megatron-DeepSpeed#474',
    class: 'E-ZERO-PP',
    configs: [
      {
        file: 'megatron-deepspeed/refused-zero-one-stage.sh',
        reader: 'megatron-deepspeed',
        refused: ['options-conflict', '3', /--no-pipeline-parallel/],
      },
      { file: 'issue-cases/without-pipeline-module.sh', reader: 'megatron-deepspeed', answer: { pp: 1 } },
    ],
  },
  {
    row: 19,
    thread: 'huggingface/nanotron#347',
    class: 'E-M-LT-PP',
    configs: [
      {
        file: 'nanotron/too-few-microbatches.yaml',
        reader: 'nanotron',
        refused: ['microbatches-below-minimum', '1', /at least PP_SIZE-1=7/],
      },
      { file: 'issue-cases/accumulation-7.yaml', reader: 'nanotron', answer: { microbatches: 7 } },
      { file: 'issue-cases/accumulation-32.yaml', reader: 'nanotron', answer: { microbatches: 32 } },
    ],
  },
  {
    row: 20,
    thread: 'NVIDIA-BioNeMo/bionemo-recipes#784',
    class: 'E-LAYERS-PP',
    configs: [{ file: 'nemo/odd-layers.yaml', reader: 'nemo', refused: ['layers-not-divisible', '2', /33 layers/] }],
  },
  {
    row: 21,
    thread: 'NVIDIA/Megatron-LM#258',
    class: 'I-TP-VS-PP',
    configs: [
      { file: 'issue-cases/pipeline-against-tensor.sh', reader: 'megatron-lm', answer: { pp: 8, microbatches: 256 } },
    ],
  },
  {
    row: 22,
    thread: 'bigscience-workshop/bigscience#70',
    class: 'W-RAMPUP-BUBBLE',
    configs: [
      { file: 'megatron-deepspeed/ramp-up.sh', reader: 'megatron-deepspeed', answer: { microbatches: 64 } },
      { file: 'issue-cases/ramp-start.pipeline.yaml', reader: 'native', answer: { microbatches: 1 } },
      { file: 'issue-cases/ramp-full.pipeline.yaml', reader: 'native', answer: { microbatches: 12 } },
    ],
  },
  {
    row: 23,
    thread: 'marin-community/marin#6532',
    class: 'I-NOT-BUBBLE',
    configs: [
      { file: 'issue-cases/tiny-microbatches-8.pipeline.yaml', reader: 'native', answer: { microbatches: 8 } },
      { file: 'issue-cases/tiny-microbatches-16.pipeline.yaml', reader: 'native', answer: { microbatches: 16 } },
    ],
  },
  {
    row: 24,
    thread: 'NVIDIA/Megatron-LM#1625',
    class: 'I-NOT-BUBBLE',
    configs: [{ file: 'issue-cases/launch-gaps.sh', reader: 'megatron-lm', answer: { pp: 2, split: '16|16' } }],
  },
  {
    row: 25,
    thread: 'Oneflow-Inc/libai#345',
    class: 'W-GBS-DERIVED',
    configs: [
      {
        file: 'issue-cases/batch-derived-1.pipeline.yaml',
        reader: 'native',
        answer: { microbatches: 1, globalBatchSize: 16 },
      },
      {
        file: 'issue-cases/batch-derived-2.pipeline.yaml',
        reader: 'native',
        answer: { microbatches: 1, globalBatchSize: 32 },
      },
    ],
  },
  {
    row: 26,
    thread: 'NVIDIA-NeMo/Megatron-Bridge#5077',
    class: 'W-MEM-UNEVEN',
    configs: [{ file: 'issue-cases/uneven-memory.yaml', reader: 'megatron-bridge', answer: { split: '1|2|2|3' } }],
  },
  {
    row: 27,
    thread: 'hiyouga/LlamaFactory#4735',
    class: 'I-UNSUPPORTED',
    configs: [
      {
        file: 'llama-factory/deepspeed.yaml',
        reader: 'llama-factory',
        refused: ['options-conflict', 'examples/deepspeed/ds_z2_config.json', /DeepSpeed/],
      },
    ],
  },
];

const VALUES = ['pp', 'vpp', 'microbatches', 'groupSize', 'globalBatchSize'] as const satisfies readonly (keyof Plan)[];

function answers(first: PlanAnalysis, { split, ...values }: Answer): void {
  const { plan, stageLayers } = first;
  for (const key of VALUES) if (values[key] !== undefined) assert.equal(plan[key].value, values[key], key);
  if (split !== undefined) assert.equal(stageLayers?.map((chunks) => chunks.join('+')).join('|'), split);
}

function holds({ file: path, reader, refused, related = [], answer }: Config): void {
  const [folder, ...rest] = path.split('/');
  const file = rest.join('/');
  const texts = fixtureTexts(folder!);
  const analysis = analyse({ file, texts, said: {}, settings: DEFAULT_ANALYSIS_SETTINGS });
  assert.equal(analysis.reader, reader);
  const [first] = analysis.plans;
  assert.ok(first !== undefined, 'no plan');
  const errors = [...analysis.problems, ...first.findings].filter(({ severity }) => severity === 'error');
  const told = errors.map(({ code, range }) => [
    code,
    texts[range.file]!.slice(range.offset, range.offset + range.length),
  ]);
  assert.deepEqual(told, refused === undefined ? [] : [refused.slice(0, 2)]);
  if (refused !== undefined) assert.match(errors[0]!.message, refused[2]);
  for (const said of related) {
    const messages = errors.flatMap((each) => each.related.map(({ message }) => message));
    assert.ok(
      messages.some((message) => message.includes(said)),
      `${said}: ${messages}`,
    );
  }
  if (answer !== undefined) answers(first, answer);
}

describe('cases from public issue threads', () => {
  it('every row of the collection is here once', () => {
    assert.deepEqual(
      CASES.map(({ row }) => row),
      Array.from({ length: 27 }, (_, i) => i + 1),
    );
  });

  it('every code belongs to the class of its row', () => {
    for (const { row, class: name, configs } of CASES) {
      const allowed: readonly FindingCode[] = CODES_OF_CLASS[name];
      for (const { refused } of configs) {
        if (refused !== undefined) assert.ok(allowed.includes(refused[0]), `row ${row}: ${refused[0]}`);
      }
    }
  });

  it('every class has a row, and every code of it is shown by one', () => {
    for (const [name, codes] of Object.entries(CODES_OF_CLASS)) {
      const rows = CASES.filter((each) => each.class === name);
      assert.ok(rows.length > 0, name);
      const shown = rows.flatMap(({ configs }) => configs.flatMap(({ refused }) => refused?.[0] ?? []));
      for (const code of codes) assert.ok(shown.includes(code), `${name}: ${code}`);
    }
  });

  for (const { row, thread, class: name, configs } of CASES) {
    for (const config of configs) {
      const is = config.refused?.[0] ?? 'accepted';
      it(`${row} ${thread} (${name}), ${config.file}: ${is}`, () => holds(config));
    }
  }

  it('the pipeline of row 22 fills as its batch grows', () => {
    const idle = ['ramp-start', 'ramp-full'].map((name) => {
      const file = `${name}.pipeline.yaml`;
      const texts = fixtureTexts('issue-cases');
      const [first] = analyse({ file, texts, said: {}, settings: DEFAULT_ANALYSIS_SETTINGS }).plans;
      return first!.report!.bubbleFraction;
    });
    // 11 / (M + 11) with 1 and with 12 microbatches.
    assert.ok(Math.abs(idle[0]! - 11 / 12) < 1e-9 && Math.abs(idle[1]! - 11 / 23) < 1e-9, idle.join(' '));
  });
});
