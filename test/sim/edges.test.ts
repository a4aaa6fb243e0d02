/** Edges between stages by what their transfers cross. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { edgeKinds, edgeTransfers } from '../../src/sim/edges.ts';
import { pipelineReport } from '../../src/sim/simulate.ts';
import { costsOf, shapeOf } from './shapes.ts';

test('loops, Vs and bidirectional pipelines have the edges of their placement', () => {
  assert.deepEqual(edgeKinds('loop', 4, 8, 2), [
    'in-node',
    'cross-node',
    'in-node',
    'wrap-around',
    'in-node',
    'cross-node',
    'in-node',
  ]);
  assert.deepEqual(edgeKinds('v', 4, 8, 2), [
    'in-node',
    'cross-node',
    'in-node',
    'same-rank',
    'in-node',
    'cross-node',
    'in-node',
  ]);
  assert.deepEqual(edgeKinds('bidirectional', 4, 4, 2), ['in-node', 'cross-node', 'in-node']);
  assert.deepEqual(edgeKinds('loop', 1, 3, null), ['same-rank', 'same-rank']);
  assert.deepEqual(edgeKinds('loop', 3, 3, null), ['in-node', 'in-node']);
});

test('a wrap-around takes its own time, or that of the link that it is', () => {
  const times = { inNode: 1, crossNode: 5, wrapAround: null };
  assert.deepEqual(edgeTransfers('loop', 3, 6, 2, times), [1, 5, 5, 1, 5]);
  assert.deepEqual(edgeTransfers('loop', 3, 6, 4, times), [1, 1, 1, 1, 1]);
  assert.deepEqual(edgeTransfers('loop', 3, 6, 2, { ...times, wrapAround: 9 }), [1, 5, 9, 1, 5]);
  assert.deepEqual(edgeTransfers('v', 2, 4, 1, times), [5, 0, 5]);
});

test('both directions of a bidirectional pipeline cross the same links', () => {
  const shape = shapeOf('dualpipe', 4, 8, 2);
  const timed = (transfer: readonly number[]) => {
    const result = pipelineReport(shape, { ...costsOf(4, () => 1), transfer });
    assert.ok(result.ok);
    return result.report;
  };
  const left = timed([3, 0, 0]);
  const right = timed([0, 0, 3]);
  assert.equal(left.makespan, right.makespan);
  assert.deepEqual(
    left.ranks.map((rank) => rank.idleFraction),
    right.ranks.map((rank) => rank.idleFraction).toReversed(),
  );
});
