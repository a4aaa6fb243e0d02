/** The model registry: names as configs write them, shapes that are possible, and nothing guessed. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arealSplit } from '../../src/frameworks/areal-split.ts';
import { knownModels, modelByName } from '../../src/readers/model-registry.ts';

/** Layers of models whose numbers stand in public launch scripts. */
const LAYERS: Readonly<Record<string, number>> = {
  'meta-llama/Llama-2-7b-hf': 32,
  'meta-llama/Meta-Llama-3.1-8B': 32,
  'meta-llama/Llama-3.1-8B-Instruct': 32,
  'meta-llama/Llama-3.3-70B-Instruct': 80,
  'meta-llama/Llama-3.2-1B-Instruct': 16,
  'meta-llama/Llama-4-Scout-17B-16E-Instruct': 48,
  'llama3.1_405B.yaml': 126,
  'qwen2.5_72B': 80,
  'Qwen/Qwen2-VL-7B-Instruct': 28,
  'Qwen/Qwen2.5-VL-7B-Instruct': 28,
  'Qwen/Qwen3-4B': 36,
  'Qwen/Qwen3-30B-A3B-Instruct-2507': 48,
  'Qwen/Qwen3-235B-A22B-Instruct-2507-FP8': 94,
  'deepseek-ai/DeepSeek-V3-0324-BF16': 61,
  'deepseek-ai/DeepSeek-R1': 61,
  'deepseek-ai/DeepSeek-V2': 60,
  'moonshotai/Moonlight-16B-A3B-Instruct': 27,
  'moonshotai/Kimi-K2-Instruct': 61,
  'zai-org/GLM-4.5': 92,
  'zai-org/GLM-4.5-Air': 46,
  'mistralai/Mixtral-8x7B-v0.1': 32,
  'mistralai/Mixtral-8x22B-Instruct-v0.1': 56,
  'openai/gpt-oss-20b': 24,
  'google/gemma-2b-it': 18,
  'google/gemma-2-2b-it': 26,
  'google/gemma-3-27b-it': 62,
  '/ckpt/models/Qwen3-8B/': 36,
};

test('names find their model', () => {
  for (const [name, layers] of Object.entries(LAYERS)) assert.equal(modelByName(name)?.layers, layers, name);
});

test('a name that is not held is unknown, whatever size it says', () => {
  for (const name of ['Qwen/Qwen3-xxB', 'someone/llama-8b-merge', '', '/', 'x'.repeat(5000), '__proto__', 'toString'])
    assert.equal(modelByName(name), null, name.slice(0, 40));
});

test('every shape is possible and says where it was read', () => {
  const models = knownModels();
  assert.ok(models.length >= 100);
  for (const { label, source, layers, hidden, heads, kvHeads, ffn, vocabulary, experts } of models) {
    for (const size of [layers, hidden, heads, kvHeads, ffn, vocabulary])
      assert.ok(Number.isSafeInteger(size) && size > 0, label);
    assert.equal(heads % kvHeads, 0, label);
    assert.ok(source.includes('/') || source.includes('huggingface.co'), label);
    if (experts === null) continue;
    assert.ok(experts.topK <= experts.count && experts.ffn > 0 && experts.shared >= 0, label);
  }
});

/** [stages, layer weights, embedding, head, layers of each stage], from AReaL's own _compute_stage_layer_lengths. */
const AREAL_SPLITS: readonly (readonly [number, readonly number[], number, number, readonly number[]])[] = [
  [3, [3, 1, 5, 5, 5, 13, 5, 2, 1], 9, 0, [2, 3, 4]],
  [8, [8, 1, 13, 5, 3, 13, 2, 8, 1, 3, 1, 1, 1, 13, 8, 1, 5, 13, 2, 5, 13, 1, 8, 2, 5], 9, 2, [2, 2, 2, 7, 2, 3, 3, 4]],
  [5, [13, 2, 5, 3, 1, 5, 8, 13, 1, 2, 13, 13, 3, 1, 13, 3, 13, 13, 8, 5, 8, 13, 2], 4, 7, [6, 5, 4, 4, 4]],
  [
    9,
    [
      8, 5, 8, 1, 5, 2, 13, 5, 5, 13, 2, 3, 8, 13, 13, 13, 3, 1, 5, 13, 8, 1, 2, 8, 5, 3, 5, 13, 1, 5, 1, 3, 13, 8, 8,
      8, 5, 13,
    ],
    1,
    2,
    [5, 4, 4, 2, 4, 5, 6, 5, 3],
  ],
  [
    5,
    [1, 2, 8, 8, 2, 5, 8, 3, 8, 3, 5, 3, 13, 8, 8, 13, 1, 5, 13, 8, 2, 8, 8, 2, 5, 1, 5, 3, 8, 8, 2, 8, 5],
    9,
    7,
    [7, 7, 5, 8, 6],
  ],
  [7, [1, 8, 8, 8, 8, 3, 5, 8, 1, 2, 13, 2, 8, 8, 2, 1, 8, 3, 1, 13, 1, 1, 1, 5, 1, 3, 2], 4, 0, [3, 2, 5, 3, 4, 3, 7]],
  [
    4,
    [
      3, 3, 1, 2, 2, 3, 8, 2, 13, 3, 13, 13, 3, 5, 13, 3, 5, 5, 1, 1, 3, 5, 3, 5, 2, 3, 1, 3, 13, 8, 2, 8, 5, 1, 2, 1,
      5, 2, 1, 13,
    ],
    1,
    25,
    [11, 10, 11, 8],
  ],
  [
    8,
    [8, 2, 13, 13, 8, 5, 2, 8, 13, 1, 5, 13, 8, 3, 13, 13, 5, 1, 13, 3, 2, 2, 1, 3, 1, 1, 3, 3, 13, 2, 5, 8, 3],
    1,
    0,
    [3, 4, 4, 3, 2, 5, 8, 4],
  ],
  [
    2,
    [8, 2, 8, 5, 2, 13, 8, 8, 1, 5, 2, 3, 1, 2, 8, 13, 5, 8, 2, 5, 1, 13, 5, 3, 8, 5, 1, 3, 8, 5, 3, 1, 2, 2, 3, 8],
    1,
    7,
    [17, 19],
  ],
  [5, [3, 13, 1, 5, 8, 3, 13, 8, 5, 8, 2, 1, 13, 1, 1, 2, 2, 2, 8, 2, 3, 3, 8, 8, 3, 3, 3, 3], 0, 7, [5, 4, 6, 8, 5]],
  [9, [2, 8, 8, 1, 3, 1, 5, 1, 5, 2, 2, 3, 1, 8, 8, 5], 0, 2, [1, 1, 2, 3, 2, 3, 2, 1, 1]],
  [
    3,
    [3, 3, 3, 8, 8, 1, 5, 3, 1, 1, 3, 1, 8, 13, 1, 1, 5, 1, 1, 2, 2, 8, 5, 2, 1, 5, 2, 13, 2, 2, 13, 1, 5, 5, 8, 3, 8],
    4,
    25,
    [14, 17, 6],
  ],
  [3, [2, 13, 3, 1, 1, 1, 3, 13, 8, 3, 5, 5, 3, 5, 1, 1, 3, 8, 5, 1, 3], 1, 25, [8, 9, 4]],
  [6, [2, 8, 2, 3, 2, 2, 3, 1, 3, 1, 5, 1, 13, 8, 13, 3, 2, 5, 3, 1, 3, 2, 3], 20, 7, [0, 4, 8, 2, 4, 5]],
];

test('layers lie as AReaL lays them', () => {
  for (const [stages, layers, embedding, head, expected] of AREAL_SPLITS)
    assert.deepEqual(arealSplit(stages, { layers, embedding, head }), expected, `${stages} ${layers.join(',')}`);
});
