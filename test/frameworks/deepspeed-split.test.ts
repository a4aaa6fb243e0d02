/** DeepSpeed's balance against what DeepSpeed's own function gave for the same weights, and laws of the split. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { partitionBalanced, partitionUniform, pipelineModuleSplit } from '../../src/frameworks/deepspeed-split.ts';
import { neoxPipeLayers } from '../../src/frameworks/gpt-neox.ts';
import { megatronPipeLayers } from '../../src/frameworks/megatron-deepspeed.ts';
import { offsetSplit } from '../../src/frameworks/mindformers.ts';
import { dualPipeVStages, withoutNoops } from '../../src/frameworks/mindspeed-llm.ts';

interface Recorded {
  readonly cases: readonly {
    readonly weights: readonly number[];
    readonly parts: number;
    readonly bounds: readonly number[];
  }[];
}

const RECORDED = JSON.parse(
  readFileSync(join(process.cwd(), 'test/fixtures/partitions/deepspeed-balanced.json'), 'utf8'),
) as Recorded;

test('the bounds are those that DeepSpeed gives', () => {
  assert.ok(RECORDED.cases.length > 50);
  for (const { weights, parts, bounds } of RECORDED.cases) {
    assert.deepEqual(partitionBalanced(weights, parts), bounds, `${weights.join(' ')} over ${parts}`);
  }
});

test('uniform parts differ by one at most, the longer ones first', () => {
  assert.deepEqual(partitionUniform(10, 4), [0, 3, 6, 8, 10]);
  assert.deepEqual(partitionUniform(2, 4), [0, 1, 2, 2, 2]);
});

const shape = fc.tuple(fc.integer({ min: 1, max: 80 }), fc.integer({ min: 1, max: 16 }));

test('no split loses a layer, the embedding or the head', () => {
  fc.assert(
    fc.property(
      shape,
      fc.boolean(),
      fc.constantFrom('type:transformer', 'type:transformer|embedding', 'uniform'),
      ([layers, pp], untied, method) => {
        for (const list of [megatronPipeLayers({ layers, untied, cast: true }), neoxPipeLayers(layers, !untied)]) {
          const stages = pipelineModuleSplit(list, pp, method)!;
          assert.equal(stages.length, pp);
          assert.equal(
            stages.reduce((sum, stage) => sum + stage.layers, 0),
            layers,
          );
          assert.equal(stages.filter((stage) => stage.embedding).length, 1);
          assert.equal(stages.filter((stage) => stage.head).length, 1);
        }
      },
    ),
  );
});

test('weights that the config does not tell, and patterns beyond words, have no split', () => {
  const list = megatronPipeLayers({ layers: 8, untied: true, cast: true });
  for (const method of ['parameters', 'profile', 'type:trans.*', 'type:', 'type:(a+)+$', '']) {
    assert.equal(pipelineModuleSplit(list, 2, method), null, method);
  }
  assert.equal(partitionBalanced(new Array<number>(20_000).fill(1), 64), null);
});

test('MindFormers: offsets add up to the remainder, whatever their shape', () => {
  const layers = (split: ReturnType<typeof offsetSplit>) =>
    split.ok ? split.stages.map((stage) => stage.layers).join('|') : split.reason;
  assert.equal(layers(offsetSplit(64, 4, 1, [-1, -1, 1, 1])), '15|15|17|17');
  assert.equal(layers(offsetSplit(40, 4, 1, 0)), '10|10|10|10');
  assert.equal(
    layers(
      offsetSplit(10, 2, 2, [
        [1, 0],
        [0, 1],
      ]),
    ),
    '3|2|2|3',
  );
  assert.match(layers(offsetSplit(42, 4, 1, 0)), /^The sum of `offset` \(0\)/);
  assert.match(layers(offsetSplit(42, 4, 1, [2, 0, 0])), /^offset\.shape\[-1\]/);
  assert.match(layers(offsetSplit(42, 4, 2, [[2, 0, 0, 0]])), /^offset\.shape\[-2\]/);
  assert.match(layers(offsetSplit(8, 4, 1, [-3, 1, 1, 1])), /more than the 2 layers/);
});

test('MindSpeed-LLM: two chunks a rank, and layers that do nothing are left out where they stand', () => {
  const plain = dualPipeVStages(64, 8, 1);
  assert.equal(plain.length, 16);
  assert.deepEqual([plain[0]!.embedding, plain[15]!.head, plain[15]!.mtp], [true, true, 1]);
  const stages = withoutNoops(plain, new Set([0, 61, 62, 63]));
  assert.equal(stages.map((stage) => stage.layers).join(' '), '3 4 4 4 4 4 4 4 4 4 4 4 4 4 4 1');
});
