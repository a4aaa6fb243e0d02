/** torchtitan's splits against what its own functions give, and what they refuse. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TORCHTITAN } from '../../src/frameworks/torchtitan.ts';
import { titanSplit, titanStagesPerRank } from '../../src/frameworks/torchtitan-split.ts';
import { SCHEDULE_IDS } from '../../src/model/schedule.ts';

/** [stages, layers, first less, last less, split], from running generate_llm_fqn_per_model_part (torchtitan b5bcd76c). */
const WEIGHTED = [
  [4, 32, 1, 1, [8, 9, 8, 7]],
  [8, 32, 1, 1, [4, 5, 4, 4, 4, 4, 4, 3]],
  [4, 30, 1, 1, [7, 8, 8, 7]],
  [8, 126, 1, 1, [15, 16, 16, 16, 16, 16, 16, 15]],
  [16, 126, 1, 1, [7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7]],
  [2, 6, 1, 1, [3, 3]],
  [4, 6, 1, 1, [1, 2, 2, 1]],
  [8, 6, 1, 1, [0, 1, 1, 1, 1, 1, 1, 0]],
  [4, 16, 2, 3, [4, 5, 5, 2]],
  [4, 16, 5, 1, [1, 6, 5, 4]],
  [8, 80, 1, 2, [10, 11, 11, 10, 10, 10, 10, 8]],
  [3, 10, 0, 0, [4, 3, 3]],
  [5, 12, 1, 1, [2, 3, 3, 3, 1]],
] as const;

/** [stages, layers, split], by the rule of generate_split_points (torchtitan d9898423e). */
const EVEN = [
  [4, 32, [8, 8, 8, 8]],
  [8, 126, [15, 16, 16, 16, 16, 16, 16, 15]],
  [3, 80, [26, 27, 27]],
  [4, 11, [2, 3, 3, 3]],
  [4, 10, [2, 3, 3, 2]],
  [2, 7, [3, 4]],
  [8, 30, [3, 4, 4, 4, 4, 4, 4, 3]],
  [5, 9, [1, 2, 2, 2, 2]],
  [6, 6, [1, 1, 1, 1, 1, 1]],
] as const;

test('splits with weighted ends as torchtitan does', () => {
  for (const [stages, layers, first, last, split] of WEIGHTED) {
    assert.deepEqual(titanSplit('weighted', stages, layers, first, last), split);
  }
  assert.deepEqual(titanSplit('weighted', 1, 6, 1, 1), [6]);
});

test('until 2025-07 the same rule held with both ends at one layer', () => {
  for (const [stages, layers, first, last, split] of WEIGHTED.filter((row) => row[2] === 1 && row[3] === 1)) {
    assert.deepEqual(titanSplit('rigid', stages, layers, first, last), split);
  }
});

test('splits evenly, the middle stages first, as torchtitan did until 2025-04', () => {
  for (const [stages, layers, split] of EVEN) assert.deepEqual(titanSplit('even', stages, layers, 1, 1), split);
});

test('every split holds every layer', () => {
  for (const rule of ['even', 'rigid', 'weighted'] as const) {
    for (let stages = 1; stages <= 24; stages++) {
      for (let layers = 1; layers <= 60; layers++) {
        const split = titanSplit(rule, stages, layers, 1, 1);
        if ('code' in split) continue;
        assert.equal(split.length, stages);
        assert.equal(
          split.reduce((sum, n) => sum + n, 0),
          layers,
        );
        assert.ok(split.every((n) => n >= 0));
      }
    }
  }
});

test('refuses more stages than layers and ends that weigh more than a stage', () => {
  const message = (...args: Parameters<typeof titanSplit>) => {
    const split = titanSplit(...args);
    return 'code' in split ? split.message : null;
  };
  assert.equal(message('weighted', 9, 6, 1, 1), 'Number of stages (9) cannot be greater than effective layers (8)');
  assert.equal(message('even', 7, 6, 1, 1), 'Total stages cannot be greater than the number of layers (7 > 6)');
  assert.equal(message('weighted', 4, 8, 4, 1), 'input_weight (4) exceeds minimum layers per stage (3).');
  assert.equal(message('weighted', 4, 8, 1, 4), 'output_weight (4) exceeds minimum layers per stage (3).');
});

test('counts stages per rank from layers per stage, rounding up since 2025-07', () => {
  const base = { rule: 'weighted', pp: 8, layers: 126, firstLess: 1, lastLess: 1, singleStage: false } as const;
  assert.equal(titanStagesPerRank({ ...base, layersPerStage: 4 }), 4);
  assert.equal(titanStagesPerRank({ ...base, layersPerStage: 8 }), 2);
  assert.equal(titanStagesPerRank({ ...base, layersPerStage: 16, singleStage: true }), 1);
  assert.equal(titanStagesPerRank({ ...base, layers: 80, layersPerStage: 11, singleStage: true }), 1);
  const code = (request: Parameters<typeof titanStagesPerRank>[0]) => {
    const result = titanStagesPerRank(request);
    return typeof result === 'number' ? null : result.code;
  };
  assert.equal(code({ ...base, layersPerStage: 5 }), 'layers-not-divisible');
  assert.equal(code({ ...base, layersPerStage: 16 }), 'schedule-not-legal');
  assert.equal(code({ ...base, layersPerStage: 8, singleStage: true }), 'schedule-not-legal');
  assert.equal(
    code({ ...base, rule: 'rigid', layers: 80, layersPerStage: 11, singleStage: true }),
    'layers-not-divisible',
  );
});

test('refuses what torch refuses, and nothing without a pipeline', () => {
  const sizes = { pp: 4, vpp: 1, microbatches: 2, groupSize: null };
  assert.match(TORCHTITAN.refuse({ ...sizes, schedule: '1f1b' })?.message ?? '', /microbatches \(2\).*stages \(4\)/);
  assert.equal(TORCHTITAN.refuse({ pp: 1, vpp: 1, microbatches: 1, groupSize: null, schedule: 'none' }), null);
  assert.equal(TORCHTITAN.refuse({ ...sizes, microbatches: 8, schedule: '1f1b' }), null);
  assert.ok(TORCHTITAN.schedules.every((id) => SCHEDULE_IDS.includes(id)));
});
