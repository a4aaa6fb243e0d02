/** Changes of a plan in the spelling of its file: only the token changes, and reading again gives the new value. */

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell text

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import type { TextEdit } from '../../src/model/finding.ts';
import type { Plan } from '../../src/model/plan.ts';
import type { Texts } from '../../src/model/reading.ts';
import { megatronLm } from '../../src/readers/megatron-lm.ts';
import { megatronLmYaml } from '../../src/readers/megatron-lm-yaml.ts';
import { loadParsers } from '../../src/readers/parsers.ts';

const FOLDER = join(process.cwd(), 'test/fixtures/megatron-lm');
const VALUES: Readonly<Record<string, (plan: Plan) => number | null>> = {
  'pipeline.size': (plan) => plan.pp.value,
  'pipeline.virtualStages': (plan) => plan.vpp.value,
  'pipeline.microbatches': (plan) => plan.microbatches.value,
  'batch.global': (plan) => plan.globalBatchSize.value,
  'batch.micro': (plan) => plan.microBatchSize.value,
  'cluster.gpus': (plan) => plan.gpus.value,
};

function apply(texts: Texts, edits: readonly TextEdit[]): Texts {
  const changed: Record<string, string> = { ...texts };
  for (const { file, offset, length, text } of edits) {
    changed[file] = changed[file]!.slice(0, offset) + text + changed[file]!.slice(offset + length);
  }
  return changed;
}

function change(text: string, key: string, value: number): string | null {
  const texts = { 'a.sh': text };
  const plan = megatronLm.read('a.sh', texts, {}).plans[0];
  assert.ok(plan !== undefined);
  const edits = megatronLm.edits(texts, plan, { key, value });
  return edits === null ? null : apply(texts, edits)['a.sh']!;
}

const RUN = 'torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --micro-batch-size 1 --num-layers 24';

describe('edits of launch scripts', () => {
  it('changes the place where the value is written, and keeps quotes and comments', () => {
    assert.equal(
      change(`PP="8" # ranks\n${RUN} --pipeline-model-parallel-size $PP`, 'pipeline.size', 4),
      `PP="4" # ranks\n${RUN} --pipeline-model-parallel-size $PP`,
    );
    assert.equal(
      change(`${RUN} --pipeline-model-parallel-size=\${PP:-8}`, 'pipeline.size', 4),
      `${RUN} --pipeline-model-parallel-size=\${PP:-4}`,
    );
  });

  it('sets microbatches through the global batch', () => {
    const script = (batch: string) => `GBS=${batch}\n${RUN} --pipeline-model-parallel-size 4 --global-batch-size $GBS`;
    assert.equal(change(script('64'), 'pipeline.microbatches', 32), script('128'));
  });

  it('adds a global batch where there is none', () => {
    const script = `${RUN} --pipeline-model-parallel-size 4`;
    const changed = change(script, 'pipeline.microbatches', 8);
    assert.equal(changed, script.replace('--micro-batch-size', '--global-batch-size 32 --micro-batch-size'));
  });

  it('interleaves in the spelling at hand', () => {
    const ways = {
      '--pipeline-model-parallel-size 4': '--num-virtual-stages-per-pipeline-rank 3 --pipeline-model-parallel-size 4',
      '--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 3':
        '--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 2',
      '--pipeline-model-parallel-size 4 --num-virtual-stages-per-pipeline-rank 2':
        '--pipeline-model-parallel-size 4 --num-virtual-stages-per-pipeline-rank 3',
    };
    for (const [from, to] of Object.entries(ways)) {
      assert.equal(change(`${RUN} ${from}`, 'pipeline.virtualStages', 3), `${RUN} ${to}`);
    }
  });

  it('sets GPUs through the nodes, or through the only node', () => {
    const script = `${RUN} --pipeline-model-parallel-size 4`;
    assert.equal(change(script, 'cluster.gpus', 64), script.replace('--nnodes 2', '--nnodes 8'));
    assert.equal(change(script, 'cluster.gpus', 12), null);
    const one = script.replace('--nnodes 2', '--nnodes 1');
    assert.equal(change(one, 'cluster.gpus', 4), one.replace('--nproc_per_node 8', '--nproc_per_node 4'));
  });

  it('has no edit for what is computed, given elsewhere or conditional', () => {
    const tail = '--pipeline-model-parallel-size $PP';
    for (const head of ['PP=$((2 * 4))', 'PP=$1', 'PP=$(cat pp)', 'if [ -f x ]; then PP=2; else PP=4; fi']) {
      assert.equal(change(`${head}\n${RUN} ${tail}`, 'pipeline.size', 4), null, head);
    }
    assert.equal(change(`${RUN} ${tail}`, 'pipeline.size', 4), null);
    assert.equal(change(`PP=8\n${RUN} ${tail}`, 'model.layers', 4), null);
    assert.equal(change(`PP=8\n${RUN} ${tail}`, 'pipeline.size', -4), null);
  });

  it('gives what was asked for on every fixture', () => {
    let made = 0;
    for (const name of readdirSync(FOLDER).filter((each) => each.endsWith('.sh'))) {
      const library = readFileSync(join(FOLDER, 'lib/model.sh'), 'utf8');
      const texts: Texts = { [name]: readFileSync(join(FOLDER, name), 'utf8'), 'lib/model.sh': library };
      for (const plan of megatronLm.read(name, texts, {}).plans) {
        for (const [key, planValue] of Object.entries(VALUES)) {
          const value = key === 'cluster.gpus' ? 96 : 6;
          const edits = megatronLm.edits(texts, plan, { key, value });
          if (edits === null) continue;
          made++;
          const after = megatronLm.read(name, apply(texts, edits), {}).plans.find((each) => each.id === plan.id);
          const found = after === undefined ? undefined : planValue(after);
          assert.ok(found === value || found === null, `${name} ${key}: ${found}`);
        }
      }
    }
    assert.ok(made > 150, `${made} edits`);
  });
});

const YAML = `ENV_VARS:
  X: 1
MODEL_ARGS:
  --num-layers: 12
  --micro-batch-size: 4
  --global-batch-size: "32" # samples
  --tensor-model-parallel-size: 1
  --pipeline-model-parallel-size: 4
  --num-layers-per-virtual-pipeline-stage: 1
  --bf16: true
  --fp16: false
MODEL_ARGS_2:
  --num-layers: 12
  --pipeline-model-parallel-size: 2
  --global-batch-size: \${GBS}
`;

describe('test configs with MODEL_ARGS', () => {
  before(() => loadParsers(['yaml']));
  const file = 'cases/gpt_pp4/model_config.yaml';
  const read = (text: string) => megatronLmYaml.read(file, { [file]: text }, {});

  it('claims only maps of flags', () => {
    assert.equal(megatronLmYaml.claims(file, YAML), true);
    assert.equal(megatronLmYaml.claims(file, 'model:\n  pipeline_model_parallel_size: 2\n'), false);
    assert.equal(megatronLmYaml.claims('a.sh', YAML), false);
  });

  it('reads one plan per map, with places', () => {
    const { plans, problems } = read(YAML);
    assert.deepEqual(problems, []);
    assert.deepEqual(
      plans.map(({ id, name, pp, vpp, schedule, gpus, dp, microbatches }) => [
        id,
        name,
        pp.value,
        vpp.value,
        schedule.value,
        gpus.value,
        dp.value,
        microbatches.value,
      ]),
      [
        ['main', 'gpt_pp4: MODEL_ARGS', 4, 3, 'interleaved-1f1b', null, null, null],
        ['MODEL_ARGS_2', 'gpt_pp4: MODEL_ARGS_2', 2, 1, '1f1b', null, null, null],
      ],
    );
    const [plan] = plans;
    const quoted = plan?.globalBatchSize.source;
    assert.ok(quoted?.kind === 'text');
    assert.equal(YAML.slice(quoted.range.offset, quoted.range.offset + quoted.range.length), '32');
    assert.equal(plan?.model.dtype.value, 'bf16');
    assert.deepEqual(plan?.findings, []);
  });

  it('tells refusals at their tokens', () => {
    const [plan] = read(YAML.replace('--num-layers: 12', '--num-layers: 13')).plans;
    assert.deepEqual(
      plan?.findings.map(({ code, range }) => [code, range.length]),
      [['layers-not-divisible', 1]],
    );
  });

  it('writes its own spelling', () => {
    const set = (text: string, key: string, value: number): string | null => {
      const texts = { [file]: text };
      const edits = megatronLmYaml.edits(texts, read(text).plans[0]!, { key, value });
      return edits === null ? null : apply(texts, edits)[file]!;
    };
    assert.equal(set(YAML, 'batch.global', 64), YAML.replace('"32"', '"64"'));
    assert.equal(
      set(YAML, 'pipeline.virtualStages', 1),
      YAML.replace('virtual-pipeline-stage: 1', 'virtual-pipeline-stage: 3'),
    );
    assert.equal(set(YAML, 'cluster.gpus', 8), null);
    const plain = YAML.replace('  --num-layers-per-virtual-pipeline-stage: 1\n', '');
    assert.equal(
      set(plain, 'pipeline.virtualStages', 3),
      plain.replace('  --pipeline-model', '  --num-virtual-stages-per-pipeline-rank: 3\n  --pipeline-model'),
    );
  });
});
