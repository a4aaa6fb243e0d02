/** The Megatron-LM reader against golden readings of small scripts, one per construct and one per refusal. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Said } from '../../src/model/plan.ts';
import { megatronLm } from '../../src/readers/megatron-lm.ts';
import { dump } from './megatron-dump.ts';

const FOLDER = join(process.cwd(), 'test/fixtures/megatron-lm');
const LIBRARY = 'lib/model.sh';

function fixture(name: string): string {
  return readFileSync(join(FOLDER, name), 'utf8');
}

/** `# said cluster.gpus=64` in the fixture is what was said outside it. */
function saidIn(text: string): Said {
  const entries = [...text.matchAll(/^# said ([\w.]+)=(.+)$/gm)];
  return Object.fromEntries(entries.map((entry) => [entry[1]!, { value: entry[2]!, by: 'the test' }]));
}

describe('Megatron-LM scripts', () => {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.sh'));
  assert.ok(names.length >= 50);
  for (const name of names) {
    it(`reads ${name}`, () => {
      const text = fixture(name);
      const texts = { [name]: text, [LIBRARY]: fixture(LIBRARY) };
      const actual = dump(megatronLm.read(name, texts, saidIn(text)), texts);
      const golden = join(FOLDER, name.replace(/\.sh$/, '.golden.txt'));
      if (process.env.UPDATE === '1') writeFileSync(golden, actual);
      assert.ok(existsSync(golden), `${golden} is missing; UPDATE=1 writes it`);
      assert.equal(actual, readFileSync(golden, 'utf8'));
    });
    it(`claims ${name}`, () => assert.equal(megatronLm.claims(name, fixture(name)), true));
  }

  it('leaves the shells of other frameworks alone', () => {
    const others = {
      swift: 'megatron sft --pipeline_model_parallel_size 2 --micro_batch_size 1',
      verl: 'python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=2',
      slime: 'python train.py --actor-num-gpus-per-node 8 --pipeline-model-parallel-size 2',
      deepspeed: 'deepspeed pretrain_gpt.py --deepspeed --pipeline-model-parallel-size 2',
      inference: 'torchrun serve.py --tensor-model-parallel-size 2',
      plain: 'echo hello',
    };
    for (const [name, text] of Object.entries(others)) assert.equal(megatronLm.claims(`${name}.sh`, text), false, name);
    assert.equal(megatronLm.claims('notes.md', '--pipeline-model-parallel-size 2'), false);
  });

  it('claims a script of 500 lines within a tenth of a millisecond', () => {
    const text = 'export MODEL=model_parallel_ # and more\n'.repeat(500);
    const claim = (): number => {
      const start = performance.now();
      megatronLm.claims('a.sh', text);
      return performance.now() - start;
    };
    const times = Array.from({ length: 201 }, claim).sort((a, b) => a - b);
    assert.ok(times[100]! < 0.1, `${times[100]} ms`);
  });

  it('refuses to read what is no text', () => {
    const big = megatronLm.read('a.sh', { 'a.sh': 'x'.repeat((1 << 20) + 1) }, {});
    assert.deepEqual([big.plans.length, big.problems.length], [0, 1]);
    const binary = megatronLm.read('a.sh', { 'a.sh': 'PP=1\0' }, {});
    assert.deepEqual([binary.plans.length, binary.problems.length], [0, 1]);
  });
});
