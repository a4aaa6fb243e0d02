/** nanotron's split against its own placing loop, and what its engines refuse. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NANOTRON } from '../../src/frameworks/nanotron.ts';
import { nanotronSplit, nanotronVocabulary } from '../../src/frameworks/nanotron-split.ts';

/**
 * [pp, layers, cost of a layer, cost of the head, layers of each rank, rank of the head], from running the loop of
 * build_model (nanotron 2411b022, src/nanotron/models/base.py) over embedding, layers, norm, head, cast and loss.
 */
const PLACED = [
  [8, 28, 84410368, 262668288, [4, 4, 4, 4, 4, 4, 4, 0], 7],
  [4, 28, 84410368, 262668288, [8, 8, 8, 4], 3],
  [2, 32, 243269632, 525336576, [18, 14], 1],
  [8, 32, 243269632, 525336576, [5, 4, 4, 5, 4, 4, 4, 2], 7],
  [16, 80, 973078528, 1050673152, [6, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6, 3], 15],
  [10, 80, 973078528, 1050673152, [9, 8, 8, 8, 8, 8, 8, 8, 8, 7], 9],
  [8, 4, 4194304, 16384000, [1, 1, 1, 1, 0, 0, 0, 0], 4],
  [2, 12, 16777216, 32768000, [7, 5], 1],
  [4, 24, 67108864, 311427072, [8, 7, 7, 2], 3],
  [16, 126, 3690987520, 2101346304, [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7, 8, 8, 8, 7], 15],
  [7, 28, 113246208, 466747392, [5, 5, 4, 5, 4, 5, 0], 6],
  [3, 30, 3981312, 28311552, [13, 12, 5], 2],
  [5, 40, 317194240, 163840000, [9, 8, 8, 8, 7], 4],
  [3, 7, 129600, 100000, [3, 3, 1], 2],
  [2, 24, 1, 0, [13, 11], 1],
  [4, 48, 1, 0, [13, 12, 12, 11], 3],
  [3, 7, 1, 0, [3, 2, 2], 2],
  [8, 3, 1, 0, [1, 1, 1, 0, 0, 0, 0, 0], 4],
] as const;

test('places layers and the head as nanotron does', () => {
  for (const [pp, layers, layer, head, split, headRank] of PLACED) {
    const stages = nanotronSplit(pp, layers, { layer, head });
    assert.deepEqual(
      stages.map((stage) => stage.layers),
      split,
    );
    assert.equal(
      stages.findIndex((stage) => stage.head),
      headRank,
    );
    assert.deepEqual(
      stages.map((stage) => stage.embedding),
      split.map((_, rank) => rank === 0),
    );
  }
});

test('rounds the vocabulary up over the tensor-parallel ranks', () => {
  assert.equal(nanotronVocabulary(50257, 1, 1), 50257);
  assert.equal(nanotronVocabulary(50257, 128, 2), 50432);
  assert.equal(nanotronVocabulary(128256, 1, 8), 128256);
});

test('1f1b needs one microbatch fewer than ranks', () => {
  const request = { schedule: '1f1b', pp: 8, vpp: 1, groupSize: null } as const;
  assert.equal(NANOTRON.refuse({ ...request, microbatches: 7 }), null);
  assert.deepEqual(NANOTRON.refuse({ ...request, microbatches: 1 }), {
    code: 'microbatches-below-minimum',
    message:
      'Number of microbatches (1) must be at least PP_SIZE-1=7 when using the OneForwardOneBackwardPipelineEngine',
    about: ['microbatches', 'pp'],
  });
  assert.equal(NANOTRON.refuse({ ...request, schedule: 'gpipe', microbatches: 1 }), null);
  assert.equal(
    NANOTRON.refuse({ ...request, schedule: 'interleaved-1f1b', microbatches: 8 })?.code,
    'unknown-schedule',
  );
  assert.equal(NANOTRON.refuse({ ...request, pp: 1, schedule: 'none', microbatches: 1 }), null);
});
