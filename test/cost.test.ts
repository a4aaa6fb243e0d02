/** Costs and money: the definitions, with figures that a person can check by hand. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modelWork } from '../src/cost/layer-work.ts';
import { measuredProblem, withMeasuredCosts } from '../src/cost/measured.ts';
import { reportWithMoney, runSteps } from '../src/cost/money.ts';
import { stageCosts } from '../src/cost/stage-costs.ts';
import type { PipelineReport } from '../src/model/report.ts';
import { DEFAULT_ANALYSIS_SETTINGS } from '../src/model/settings.ts';
import { assumed, fromText } from '../src/model/source.ts';
import { emptyPlan, RANGE } from './support/plan.ts';

const LLAMA_405B = {
  ...emptyPlan().model,
  hidden: assumed(16384, 'test'),
  heads: assumed(128, 'test'),
  kvHeads: assumed(8, 'test'),
  ffn: assumed(53248, 'test'),
  gated: assumed(true, 'test'),
  vocabulary: assumed(128256, 'test'),
};

test('the head of Llama 3 405B counts as two thirds of a layer', () => {
  const work = modelWork(LLAMA_405B, null);
  assert.equal(work.head?.forward.toFixed(2), '0.66');
  assert.equal(work.layer.backwardWeight, 1);
});

test('attention scores have no weights: W is smaller than F, I larger', () => {
  const { layer } = modelWork(LLAMA_405B, 131072);
  assert.ok(layer.backwardWeight < layer.forward && layer.forward < layer.backwardInput);
  assert.ok(Math.abs(layer.backwardInput + layer.backwardWeight - 2 * layer.forward) < 1e-12);
});

test('a token passes its routed experts and the shared ones', () => {
  const experts = {
    count: assumed(64, 'test'),
    topK: assumed(6, 'test'),
    ffn: assumed(1408, 'test'),
    shared: assumed(2, 'test'),
  };
  const dense = { ...LLAMA_405B, ffn: assumed(8 * 1408, 'test') };
  assert.equal(modelWork({ ...LLAMA_405B, experts }, null).head?.forward, modelWork(dense, null).head?.forward);
});

test('an unknown shape leaves the head out and says so', () => {
  const work = modelWork(emptyPlan().model, 4096);
  assert.equal(work.head, null);
  assert.match(work.how, /head's share is not known/);
});

test('relative costs follow the split and the head; full recompute adds a forward to each backward', () => {
  const stages = [
    { layers: 4, embedding: true, head: false, mtp: 0 },
    { layers: 3, embedding: false, head: true, mtp: 0 },
  ];
  const plan = {
    ...emptyPlan(),
    pp: assumed(2, 'test'),
    vpp: assumed(1, 'test'),
    stages: assumed(stages, 'test'),
    model: { ...LLAMA_405B, recompute: assumed('full' as const, 'test') },
  };
  const costs = stageCosts(plan);
  assert.equal(costs?.badge, 'relative');
  assert.deepEqual(
    costs?.forward.map((time) => time.toFixed(2)),
    ['4.00', '3.66'],
  );
  assert.deepEqual(
    costs?.backwardInput.map((time) => time.toFixed(2)),
    ['8.00', '6.66'],
  );
});

test('a split that is not known is assumed equal, and said', () => {
  const costs = stageCosts({ ...emptyPlan(), pp: assumed(4, 'test'), vpp: assumed(2, 'test') });
  assert.deepEqual(costs?.forward, new Array(8).fill(1));
  assert.match(costs?.how ?? '', /equal stages assumed/);
});

const REPORT: PipelineReport = {
  makespan: 800,
  bubbleFraction: 0.2,
  bubbleOverIdeal: 0.25,
  spanBubbleFraction: 0.2,
  waterfall: { schedule: 0.2, imbalance: 0, communication: 0 },
  ranks: [],
};

function explicitPlan() {
  const plan = {
    ...emptyPlan(),
    pp: assumed(1, 'test'),
    vpp: assumed(1, 'test'),
    gpus: assumed(100, 'test'),
    stageTimes: fromText(
      [{ forwardMs: 1, backwardInputMs: 1, backwardWeightMs: 1, activationBytes: null, range: RANGE }],
      RANGE,
    ),
  };
  return { plan, costs: stageCosts(plan)! };
}

test('money: a cluster of $10,000 a day that idles 20 % loses $2,000 a day', () => {
  const { plan, costs } = explicitPlan();
  const settings = { ...DEFAULT_ANALYSIS_SETTINGS, usdPerGpuHour: 10_000 / 24 / 100 };
  const report = reportWithMoney(plan, costs, REPORT, settings);
  assert.ok(Math.abs(report.usdPerDayLost! - 2000) < 1e-9);
});

test('10 ms lost a step over 10 million steps is 27.8 hours', () => {
  const { plan, costs } = explicitPlan();
  const lost = { ...REPORT, makespan: 100, bubbleFraction: 0.1 };
  const report = reportWithMoney(plan, costs, lost, { ...DEFAULT_ANALYSIS_SETTINGS, runSteps: 10_000_000 });
  assert.equal((report.daysLost! * 24).toFixed(1), '27.8');
});

test('a measured step holds the tail; a step shorter than the pipeline is not believed', () => {
  const { plan, costs } = explicitPlan();
  const at = (ms: number) =>
    reportWithMoney({ ...plan, measuredStepMs: assumed(ms, 'test') }, costs, REPORT, DEFAULT_ANALYSIS_SETTINGS);
  assert.deepEqual([at(812).stepMs, at(812).tailMs], [812, 12]);
  assert.deepEqual([at(700).stepMs, at(700).tailMs], [800, null]);
});

test('what is missing is named, never zero', () => {
  const { plan, costs } = explicitPlan();
  const report = reportWithMoney({ ...plan, gpus: emptyPlan().gpus }, costs, REPORT, DEFAULT_ANALYSIS_SETTINGS);
  assert.equal(report.usdPerDayLost, null);
  assert.equal(report.daysLost, null);
  assert.deepEqual(
    report.unknowns.map((each) => each.say),
    ['cluster.gpus', 'cluster.usdPerGpuHour', 'run.steps'],
  );
});

test('steps from tokens, else from the setting', () => {
  const plan = {
    ...emptyPlan(),
    globalBatchSize: assumed(100, 'test'),
    sequenceLength: assumed(1000, 'test'),
    run: { steps: emptyPlan().run.steps, tokens: assumed(1e9, 'test') },
  };
  assert.equal(runSteps(plan, DEFAULT_ANALYSIS_SETTINGS), 10_000);
  assert.equal(runSteps(emptyPlan(), { ...DEFAULT_ANALYSIS_SETTINGS, runSteps: 7 }), 7);
});

test('measured costs stand in front of the plan, marked, where the stages agree', () => {
  const times = [10, 12].map((forwardMs) => ({
    forwardMs,
    backwardInputMs: 10,
    backwardWeightMs: 8,
    activationBytes: null,
    range: RANGE,
  }));
  const measured = { file: 'm.pipeline.yaml', stages: times, transferMs: 0.4, stepMs: null };
  const plan = { ...emptyPlan(), pp: assumed(2, 'test'), vpp: assumed(1, 'test') };
  const costs = stageCosts(withMeasuredCosts(plan, measured));
  assert.equal(costs?.badge, 'measured');
  assert.deepEqual(costs?.forward, [10, 12]);
  assert.deepEqual(costs?.transfer, [0.4]);
  assert.match(costs?.how ?? '', /times of m\.pipeline\.yaml/);
  const other = { ...plan, pp: assumed(4, 'test') };
  assert.equal(withMeasuredCosts(other, measured), other);
  assert.match(measuredProblem(other, measured) ?? '', /2 stages, this plan has 4/);
});
