/** A plan of which nothing is known, for tests that fill in what they need. */

import type { Plan } from '../../src/model/plan.ts';
import { type TextRange, unknown } from '../../src/model/source.ts';

export const RANGE: TextRange = { file: 'test.pipeline.yaml', offset: 0, length: 1 };

export function emptyPlan(): Plan {
  const nothing = unknown('nothing was said');
  return {
    id: 'main',
    name: 'test',
    framework: null,
    anchor: RANGE,
    pp: nothing,
    vpp: nothing,
    tp: nothing,
    cp: nothing,
    ep: nothing,
    dp: nothing,
    gpus: nothing,
    schedule: nothing,
    groupSize: nothing,
    microbatches: nothing,
    microBatchSize: nothing,
    globalBatchSize: nothing,
    sequenceLength: nothing,
    communication: nothing,
    stages: nothing,
    model: {
      layers: nothing,
      hidden: nothing,
      heads: nothing,
      kvHeads: nothing,
      ffn: nothing,
      gated: nothing,
      vocabulary: nothing,
      recompute: nothing,
      dtype: nothing,
      experts: null,
    },
    cluster: { gpu: nothing, gpusPerNode: nothing, usdPerGpuHour: nothing },
    run: { steps: nothing, tokens: nothing },
    stageTimes: nothing,
    transferMs: nothing,
    measuredStepMs: nothing,
    findings: [],
  };
}
