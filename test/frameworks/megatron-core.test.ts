/** The Megatron-core resolver against partitions that Megatron's own functions gave, and against its documented rules. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseHybridPattern } from '../../src/frameworks/megatron-core/hybrid.ts';
import type { MegatronInput, MegatronKey, Setting } from '../../src/frameworks/megatron-core/keys.ts';
import { flagOf } from '../../src/frameworks/megatron-core/keys.ts';
import { checkLayout, parseLayout } from '../../src/frameworks/megatron-core/layout.ts';
import { type Resolved, resolveMegatron } from '../../src/frameworks/megatron-core/resolve.ts';
import { fromText, unknown } from '../../src/model/source.ts';

interface Facts {
  readonly layouts: readonly { layout: string; pp: number; vpp: number; byRank: readonly (readonly string[])[] }[];
  readonly rejectedLayouts: readonly { layout: string; pp: number; error: string }[];
  readonly splits: readonly {
    layers: number;
    pp: number;
    vpp: number | null;
    first: number | null;
    last: number | null;
    embedding: boolean;
    loss: boolean;
    byRank?: readonly (readonly number[])[];
    error?: string;
  }[];
}

const FACTS: Facts = JSON.parse(
  readFileSync(join(process.cwd(), 'test/fixtures/megatron-core/partitions.json'), 'utf8'),
);

function resolve(
  values: Partial<Record<MegatronKey, number | string | boolean | null>>,
  world: number | null = null,
): Resolved {
  const keys = new Map<MegatronKey, Setting>();
  Object.entries(values).forEach(([name, value], i) => {
    if (value === null || value === false) return;
    const key = name as MegatronKey;
    const range = { file: 'a.sh', offset: i * 10, length: 1 };
    keys.set(key, { value: fromText(String(value), range), spelled: flagOf(key), place: range });
  });
  const anchor = { file: 'a.sh', offset: 0, length: 0 };
  const input: MegatronInput = {
    keys,
    world: world === null ? unknown('the GPU count', 'cluster.gpus') : fromText(world, anchor),
    worldParts: [],
    dp: null,
    anchor,
    elsewhere: null,
    passed: null,
    complete: true,
  };
  return resolveMegatron(input);
}

function byRank(resolved: Resolved, pp: number): number[][] | null {
  const stages = resolved.stages.value;
  if (stages === null) return null;
  return Array.from({ length: pp }, (_, rank) => stages.filter((_, i) => i % pp === rank).map((stage) => stage.layers));
}

describe('layout strings', () => {
  for (const { layout, pp, vpp, byRank: expected } of FACTS.layouts) {
    it(`unrolls ${layout} over ${pp} ranks`, () => {
      const parsed = parseLayout(layout);
      assert.ok(parsed.ok);
      assert.equal(parsed.stages.length, pp * vpp);
      const actual = expected.map((chunks, rank) => chunks.map((_, chunk) => parsed.stages[chunk * pp + rank]));
      assert.deepEqual(actual, expected);
      const mtpLayers = layout.includes('m') ? 1 : 0;
      assert.equal(checkLayout(parsed.stages, { pp, layers: null, mtpLayers }), null);
    });
  }

  for (const { layout, pp, error } of FACTS.rejectedLayouts) {
    it(`refuses ${layout} over ${pp} ranks`, () => {
      const parsed = parseLayout(layout);
      const reason = parsed.ok ? checkLayout(parsed.stages, { pp, layers: null, mtpLayers: null }) : parsed.reason;
      assert.ok(reason !== null);
      const told = parsed.ok ? 'must be divisible by pipeline_model_parallel_size' : reason.slice(0, 26);
      assert.ok(error.includes(told), `${error} does not say ${told}`);
    });
  }

  const REFUSED = {
    't|EtL': 'The first layer must be embedding',
    'Et|Lt': 'The last layer must be loss',
    'Et|EtL': 'Embedding must be specified exactly once',
    'EtL|tL': 'Loss must be specified exactly once',
    'Et|mtL': 'decoder layers must be placed before MTP layers',
    'Et|t|m|L': 'always in the last virtual pipeline stage',
    'Et|t|tm|mL': 'the same one virtual pipeline stage',
  } as const;
  for (const [layout, told] of Object.entries(REFUSED)) {
    it(`refuses ${layout}: ${told}`, () => {
      const parsed = parseLayout(layout);
      assert.ok(parsed.ok);
      const pp = layout === 'Et|t|m|L' ? 1 : parsed.stages.length;
      assert.match(checkLayout(parsed.stages, { pp, layers: null, mtpLayers: null }) ?? '', new RegExp(told));
    });
  }

  it('does not unroll a layout without end', () => {
    assert.equal(parseLayout('E(t*9999999)*9999999|L').ok, false);
    assert.equal(parseLayout(`E${'(t)*99'.repeat(5000)}|L`).ok, false);
  });
});

describe('splits', () => {
  for (const split of FACTS.splits) {
    const { layers, pp, vpp, first, last, embedding, loss } = split;
    it(`${layers} layers, pp ${pp}, vpp ${vpp}, ends ${first}/${last}, counted ${embedding}/${loss}`, () => {
      const resolved = resolve({
        pp,
        layers,
        virtualStages: vpp,
        firstLayers: first,
        lastLayers: last,
        accountEmbedding: embedding,
        accountLoss: loss,
        microBatch: 1,
      });
      const errors = resolved.findings.map((finding) => finding.code);
      if (split.byRank === undefined) {
        assert.deepEqual(errors, [first === null && last === null ? 'layers-not-divisible' : 'split-invalid']);
        assert.equal(resolved.stages.value, null);
      } else {
        assert.deepEqual(errors, []);
        assert.deepEqual(byRank(resolved, pp), split.byRank);
      }
    });
  }

  it('places the ends of the model and the prediction layers', () => {
    const stages = resolve({ pp: 2, layers: 8, virtualStages: 2, mtpLayers: 1, microBatch: 1 }).stages.value ?? [];
    assert.deepEqual(
      stages.map(({ embedding, head, mtp }) => [embedding, head, mtp]),
      [
        [true, false, 0],
        [false, false, 0],
        [false, false, 0],
        [false, true, 1],
      ],
    );
  });

  it('does not list a pipeline without end', () => {
    const resolved = resolve({ pp: 1_000_000_000, layers: 1_000_000_000, microBatch: 1 });
    assert.equal(resolved.pp.value, 1_000_000_000);
    assert.equal(resolved.stages.value, null);
  });
});

describe('sizes and batches', () => {
  it('reads whole numbers as Python does, in any digits and with underscores', () => {
    const read: Readonly<Record<string, number | null>> = {
      '８': 8,
      '１６': 16,
      '٤': 4,
      '𝟗': 9,
      '1_6': 16,
      ' +8 ': 8,
      '1__6': null,
      _8: null,
      '8.0': null,
      '0x8': null,
      '８x': null,
    };
    for (const [text, value] of Object.entries(read)) {
      const { pp, findings } = resolve({ pp: text });
      assert.equal(pp.value, value, text);
      assert.equal(
        findings.some((each) => each.code === 'invalid-value'),
        value === null,
        text,
      );
    }
  });

  it('never guesses the data-parallel size', () => {
    const resolved = resolve({ pp: 4, layers: 8, microBatch: 1, globalBatch: 32 });
    assert.deepEqual([resolved.dp.value, resolved.microbatches.value], [null, null]);
    assert.equal(resolved.microbatches.source.kind === 'unknown' && resolved.microbatches.source.say, 'cluster.gpus');
  });

  it('counts one microbatch where no global batch is given, whatever the GPUs', () => {
    assert.equal(resolve({ pp: 4, layers: 8, microBatch: 2 }).microbatches.value, 1);
    assert.equal(resolve({ pp: 4, layers: 8, microBatch: 2 }, 16).globalBatchSize.value, 8);
  });

  it('keeps expert parallelism out of the dense data-parallel size', () => {
    const resolved = resolve({ pp: 4, ep: 8, experts: 8, layers: 32, microBatch: 1, globalBatch: 256 }, 8);
    assert.deepEqual([resolved.dp.value, resolved.microbatches.value], [2, 128]);
    assert.deepEqual(
      resolved.findings.map((finding) => finding.code),
      ['expert-size-not-divisible'],
    );
  });

  it('counts weight shards into the world', () => {
    assert.equal(resolve({ pp: 2, tp: 2, weightShards: 4, layers: 8, microBatch: 1 }, 32).dp.value, 4);
    const codes = resolve({ pp: 2, tp: 2, weightShards: 3, layers: 8, microBatch: 1 }, 32).findings.map(
      (each) => each.code,
    );
    assert.deepEqual(codes, ['invalid-value']);
  });

  it('gives the feed-forward default of each activation', () => {
    assert.equal(resolve({ hidden: 4096 }).model.ffn.value, 16384);
    assert.equal(resolve({ hidden: 4096, swiglu: true }).model.ffn.value, Math.trunc((4 * 4096 * 2) / 3 / 64) * 64);
  });

  it('says the schedule of each shape', () => {
    assert.equal(resolve({ pp: 1, layers: 8 }).schedule.value, 'none');
    assert.equal(resolve({ pp: 2, layers: 8 }).schedule.value, '1f1b');
    assert.equal(resolve({ pp: 2, layers: 8, virtualStages: 1 }).schedule.value, '1f1b');
    assert.equal(resolve({ pp: 2, layers: 8, layersPerVirtualStage: 2 }).schedule.value, 'interleaved-1f1b');
    assert.equal(resolve({ pp: 2, layers: 8, forkSchedule: 'dualpipev' }).schedule.value, null);
  });
});

describe('hybrid patterns', () => {
  it('reads segments and prediction depths', () => {
    assert.deepEqual(parseHybridPattern('M-M-|M-M*-/MM/MM'), { ok: true, segments: [4, 5], layers: 9, mtpDepths: 2 });
    assert.deepEqual(parseHybridPattern('M*M*'), { ok: true, segments: [4], layers: 4, mtpDepths: 0 });
  });

  it('refuses what Megatron refuses', () => {
    for (const pattern of ['MX', 'M/MM/M*', '*D', 'M/M|']) assert.equal(parseHybridPattern(pattern).ok, false, pattern);
  });
});
