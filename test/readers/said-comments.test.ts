/** `# bubblelens: gpus=64` in a comment: read with its place, told where it is wrong, and behind what a person says. */

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { analyse } from '../../src/analysis.ts';
import { DEFAULT_ANALYSIS_SETTINGS } from '../../src/model/settings.ts';
import { loadParsers } from '../../src/readers/parsers.ts';
import { saidInComments } from '../../src/readers/said-comments.ts';

before(() => loadParsers(['yaml', 'jsonc', 'toml']));

function tokens(text: string): Readonly<Record<string, readonly [unknown, string, string]>> {
  const { said } = saidInComments('a', text);
  return Object.fromEntries(
    Object.entries(said).map(([key, { value, by, range }]) => [
      key,
      [value, by, text.slice(range!.offset, range!.offset + range!.length)] as const,
    ]),
  );
}

test('keys, values and their places', () => {
  assert.deepEqual(
    tokens(
      'PP=8\n  # bubblelens: gpus=64, pipeline.microbatches = 32\nX=1 # bubblelens: cluster.gpu="H100-SXM-80GB"\n',
    ),
    {
      'cluster.gpus': [64, 'a comment on line 2', '64'],
      'pipeline.microbatches': [32, 'a comment on line 2', '32'],
      'cluster.gpu': ['H100-SXM-80GB', 'a comment on line 3', 'H100-SXM-80GB'],
    },
  );
  assert.deepEqual(tokens('{ "a": 1 } // bubblelens: pipeline.size=4\r\n// bubblelens: pipeline.schedule=1f1b'), {
    'pipeline.size': [4, 'a comment on line 1', '4'],
    'pipeline.schedule': ['1f1b', 'a comment on line 2', '1f1b'],
  });
  assert.deepEqual(tokens('# bubblelens: gpus=8\n# bubblelens: gpus=16'), {
    'cluster.gpus': [16, 'a comment on line 2', '16'],
  });
  for (const nothing of [
    '',
    'bubblelens: 1\nname: gpus=64',
    '#bubblelensgpus=64',
    'echo "bubblelens: gpus=64"',
    'a#bubblelens: gpus=64',
  ]) {
    assert.deepEqual(tokens(nothing), {}, nothing);
  }
});

test('what is wrong is told at its token, and not taken', () => {
  const text = '# bubblelens: gpu=64 gpus=many run.steps=-1 __proto__=1 pipeline.schedule=zigzag\n';
  const { said, problems } = saidInComments('a', text);
  assert.deepEqual(said, {});
  assert.deepEqual(
    problems.map(({ code, range }) => [code, text.slice(range.offset, range.offset + range.length)]),
    [
      ['unknown-key', 'gpu'],
      ['invalid-value', 'many'],
      ['invalid-value', '-1'],
      ['unknown-key', '__proto__'],
      ['invalid-value', 'zigzag'],
    ],
  );
});

const SCRIPT = [
  'torchrun --nproc_per_node $GPUS --nnodes 2 pretrain_gpt.py --num-layers 32 --hidden-size 1024 \\',
  '  --num-attention-heads 16 --seq-length 2048 --pipeline-model-parallel-size 4 --micro-batch-size 1 --global-batch-size 64',
  '',
].join('\n');
const TITAN =
  '[job]\ndescription = "x"\n[training]\nlocal_batch_size = 8\n[parallelism]\npipeline_parallel_degree = 2\n';
const NEOX =
  '{\n  "pipe_parallel_size": 2,\n  "num_layers": 12,\n  "train_micro_batch_size_per_gpu": 4,\n  "train_batch_size": 64,\n}\n';

for (const [file, config, mark] of [
  ['train.sh', SCRIPT, '#'],
  ['train.toml', TITAN, '#'],
  ['small.yml', NEOX, '#'],
] as const) {
  test(`the facade takes a comment in ${file} with its place, behind what a person says`, () => {
    const text = `${mark} bubblelens: gpus=16\n${config}`;
    const read = (said: Parameters<typeof analyse>[0]['said']) =>
      analyse({ file, texts: { [file]: text }, said, settings: DEFAULT_ANALYSIS_SETTINGS }).plans[0]!.plan.gpus;
    const gpus = read({});
    assert.equal(gpus.value, 16);
    assert.deepEqual(gpus.source, {
      kind: 'text',
      range: { file, offset: text.indexOf('16'), length: 2 },
      note: 'from a comment on line 1',
    });
    const said = read({ 'cluster.gpus': { value: 32, by: '--gpus' } });
    assert.deepEqual([said.value, said.source.kind], [32, 'assumed']);
  });
}

test('a comment can give the pipeline that a DeepSpeed config lacks', () => {
  const file = 'ds_config.json';
  const text =
    '{\n  // bubblelens: pipeline.size=2 gpus=8\n  "train_batch_size": 64,\n  "train_micro_batch_size_per_gpu": 4,\n  "steps_per_print": 1\n}\n';
  const [first] = analyse({ file, texts: { [file]: text }, said: {}, settings: DEFAULT_ANALYSIS_SETTINGS }).plans;
  assert.deepEqual([first!.plan.pp.value, first!.plan.dp.value, first!.plan.microbatches.value], [2, 4, 4]);
});

test('a problem of a comment is a problem of the file', () => {
  const text = `# bubblelens: gpus=0\n${SCRIPT}`;
  const { problems } = analyse({
    file: 'a.sh',
    texts: { 'a.sh': text },
    said: {},
    settings: DEFAULT_ANALYSIS_SETTINGS,
  });
  assert.deepEqual(
    problems.map(({ code }) => code),
    ['invalid-value'],
  );
});
