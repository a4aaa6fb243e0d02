/**
 * Cases from public issue threads of the frameworks that feed Megatron-core from YAML: what broke there gets the right
 * code at the right token, and what mended it reads as the answer says.
 */

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { analyse } from '../../src/analysis.ts';
import { DEFAULT_ANALYSIS_SETTINGS } from '../../src/model/settings.ts';
import { loadParsers } from '../../src/readers/parsers.ts';
import { gathered, MCORE_READERS, rootOf } from './mcore-fixtures.ts';

before(() => loadParsers(['yaml', 'jsonc']));

interface Case {
  readonly thread: string;
  readonly reader: string;
  readonly file: string;
  /** null: the framework accepts it. */
  readonly code: string | null;
  readonly token: string;
  readonly says: RegExp;
  readonly split?: string;
}

const CASES: readonly Case[] = [
  {
    thread: 'NVIDIA-NeMo/Speech#14288',
    reader: 'nemo',
    file: 'too-few-microbatches.yaml',
    code: 'group-size-out-of-range',
    token: '24',
    says: /\[PP=6, M=3\]/,
  },
  {
    thread: 'NVIDIA-NeMo/Speech#14838',
    reader: 'nemo',
    file: 'experts-and-world.yaml',
    code: 'expert-size-not-divisible',
    token: '2',
    says: /world_size \(4\) .* size \(8\)/,
  },
  {
    thread: 'NVIDIA-NeMo/Megatron-Bridge#1502',
    reader: 'megatron-bridge',
    file: 'layout-conflict.yaml',
    code: 'layout-invalid',
    token: '1',
    says: /virtual_pipeline_model_parallel_size=1, detected_vpp_size=4/,
  },
  {
    thread: 'NVIDIA-NeMo/Megatron-Bridge#5884',
    reader: 'megatron-bridge',
    file: 'uneven-vl.yaml',
    code: 'layers-not-divisible',
    token: '8',
    says: /60 layers, pipeline-model-parallel size 8/,
  },
  {
    thread: 'NVIDIA-NeMo/Megatron-Bridge#5884, mended',
    reader: 'megatron-bridge',
    file: 'uneven-vl-right.yaml',
    code: null,
    token: '',
    says: /./,
    // Valid for 4 virtual stages as well.
    split: '1|2|2|2|2|2|2|2|1|2|2|2|2|2|2|2|1|2|2|2|2|2|2|2|1|2|2|2|2|2|2|2',
  },
  {
    thread: 'NVIDIA-BioNeMo/bionemo-recipes#784',
    reader: 'nemo',
    file: 'odd-layers.yaml',
    code: 'layers-not-divisible',
    token: '2',
    says: /33 layers, pipeline-model-parallel size 2/,
  },
  {
    thread: 'hiyouga/LlamaFactory#4735',
    reader: 'llama-factory',
    file: 'deepspeed.yaml',
    code: 'options-conflict',
    token: 'examples/deepspeed/ds_z2_config.json',
    says: /DeepSpeed/,
  },
];

describe('issue threads', () => {
  for (const { thread, reader: id, file, code, token, says, split } of CASES) {
    it(`${thread}: ${code ?? 'accepted'}`, () => {
      const reader = MCORE_READERS.find((each) => each.id === id)!;
      const { texts } = gathered(reader, file, rootOf(reader));
      const [plan] = analyse({ file, texts, said: {}, settings: DEFAULT_ANALYSIS_SETTINGS }).plans;
      const errors = plan!.findings.filter(({ severity }) => severity === 'error');
      if (split !== undefined) assert.equal(plan!.plan.stages.value?.map(({ layers }) => layers).join('|'), split);
      if (code === null) return assert.deepEqual(errors, []);
      const found = errors.find((each) => each.code === code);
      assert.ok(found !== undefined, JSON.stringify(errors));
      const { offset, length } = found.range;
      assert.equal(texts[found.range.file]!.slice(offset, offset + length), token);
      assert.match(found.message, says);
    });
  }
});
