/** Completion in half-typed files of the frameworks: `|` is the cursor, and every item leads to text that reads on. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import fc from 'fast-check';
import type { Completion, Reader } from '../../src/model/reading.ts';
import { loadParsers } from '../../src/readers/parsers.ts';
import { READERS } from '../../src/readers/table.ts';

before(() => loadParsers(['yaml', 'jsonc', 'toml', 'python']));

interface Place {
  readonly text: string;
  readonly items: readonly Completion[];
}

function at(path: string, marked: string, id: string): Place {
  const offset = marked.indexOf('|');
  const text = marked.slice(0, offset) + marked.slice(offset + 1);
  const reader = READERS.find((each) => each.claims(path, text));
  assert.equal(reader?.id, id);
  return { text, items: reader?.completions?.(path, text, offset) ?? [] };
}

function chosen({ text, items }: Place, label: string): string {
  const item = items.find((each) => each.label === label);
  assert.ok(item, `${label} is not among ${items.map((each) => each.label).join(' ')}`);
  assert.ok(item.documentation.length > 10, label);
  return text.slice(0, item.offset) + item.insertText + text.slice(item.offset + item.length);
}

const labels = ({ items }: Place) => items.map((item) => item.label);

const shell = (marked: string) => at('train.sh', marked, 'megatron-lm');
const LAUNCH = 'torchrun --nproc-per-node 8 pretrain_gpt.py \\\n  --pipeline-model-parallel-size 4 \\\n';

test("Megatron's flags in a launch, without those that it has", () => {
  const place = shell(`${LAUNCH}  --num-l| \\\n  --hidden-size 64\n`);
  assert.equal(chosen(place, '--num-layers'), `${LAUNCH}  --num-layers \\\n  --hidden-size 64\n`);
  assert.ok(!labels(place).includes('--pipeline-model-parallel-size') && !labels(place).includes('--hidden-size'));
  assert.ok(!labels(place).some((label) => /batch-size$/.test(label) && label === '--batch-size'));
  assert.ok(!labels(place).includes('--num-microbatches'));
});

test('flags in an array, and in a text of flags', () => {
  const array = shell(`ARGS=(\n  --num-layers 32 # deep\n\n  --|\n  --bf16\n)\n${LAUNCH}  "\${ARGS[@]}"\n`);
  assert.ok(labels(array).includes('--recompute-granularity'));
  assert.ok(!labels(array).includes('--num-layers') && !labels(array).includes('--bf16'));
  const words = shell(`ARGS="\n  --num-layers 32 \\\n  --|\n"\n${LAUNCH}  $ARGS\n`);
  assert.ok(labels(words).includes('--bf16') && !labels(words).includes('--num-layers'));
});

test('the words of a flag', () => {
  const place = shell(`${LAUNCH}  --recompute-granularity sel|`);
  assert.deepEqual(labels(place), ['full', 'selective']);
  assert.ok(chosen(place, 'selective').endsWith('--recompute-granularity selective'));
  assert.deepEqual(labels(shell(`${LAUNCH}  --recompute-granularity=|`)), ['full', 'selective']);
});

test('no flags of the training elsewhere in a script', () => {
  for (const marked of ['docker run --|\n', '# --|\n', 'echo |\n', 'PP=|\n', 'ls -l x|\n']) {
    assert.deepEqual(labels(shell(`${marked}${LAUNCH}`)), [], marked);
    assert.deepEqual(labels(shell(`${LAUNCH}  --bf16\n\n${marked}`)), [], marked);
  }
  assert.deepEqual(labels(shell(`${LAUNCH}  --num-layers |`)), []);
});

test("a dialect's own spelling", () => {
  const marked = 'megatron sft \\\n  --pipeline_model_parallel_size 4 \\\n  --virt|\n';
  assert.ok(chosen(at('sft.sh', marked, 'ms-swift'), '--virtual_pipeline_model_parallel_size').includes('_size\n'));
});

const TITAN = '[training]\nlocal_batch_size = 8\n\n[parallelism]\npipeline_parallel_degree = 4\n';

test("the keys of a TOML's section, by era", () => {
  const place = at('a.toml', `${TITAN}pipe|\ntensor_parallel_degree = 1\n`, 'torchtitan');
  assert.equal(
    chosen(place, 'pipeline_parallel_schedule'),
    `${TITAN}pipeline_parallel_schedule = \ntensor_parallel_degree = 1\n`,
  );
  const offered = labels(place);
  assert.ok(offered.includes('pipeline_parallel_microbatch_size') && offered.includes('data_parallel_shard_degree'));
  for (const gone of ['pipeline_parallel_degree', 'tensor_parallel_degree', 'pipeline_parallel_microbatches']) {
    assert.ok(!offered.includes(gone), gone);
  }
  const old = at(
    'a.toml',
    '[experimental]\npipeline_parallel_degree = 4\n|\n[training]\nbatch_size = 8\n',
    'torchtitan',
  );
  assert.ok(labels(old).includes('pipeline_parallel_microbatches') && !labels(old).includes('tensor_parallel_degree'));
  const training = labels(at('a.toml', `${TITAN}[training.more]\n[model]\n|`, 'torchtitan'));
  assert.deepEqual(training, []);
});

test("a TOML's schedules, and nothing within lists, comments and other sections", () => {
  for (const value of ['|', '"|"', '"1F|', "'Inter|leaved'"]) {
    const place = at('a.toml', `${TITAN}pipeline_parallel_schedule = ${value}`, 'torchtitan');
    assert.equal(chosen(place, 'Interleaved1F1B'), `${TITAN}pipeline_parallel_schedule = "Interleaved1F1B"`, value);
    assert.ok(!labels(place).includes('PipelineScheduleMulti'));
  }
  for (const marked of [
    '# |',
    'pipeline_parallel_split_points = [\n  |\n]',
    'tensor_parallel_degree = |',
    '[[x]]\n|',
  ]) {
    assert.deepEqual(labels(at('a.toml', `${TITAN}${marked}`, 'torchtitan')), [], marked);
  }
});

const NANOTRON = 'parallelism:\n  dp: 1\n  pp: 4\n  tp: 1\n';
const TOKENS = 'tokens:\n  sequence_length: 1024\n';

test("nanotron's keys and engines", () => {
  const keys = at('a.yaml', `${NANOTRON}  pp_|\n${TOKENS}`, 'nanotron');
  assert.equal(chosen(keys, 'pp_engine'), `${NANOTRON}  pp_engine: \n${TOKENS}`);
  assert.ok(!labels(keys).includes('pp') && !labels(keys).includes('micro_batch_size'));
  const engines = at('a.yaml', `${NANOTRON}  pp_engine: |\n${TOKENS}`, 'nanotron');
  assert.deepEqual(labels(engines).sort(), ['1f1b', 'afab']);
});

test("Megatron's keys in the YAML of a framework over it", () => {
  const bridge = (marked: string) =>
    at(
      'a.yaml',
      `trainer:\n  devices: 8\nmodel:\n  tensor_model_parallel_size: 1\n  pipeline_model_parallel_size: 4\n${marked}`,
      'nemo',
    );
  const nemo = `  ${'micro_batch_size: 1\n  global_batch_size: 8\n  num_layers: 32\n'}`;
  const place = bridge(`${nemo}  virt|\n`);
  assert.ok(
    chosen(place, 'virtual_pipeline_model_parallel_size').includes('  virtual_pipeline_model_parallel_size: \n'),
  );
  assert.ok(!labels(place).includes('num_layers'));
  assert.deepEqual(labels(bridge(`${nemo}  activations_checkpoint_granularity: |\n`)), ['full', 'selective']);
});

const DEEPSPEED = '{ "train_batch_size": 64, "fp16": { "enabled": true }';

test("DeepSpeed's keys and ZeRO stages", () => {
  const keys = at('ds_config.json', `${DEEPSPEED}, "grad|" }`, 'deepspeed');
  assert.equal(chosen(keys, 'gradient_accumulation_steps'), `${DEEPSPEED}, "gradient_accumulation_steps":  }`);
  assert.ok(!labels(keys).includes('train_batch_size'));
  const stages = at('ds_config.json', `${DEEPSPEED}, "zero_optimization": { "stage": | } }`, 'deepspeed');
  assert.deepEqual(labels(stages), ['0', '1', '2', '3']);
});

const RECIPE = `from megatron.bridge.training.config import ConfigContainer


def llama_config() -> ConfigContainer:
    cfg = _pretrain_common()
    cfg.model.pipeline_model_parallel_size = 4
`;

test('the names of a recipe, and their words', () => {
  const place = at('recipe.py', `${RECIPE}    cfg.model.virt|\n    return cfg\n`, 'megatron-bridge-python');
  assert.ok(chosen(place, 'virtual_pipeline_model_parallel_size').includes('cfg.model.virtual_pipeline_model_'));
  const sections = at('recipe.py', `${RECIPE}    cfg.|\n    return cfg\n`, 'megatron-bridge-python');
  assert.ok(labels(sections).includes('train') && labels(sections).includes('model'));
  const words = at('recipe.py', `${RECIPE}    cfg.model.recompute_granularity = "|"\n`, 'megatron-bridge-python');
  assert.ok(chosen(words, 'full').endsWith('cfg.model.recompute_granularity = "full"\n'));
  for (const marked of ['    torch.model.|', '    # cfg.model.|', '    print("cfg.model.|")', '    cfg.other.|']) {
    assert.deepEqual(labels(at('recipe.py', `${RECIPE}${marked}\n`, 'megatron-bridge-python')), [], marked);
  }
});

/** Fixtures of the readers that complete, at most two of each. */
const SAMPLES: readonly { readonly reader: Reader; readonly path: string; readonly text: string }[] = READERS.filter(
  (reader) => reader.completions !== undefined,
).flatMap((reader) => {
  const folder = `test/fixtures/${reader.id === 'megatron-lm-yaml' ? 'megatron-lm' : reader.id}`;
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:sh|ya?ml|toml|json|py)$/.test(name))
    .map((name) => ({ reader, path: name, text: readFileSync(`${folder}/${name}`, 'utf8') }))
    .filter(({ path, text }) => reader.claims(path, text) && text.length < 20_000)
    .slice(0, 2);
});

test('a TOML that starts with an empty line and a broken one is read', () => {
  const text = '\n  ob]\n[parallelism]\npipeline_parallel_degree = 4\n';
  const reader = READERS.find((each) => each.claims('a.toml', text));
  assert.equal(reader?.read('a.toml', { 'a.toml': text }, {}).plans.length, 1);
});

test('never throws, and stays in the text, wherever a file is cut', () => {
  assert.ok(SAMPLES.length >= 20, String(SAMPLES.length));
  fc.assert(
    fc.property(
      fc.constantFrom(...SAMPLES),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.nat(6),
      fc.constantFrom('', '--', '.', 'pipe', ': ', '"', ' = ', '{', '\n  '),
      ({ reader, path, text: whole }, share, gone, junk) => {
        const cut = Math.floor(share * whole.length);
        const text = whole.slice(0, cut) + junk + whole.slice(cut + gone);
        for (const item of reader.completions!(path, text, cut + junk.length)) {
          const end = item.offset + item.length;
          assert.ok(item.offset <= cut + junk.length && end >= cut + junk.length && end <= text.length);
          assert.ok(!text.slice(item.offset, end).includes('\n') && item.documentation !== '', item.label);
        }
      },
    ),
    { numRuns: 300 },
  );
});
