/** Detection: each framework's file is claimed by its own reader, and ordinary YAML by none, at hardly any cost. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { READERS } from '../../src/readers/table.ts';
import { documentsOf, MCORE_READERS, rootOf } from './mcore-fixtures.ts';

const ORDINARY: Readonly<Record<string, string>> = {
  'compose.yaml':
    'services:\n  web:\n    image: nginx\n    deploy: { replicas: 2 }\n  train:\n    command: --pipeline\nvolumes: {}\n',
  'deployment.yaml':
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: model }\nspec:\n  parallelism: 4\n  template:\n    spec:\n      containers:\n        - name: train\n          args: ["--pipeline_model_parallel_size=8"]\n',
  'ci.yml':
    'name: CI\non: [push]\ndefaults:\n  run: { shell: bash }\njobs:\n  train:\n    runs-on: ubuntu-latest\n    strategy: { matrix: { node: [18, 20] } }\n    steps:\n      - uses: actions/checkout@v4\n',
  'hydra.yaml':
    'defaults:\n  - model: small\n  - train: default\n  - _self_\ntrainer: { max_epochs: 10, devices: 1 }\nmodel: { hidden_size: 8 }\n',
  'lightning.yaml': 'trainer:\n  devices: 8\n  num_nodes: 2\nmodel:\n  class_path: my.Model\ndata: { batch_size: 4 }\n',
  'rollout.yaml':
    'model: x\ntrain:\n  tensor_model_parallel_size: 1\n  pipeline_model_parallel_size: 1\ncheckpoint: {}\n',
  'fsdp.yaml': 'distributed_type: FSDP\nfsdp_config: {}\nnum_processes: 8\n',
  'sft.yaml': 'model_name_or_path: Qwen/Qwen3-8B\nstage: sft\nper_device_train_batch_size: 1\n',
  'areal-fsdp.yaml': 'actor:\n  backend: "fsdp:d8"\n  path: x\nrollout:\n  backend: "sglang:d4"\n',
  'dtensor.yaml':
    'policy:\n  dtensor_cfg: { enabled: true }\n  megatron_cfg:\n    enabled: false\n    pipeline_model_parallel_size: 4\n',
  'system.yaml': 'system:\n  memory: 4\nmodel:\n  name: x\n',
  'empty.yaml': '',
};

describe('claims', () => {
  for (const reader of MCORE_READERS) {
    it(`${reader.id} claims its own files, and no other reader does`, () => {
      const root = rootOf(reader);
      for (const file of documentsOf(reader)) {
        const claiming = READERS.filter((each) => each.claims(file, root[file]!)).map(({ id }) => id);
        assert.deepEqual(claiming, [reader.id], file);
      }
    });
  }

  it('ordinary YAML is nobody’s', () => {
    for (const [file, text] of Object.entries(ORDINARY)) {
      const claiming = MCORE_READERS.filter((each) => each.claims(file, text)).map(({ id }) => id);
      assert.deepEqual(claiming, [], file);
    }
  });

  it('a launcher’s conversions and other kinds of file are left alone', () => {
    const nemo = MCORE_READERS.find(({ id }) => id === 'nemo')!;
    const text = 'trainer: {}\nmodel:\n  pipeline_model_parallel_size: 2\n';
    assert.ok(nemo.claims('conf/training/gpt3/5b.yaml', text));
    assert.equal(nemo.claims('conf/conversion_hf2nemo/mixtral.yaml', text), false);
    for (const reader of MCORE_READERS) assert.equal(reader.claims('train.sh', text), false, reader.id);
  });

  it('a large file that is not ours costs all of them less than a millisecond', () => {
    const text = 'services:\n'.concat('  model: pipeline of trainer # system\n    backend: x\n'.repeat(2000));
    const claim = (): number => {
      const start = performance.now();
      for (const reader of MCORE_READERS) reader.claims('compose.yaml', text);
      return performance.now() - start;
    };
    const times = Array.from({ length: 101 }, claim).sort((a, b) => a - b);
    assert.ok(times[50]! < 1, `${times[50]} ms`);
  });
});
