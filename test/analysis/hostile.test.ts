/**
 * Bad input through the whole facade: never a throw, a hang or an invented number. Each case of the list is read as
 * every kind of file; the law cuts and splices the shipped examples.
 */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { settled } from '../../src/advice/missing-companions.ts';
import { analyse, explainText, prepare, readerFor, timelineView, withFixes } from '../../src/analysis.ts';
import type { Analysis } from '../../src/model/analysis.ts';
import { DEFAULT_ANALYSIS_SETTINGS } from '../../src/model/settings.ts';
import type { TextRange } from '../../src/model/source.ts';

const EXAMPLES = join(process.cwd(), 'examples');
const TEXTS = readdirSync(EXAMPLES)
  .filter((file) => !file.endsWith('.md'))
  .map((file) => ({ file, text: readFileSync(join(EXAMPLES, file), 'utf8') }));
const NATIVE = TEXTS.find(({ file }) => file.endsWith('.pipeline.yaml'))!;
const SECONDS_AT_MOST = 20;

/** Analyses, with every check that holds whatever the text; returns the analysis, or null where nobody claims it. */
async function survives(file: string, text: string): Promise<Analysis | null> {
  const began = performance.now();
  const reader = readerFor(file, text);
  if (reader === null) return null;
  await prepare(reader);
  const input = { file, texts: { [file]: text }, said: {}, settings: DEFAULT_ANALYSIS_SETTINGS };
  const analysis = settled(withFixes(input, analyse(input)), text);
  const inside = ({ file: of, offset, length }: TextRange) =>
    of !== file || (offset >= 0 && length >= 0 && offset + length <= text.length);
  for (const { range, message } of [...analysis.problems, ...analysis.plans.flatMap((plan) => plan.findings)]) {
    assert.ok(inside(range), `a range lies inside the file: ${JSON.stringify(range)}`);
    assert.ok(message.length > 0 && !message.includes('\n'), 'a message is one line');
    assert.doesNotMatch(message, /NaN|Infinity|undefined|\[object/, message);
  }
  for (const { plan, report, texts } of analysis.plans) {
    assert.ok(inside(plan.anchor));
    assert.ok(report === null || (report.bubbleFraction >= 0 && report.bubbleFraction <= 1));
    for (const shown of [texts.hint, texts.lens, texts.hover, texts.status]) {
      assert.doesNotMatch(shown, /NaN|Infinity|undefined|\[object/, shown);
    }
    timelineView(analysis, plan.id);
  }
  explainText(analysis);
  assert.ok(performance.now() - began < SECONDS_AT_MOST * 1000, 'it ends');
  return analysis;
}

const native = (body: string) => `bubblelens: 1\n${body}\n`;
const deep = (open: string, close: string) => open.repeat(50_000) + close.repeat(50_000);

const LAUNCH =
  'torchrun --nproc_per_node 8 --nnodes 1 pretrain_gpt.py --num-layers 8 --micro-batch-size 1 --pipeline-model-parallel-size 4 --global-batch-size 32';

const CASES: Readonly<Record<string, string>> = {
  empty: '',
  'white space': ' \n\t\r\n',
  binary: String.fromCharCode(...Array.from({ length: 4096 }, (_, i) => (i * 7919) % 256)),
  'NUL bytes': `${NATIVE.text.slice(0, 200)}\0\0\0${NATIVE.text.slice(200)}`,
  'a BOM and CRLF': `\uFEFF${NATIVE.text.replaceAll('\n', '\r\n')}`,
  'lone surrogates': `${NATIVE.text}\n# \uD800\n\uDC00: 1\n`,
  '20 MB': NATIVE.text + `# ${'x'.repeat(1023)}\n`.repeat(20_000),
  'an alias bomb': native(
    `a: &a [1,1,1,1,1,1,1,1,1]\n${'bcdefghijk'
      .split('')
      .map((k, i) => `${k}: &${k} [${`*${'abcdefghij'[i]},`.repeat(9)}]`)
      .join('\n')}\npipeline: { size: 4 }`,
  ),
  'a merge cycle': native('pipeline: &p\n  <<: *p\n  size: 4'),
  'merge keys that name each other': native('a: &a { <<: *b }\nb: &b { <<: *a }\npipeline: { <<: *a, size: 4 }'),
  'deep lists': native(`x: ${deep('[', ']')}`),
  'deep maps': native(deep('{a: ', '}')),
  'deep JSON': deep('{"a":[', ']}'),
  'pp -1': native('pipeline: { size: -1, schedule: 1f1b, microbatches: 8 }'),
  'pp 1e9': native('pipeline: { size: 1e9, schedule: 1f1b, microbatches: 8 }\nmodel: { layers: 32 }'),
  'pp 1e9 in words': native('pipeline: { size: 1000000000, schedule: 1f1b, microbatches: 8 }'),
  'ten million microbatches': native('pipeline: { size: 8, schedule: 1f1b, microbatches: 10000000 }'),
  'a million virtual stages': native(
    'pipeline: { size: 8, schedule: interleaved-1f1b, virtualStages: 1000000, microbatches: 8 }',
  ),
  'not a number': native('pipeline: { size: .nan, schedule: 1f1b, microbatches: .inf }'),
  'numbers as words': native('pipeline: { size: four, schedule: 1f1b, microbatches: "8x" }'),
  'duplicate keys': native('pipeline: { size: 4, size: 8, schedule: 1f1b }\npipeline: { size: 2 }'),
  'prototype keys': native(
    '__proto__: { size: 4 }\nconstructor: 1\npipeline: { __proto__: 3, toString: 1, hasOwnProperty: 2, size: 4 }',
  ),
  'half a key': native('pipeline: { size: 4, sche'),
  'pp -1 beside a product': native(
    'pipeline: { size: -1, schedule: 1f1b, microbatches: 8 }\nparallel: { tensor: 8, data: 1, context: 1 }\ncluster: { gpus: 64 }',
  ),
  'pp 1e9 beside a product': native(
    'pipeline: { size: 1e9, schedule: 1f1b, microbatches: 8 }\nparallel: { tensor: 8, data: 1, context: 1 }\ncluster: { gpus: 64 }',
  ),
  'no pp beside a product': native(
    'pipeline: { size: , schedule: 1f1b, microbatches: 8 }\nparallel: { tensor: 8, data: 1, context: 1 }\ncluster: { gpus: 64 }',
  ),
  'pp with a brace beside a product': native(
    'pipeline:\n  size: 8 }\n  schedule: 1f1b\n  microbatches: 8\nparallel: { tensor: 8, data: 1, context: 1 }\ncluster: { gpus: 64 }',
  ),
  'a tab': native('pipeline:\n\tsize: 4'),
  'a line that never ends': native(`pipeline: { size: ${'9'.repeat(100_000)} }`),
  'Megatron, pp -1':
    'torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --pipeline-model-parallel-size -1 --micro-batch-size 1',
  'Megatron, pp 1e9':
    'torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 1000000000 --pipeline-model-parallel-size 1000000000 --micro-batch-size 1',
  'Megatron, ten million microbatches':
    'torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --pipeline-model-parallel-size 8 --micro-batch-size 1 --global-batch-size 10000000',
  'Megatron, a bomb of variables': `A=xxxxxxxx\n${'A="$A$A$A$A"\n'.repeat(64)}torchrun pretrain_gpt.py --pipeline-model-parallel-size 8 $A`,
  'Megatron, a bomb of arrays': `A=(--x)\n${`A+=("\${A[@]}" "\${A[@]}")\n`.repeat(64)}torchrun pretrain_gpt.py --pipeline-model-parallel-size 8 "\${A[@]}"`,
  'Megatron, arithmetic':
    'PP=$((1/0)); TP=$((9**9**9)); torchrun pretrain_gpt.py --pipeline-model-parallel-size $PP --tensor-model-parallel-size $TP',
  'Megatron, a layout bomb':
    'torchrun pretrain_gpt.py --num-layers 8 --pipeline-model-parallel-size 8 --pipeline-model-parallel-layout "E(((t*99999999|)*99999999)*999999999)L"',
  'Megatron, very many lines': `${'true\n'.repeat(180_000)}${LAUNCH}`,
  'Megatron, very many commands': `${'true;'.repeat(190_000)}${LAUNCH}`,
  'Megatron, a long pipe': `${'a|'.repeat(200_000)}${LAUNCH}`,
  'Megatron, a long condition': `${'a&&'.repeat(200_000)}${LAUNCH}`,
  'Megatron, very many assignments': `${'A=1 '.repeat(200_000)}${LAUNCH}`,
  'Megatron, flags that are never launched': `X="--pipeline-model-parallel-size 4 ${'--a 1 '.repeat(160_000)}"\n`,
  'Megatron, an array that grows': `${'X+=(--x)\n'.repeat(2000)}${LAUNCH}`,
  'a merge of very many': native(`a: &a { size: 4 }\npipeline:\n  <<: [${'*a,'.repeat(80_000)}]`),
  'Python, a list of very many': `ARGS = [${'1,'.repeat(200_000)}]\nB = [*ARGS]\n`,
  'Megatron, open quote': `${TEXTS.find(({ file }) => file.endsWith('.sh'))!.text}\nX="never closed`,
  'torchtitan, pp 1e9':
    '[job]\n[model]\nname = "llama3"\nflavor = "8B"\n[training]\nlocal_batch_size = 9007199254740993\n[parallelism]\npipeline_parallel_degree = 1000000000\n',
  'torchtitan, wrong types':
    '[job]\n[model]\nflavor = 3\n[training]\nlocal_batch_size = "x"\n[parallelism]\npipeline_parallel_degree = [4]\npipeline_parallel_schedule = 7\n',
  'nanotron, pp 1e9':
    'parallelism: { dp: 1, pp: 1000000000, tp: 1 }\ntokens: { batch_accumulation_per_replica: 8, micro_batch_size: 1, sequence_length: 8 }\nmodel: { model_config: { num_hidden_layers: 1000000000, hidden_size: 8 } }\n',
  'nanotron, nothing': 'parallelism:\ntokens:\n',
};

const FILES = ['a.pipeline.yaml', 'a.pipeline.json', 'a.sh', 'a.toml', 'a.yaml', 'a.json', 'a.py'];

for (const [name, text] of Object.entries(CASES)) {
  test(`bad input: ${name}`, async () => {
    for (const file of FILES) await survives(file, text);
  });
}

test('sizes that cannot be are findings, never a report', async () => {
  const names = ['pp -1', 'pp 1e9', 'pp 1e9 in words', 'not a number', 'numbers as words'];
  for (const name of [...names, ...Object.keys(CASES).filter((each) => each.endsWith('beside a product'))]) {
    const analysis = await survives('a.pipeline.yaml', CASES[name]!);
    const said = [...analysis!.problems, ...analysis!.plans.flatMap((plan) => plan.findings)];
    assert.ok(
      said.some(({ code }) => ['invalid-value', 'missing-value', 'syntax-error'].includes(code)),
      `${name} is said`,
    );
    assert.ok(
      analysis!.plans.every(({ plan, report }) => report === null && plan.pp.value === null),
      `${name} has no size and no report`,
    );
  }
});

test('ten million microbatches are answered by the steady state, and have no picture', async () => {
  const sized = `${CASES['ten million microbatches']}model: { layers: 32 }\n`;
  const analysis = await survives('a.pipeline.yaml', sized);
  const [plan] = analysis!.plans;
  // 1F1B with equal stages: (pp - 1) / (microbatches + pp - 1).
  assert.ok(Math.abs(plan!.report!.bubbleFraction - 7 / 10_000_007) < 1e-15);
  assert.ok(plan!.findings.every((finding) => finding.code !== 'too-large-to-simulate'));
  const { view, reason } = { reason: '', ...timelineView(analysis!, plan!.plan.id) };
  assert.equal(view, null);
  assert.match(reason, /^too long to draw: 160,000,000 actions are too many to simulate \(at most 8,000,000\)$/);
});

test('what is refused for its size alone says so in one line, and is no error', async () => {
  const refused = {
    'size: 8, schedule: zb-1p, microbatches: 20000': /480,000 actions are too many to search an order for/,
    'size: 600, schedule: v-half, virtualStages: 2, microbatches: 8': /600 ranks are too many to search an order for/,
    'size: 600, schedule: 1f1b-v, virtualStages: 2, microbatches: 8': /600 ranks are too many to lay out/,
    'size: 64, schedule: gpipe, microbatches: 100000': /12,800,000 actions are too many to simulate/,
    'size: 4096, schedule: interleaved-1f1b, virtualStages: 32, microbatches: 4096': /each are too many to simulate/,
  };
  for (const [pipeline, reason] of Object.entries(refused)) {
    const analysis = await survives('a.pipeline.yaml', native(`pipeline: { ${pipeline} }\nmodel: { layers: 9600 }`));
    const [plan] = analysis!.plans;
    assert.equal(plan?.report, null, pipeline);
    assert.match(plan?.noReport ?? '', reason);
    const { code, severity, message } = plan!.findings.find((each) => each.message.startsWith('Not simulated: '))!;
    assert.deepEqual([code, severity], ['too-large-to-simulate', 'information']);
    assert.match(message, reason);
    assert.ok(
      plan!.findings.every((each) => each.severity !== 'error'),
      JSON.stringify(plan!.findings),
    );
    const { view, reason: why } = { reason: '', ...timelineView(analysis!, '') };
    assert.equal(view, null);
    assert.match(why, reason);
  }
});

test('a BOM and CRLF move no range: the anchor still holds the size', async () => {
  const text = CASES['a BOM and CRLF']!;
  const analysis = await survives('a.pipeline.yaml', text);
  const { offset, length } = analysis!.plans[0]!.plan.anchor;
  assert.equal(text.slice(offset, offset + length), '8');
});

test('law: cut and spliced examples are survived', async () => {
  const texts = fc.constantFrom(...TEXTS);
  const scissors = fc.tuple(texts, texts, fc.nat(), fc.nat());
  await fc.assert(
    fc.asyncProperty(scissors, async ([head, tail, a, b]) => {
      const spliced = head.text.slice(0, a % (head.text.length + 1)) + tail.text.slice(b % (tail.text.length + 1));
      await survives(head.file, spliced);
    }),
    { numRuns: 300 },
  );
});

test('law: random characters thrown into examples are survived', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...TEXTS),
      fc.nat(),
      fc.string({ unit: 'binary', maxLength: 12 }),
      async ({ file, text }, at, junk) => {
        const cut = at % (text.length + 1);
        await survives(file, text.slice(0, cut) + junk + text.slice(cut));
      },
    ),
    { numRuns: 300 },
  );
});

test('a script with very many statements is read, and one that does too much says so', async () => {
  const read = async (name: string) => (await survives('a.sh', CASES[`Megatron, ${name}`]!))!;
  for (const name of ['very many lines', 'a long pipe']) {
    const { plans, problems } = await read(name);
    assert.deepEqual([plans[0]?.plan.pp.value, plans[0]?.report !== null, problems], [4, true, []], name);
  }
  for (const name of ['an array that grows', 'a bomb of variables', 'a bomb of arrays']) {
    const { plans, problems } = await read(name);
    assert.equal(plans.length, 1, name);
    assert.deepEqual(
      problems.map((each) => each.code),
      ['too-much-to-follow'],
    );
    assert.ok(problems[0]!.range.length > 0, 'at a line');
  }
});
