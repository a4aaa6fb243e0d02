/** Nobody's files stay nobody's: what lies in every repository is claimed by no reader, and the look at it is cheap. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { READERS } from '../../src/readers/table.ts';

const ORDINARY: Readonly<Record<string, string>> = {
  'compose.yaml':
    'services:\n  web:\n    image: nginx\n    deploy:\n      replicas: 4\n      resources: { limits: { cpus: "2" } }\n',
  'deploy.yml':
    'apiVersion: batch/v1\nkind: Job\nspec:\n  parallelism: 8\n  template:\n    spec: { containers: [{ name: a, args: ["--workers=4"] }] }\n',
  'ci.yml':
    'on: push\njobs:\n  test:\n    strategy: { matrix: { node: [20, 22] } }\n    steps:\n      - run: npm test\n',
  'pipeline.yml': 'stages: [build, test]\nbuild:\n  stage: build\n  script: [make]\nparallel: 4\n',
  'settings.json': '{ "train": true, "batch_size": 4, "optimizer": { "type": "Adam" } }',
  'trainer.json': '{ "per_device_train_batch_size": 4, "gradient_accumulation_steps": 8, "learning_rate": 1e-5 }',
  'config.json': '{ "num_hidden_layers": 32, "hidden_size": 4096, "vocab_size": 32000 }',
  'build.sh':
    '#!/bin/bash\nset -e\nNNODES=2\nsource ./env.sh\nmake -j8\nfor f in *.py; do python3 "$f" --verbose; done\n',
  'serve.sh':
    '#!/bin/bash\npython3 -m vllm.entrypoints.openai.api_server --tensor-parallel-size 8 --pipeline-parallel-size 2\n',
  'accelerate.sh': 'accelerate launch train.py --deepspeed ds.json --batch-size 4\n',
  'export.sh': 'megatron export --model x --to_hf true\n',
  'install.sh': 'pip install verl megatron-core deepspeed\n# pipeline_model_parallel_size is set elsewhere\n',
  'mesh.yml': 'model_name: x\nsteps: 10\nmesh: [data, stage]\n',
  'data.yaml': 'parallel_config:\n  workers: 4\nmodel:\n  model_config: { type: linear }\n',
};

for (const [name, text] of Object.entries(ORDINARY)) {
  test(`${name} is nobody's`, () => {
    assert.equal(READERS.find((reader) => reader.claims(name, text))?.id, undefined);
  });
}

/** Configs of installed packages, and of this repository. */
function installed(): readonly string[] {
  const root = join(process.cwd(), 'node_modules');
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:json|ya?ml|toml|sh)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .slice(0, 1500)
    .concat(['package.json', 'package-lock.json', 'tsconfig.json', '.biome.json']);
}

test("the configs of installed packages are nobody's, each after a look of well under a millisecond", () => {
  const times: number[] = [];
  const claimed: string[] = [];
  for (const path of installed()) {
    const text = readFileSync(path, 'utf8').slice(0, 1 << 18);
    const start = performance.now();
    if (READERS.some((reader) => reader.claims(path, text))) claimed.push(path);
    times.push(performance.now() - start);
  }
  assert.ok(times.length > 100, `${times.length} files`);
  assert.deepEqual(claimed, []);
  times.sort((a, b) => a - b);
  const p95 = times[Math.floor(times.length * 0.95)]!;
  assert.ok(p95 < 0.5, `p95 ${p95} ms`);
});

test('a text that almost looks like one costs no time', () => {
  for (const [name, text] of [
    ['a.yml', `pipe_parallel_size${' \t'.repeat(200_000)}`],
    ['a.yml', `parallel_config:\n${' \n'.repeat(200_000)}`],
    ['a.json', `{ "pipeline_parallel_degree${'"'.repeat(200_000)}`],
    ['a.json', `"train_${'"train_'.repeat(100_000)}`],
    ['a.sh', `megatron ${'megatron sft '.repeat(50_000)}`],
    ['a.sh', `--actor-num-${'--actor-num-'.repeat(50_000)}`],
    ['a.sh', `verl ${'megatron.'.repeat(80_000)}`],
  ] as const) {
    const start = performance.now();
    for (const reader of READERS) reader.claims(name, text);
    assert.ok(performance.now() - start < 200, `${name} ${text.slice(0, 20)}: ${performance.now() - start} ms`);
  }
});
