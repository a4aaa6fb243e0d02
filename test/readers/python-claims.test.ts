/** Ordinary Python is nobody's, also where it speaks of pipelines and batches, and the look at it is cheap. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { READERS } from '../../src/readers/table.ts';
import { PYTHON_READERS, pythonFixtures } from './python-fixtures.ts';

const ORDINARY: Readonly<Record<string, string>> = {
  'setup.py':
    'from setuptools import setup\nsetup(name="x", install_requires=["deepspeed", "colossalai", "torchtitan"])\n',
  'pipeline.py': 'from sklearn.pipeline import Pipeline\nmodel = Pipeline([("scale", Scaler()), ("fit", Ridge())])\n',
  'train.py': 'import deepspeed\nengine = deepspeed.initialize(model=net, config="ds_config.json")\nbatch_size = 8\n',
  'fsdp.py': 'import torch\nfrom torch.distributed.fsdp import FSDP\nparallelism = dict(dp=8)\n',
  'docs.py': '"""Set pipeline_model_parallel_size in your own config, or PipelineModule in DeepSpeed."""\n',
  'serve.py': 'from vllm import LLM\nllm = LLM(model="x", tensor_parallel_size=8, pipeline_parallel_size=2)\n',
  'settings.py': 'class Config:\n    parallelism = 4\n    training = True\n',
  'plugin.py': 'from colossalai.booster.plugin import GeminiPlugin\nplugin = GeminiPlugin()\n',
  'olmo.py':
    'from olmo_core.nn.transformer import TransformerConfig\nmodel = TransformerConfig.olmo2_7B(vocab_size=1)\n',
  'launcher.py':
    '#!/usr/bin/env python3\nimport subprocess\nCMD = """\ntorchrun pretrain_gpt.py --pipeline-model-parallel-size 8 --tensor-model-parallel-size 4\n"""\nsubprocess.run(CMD, shell=True)\n',
};

for (const [name, text] of Object.entries(ORDINARY)) {
  test(`${name} is nobody's`, () => {
    assert.deepEqual(
      READERS.filter((reader) => reader.claims(name, text)).map(({ id }) => id),
      [],
    );
  });
}

test('only Python files are looked at', () => {
  for (const reader of PYTHON_READERS) {
    for (const text of Object.values(pythonFixtures(reader))) {
      for (const name of ['a.txt', 'a.yaml', 'a.ipynb', 'py', 'a.sh']) assert.ok(!reader.claims(name, text));
    }
  }
});

test('a look at a long file of somebody else takes well under 0.1 ms', () => {
  const text = 'def transform(batch, model, parallel=True):\n    return model.train(batch, size=4)\n\n'.repeat(3000);
  const times = Array.from({ length: 101 }, () => {
    const started = performance.now();
    for (const reader of PYTHON_READERS) reader.claims('a.py', text);
    return (performance.now() - started) / PYTHON_READERS.length;
  }).sort((a, b) => a - b);
  assert.ok(times[50]! < 0.1, `${times[50]} ms`);
});
