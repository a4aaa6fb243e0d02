/**
 * One file of each kind of text in a real editor, as a person meets it: the squiggle on its token, the number in the
 * hover, a completion, and a fix that is applied, keeps its promise and is taken back by one undo.
 */

import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { api, eventually, fixTitles, hoverOver, openConfig, ourDiagnostics } from './editor-support.ts';
import type { HostTest } from './host-test.ts';

interface Kind {
  readonly kind: string;
  readonly name: string;
  readonly language: string;
  readonly text: string;
  /** The token of the pipeline size, with what stands before it. */
  readonly size: { readonly after: string; readonly token: string };
  /** In percent, in the hover there: (pp - 1) / (microbatches + pp - 1), what a 1F1B schedule costs by hand. */
  readonly idle: string;
  /** The number that the squiggle of too few microbatches covers, with what stands before it; the fix replaces it. */
  readonly squiggle: { readonly after: string; readonly token: string };
  /** Typed after a text, and one of the items that come. */
  readonly typing: { readonly after: string; readonly typed: string; readonly item: string };
}

const SHELL = `#!/bin/bash
# bubblelens: gpus=64
torchrun --nproc-per-node 8 --nnodes 8 pretrain_gpt.py \\
  --tensor-model-parallel-size 2 \\
  --pipeline-model-parallel-size 8 \\
  --num-layers 32 --hidden-size 4096 --num-attention-heads 32 \\
  --seq-length 4096 --max-position-embeddings 4096 \\
  --micro-batch-size 1 --global-batch-size 32 \\
  --bf16
`;

const YAML = `parallelism:
  dp: 2
  pp: 4
  tp: 1
  pp_engine: 1f1b
tokens:
  batch_accumulation_per_replica: 4
  micro_batch_size: 1
  sequence_length: 2048
model:
  model_config:
    num_hidden_layers: 32
`;

const TOML = `# for 32 GPUs
[training]
local_batch_size = 8
seq_len = 8192

[parallelism]
pipeline_parallel_degree = 4
pipeline_parallel_schedule = "1F1B"

[model]
name = "llama3"
flavor = "8B"
`;

const JSON_TEXT = `{
  "train_micro_batch_size_per_gpu": 2,
  "gradient_accumulation_steps": 4,
  "steps_per_print": 10,
  "fp16": { "enabled": true }
}
`;
const JSON_SCRIPT = 'deepspeed --num_gpus 8 train.py --deepspeed_config ds_config.json --pipeline-parallel-size 4\n';

const PYTHON = `from megatron.bridge.training.config import ConfigContainer


def dense_32gpu_config() -> ConfigContainer:
    cfg = _pretrain_common()
    cfg.model.num_layers = 32
    cfg.model.pipeline_model_parallel_size = 4
    cfg.train.micro_batch_size = 1
    cfg.train.global_batch_size = 64
    return cfg
`;

const KINDS: readonly Kind[] = [
  {
    kind: 'shell',
    name: 'kinds/train.sh',
    language: 'shellscript',
    text: SHELL,
    size: { after: '--pipeline-model-parallel-size ', token: '8' },
    idle: '46.7',
    squiggle: { after: '--global-batch-size ', token: '32' },
    typing: { after: '--bf16', typed: ' --recomp', item: '--recompute-granularity' },
  },
  {
    kind: 'YAML',
    name: 'kinds/nanotron.yaml',
    language: 'yaml',
    text: YAML,
    size: { after: 'pp: ', token: '4' },
    idle: '42.9',
    squiggle: { after: 'batch_accumulation_per_replica: ', token: '4' },
    typing: { after: 'pp_engine: 1f1b', typed: '\n  recomp', item: 'recompute_layer' },
  },
  {
    kind: 'TOML',
    name: 'kinds/torchtitan.toml',
    language: 'toml',
    text: TOML,
    size: { after: 'pipeline_parallel_degree = ', token: '4' },
    idle: '27.3',
    squiggle: { after: 'local_batch_size = ', token: '8' },
    typing: { after: '"1F1B"', typed: '\npipeline_parallel_mi', item: 'pipeline_parallel_microbatch_size' },
  },
  {
    kind: 'JSON',
    name: 'kinds/ds_config.json',
    language: 'json',
    text: JSON_TEXT,
    size: { after: '"gradient_accumulation_steps": ', token: '4' },
    idle: '42.9',
    squiggle: { after: '"gradient_accumulation_steps": ', token: '4' },
    typing: { after: '"steps_per_print": 10,', typed: '\n  "train_', item: 'train_batch_size' },
  },
  {
    kind: 'Python',
    name: 'kinds/recipe.py',
    language: 'python',
    text: PYTHON,
    size: { after: 'pipeline_model_parallel_size = ', token: '4' },
    idle: '27.3',
    squiggle: { after: 'cfg.train.global_batch_size = ', token: '64' },
    typing: {
      after: 'cfg.model.num_layers = 32',
      typed: '\n    cfg.model.virtual_',
      item: 'virtual_pipeline_model_parallel_size',
    },
  },
];

function codeOf({ code }: vscode.Diagnostic): string {
  return typeof code === 'object' ? String(code.value) : '';
}

/** The item comes at the cursor, and choosing it leaves a text in which it stands. */
async function completes(editor: vscode.TextEditor, { typing, text }: Kind): Promise<void> {
  const { document } = editor;
  const start = text.indexOf(typing.after) + typing.after.length;
  assert.ok(await editor.edit((edit) => edit.insert(document.positionAt(start), typing.typed)));
  const list = await vscode.commands.executeCommand<vscode.CompletionList>(
    'vscode.executeCompletionItemProvider',
    document.uri,
    document.positionAt(start + typing.typed.length),
  );
  const item = list.items.find((each) => each.label === typing.item);
  assert.ok(item, `${typing.item} is not among ${list.items.map((each) => String(each.label)).join(' ')}`);
  assert.ok(typeof item.documentation === 'string' ? item.documentation : item.documentation?.value, 'it is explained');
  assert.ok(item.range instanceof vscode.Range && typeof item.insertText === 'string');
  assert.ok(typing.typed.endsWith(document.getText(item.range)), document.getText(item.range));
  await vscode.commands.executeCommand('undo');
  await eventually('the undo arrives', () => document.getText() === text);
  await (await api()).settled(document);
}

function headline(result: Awaited<ReturnType<Awaited<ReturnType<typeof api>>['settled']>>): string {
  return result?.analysis.plans[0]?.texts.headline ?? '';
}

/** A fix says what becomes of the idle share; the text changes in one token, and the share becomes that. */
async function mends(
  document: vscode.TextDocument,
  diagnostic: vscode.Diagnostic,
  { squiggle, text }: Kind,
): Promise<void> {
  const { settled } = await api();
  const before = headline(await settled(document));
  const [action] = await fixTitles(document, diagnostic.range);
  assert.ok(action?.edit, 'there is a fix');
  const promised = /([\d.]+ %) to ([\d.]+ %)/.exec(action.title);
  assert.ok(promised, action.title);
  assert.ok(before.startsWith(promised[1]!), `${action.title}: it is ${before}`);
  const [[, edits] = [null, []]] = action.edit.entries();
  assert.equal(edits.length, 1);
  const { range, newText } = edits[0]!;
  assert.equal(document.getText(range), squiggle.token);
  assert.match(newText, /^\d+$/);
  const mended = text.slice(0, document.offsetAt(range.start)) + newText + text.slice(document.offsetAt(range.end));
  assert.ok(await vscode.workspace.applyEdit(action.edit));
  assert.equal(document.getText(), mended);
  const after = headline(await settled(document));
  assert.ok(after.startsWith(promised[2]!), `${action.title}: it became ${after}`);
  await vscode.commands.executeCommand('undo');
  await eventually('one undo takes it back', () => document.getText() === text);
  assert.equal(headline(await settled(document)), before);
}

async function meets(kind: Kind): Promise<void> {
  const editor = await openConfig(kind.name, kind.text);
  const { document } = editor;
  assert.equal(document.languageId, kind.language);
  const shown = headline(await (await api()).settled(document));
  const hover = await hoverOver(document, `${kind.size.after}${kind.size.token}`, kind.size.after.length);
  assert.ok(shown !== '' && hover.includes(shown) && hover.includes(kind.idle), `${shown}: ${hover}`);
  const found = ourDiagnostics(document.uri).find((each) => codeOf(each) === 'too-few-microbatches');
  assert.ok(found, ourDiagnostics(document.uri).map(codeOf).join());
  const { after, token } = kind.squiggle;
  assert.equal(document.offsetAt(found.range.start), kind.text.indexOf(`${after}${token}`) + after.length);
  assert.equal(document.getText(found.range), token);
  await completes(editor, kind);
  await mends(document, found, kind);
}

export const tests: readonly HostTest[] = KINDS.map((kind) => ({
  name: `kinds of text: ${kind.kind} has its squiggle, hover, completion and fix`,
  run: async () => {
    if (kind.kind === 'JSON') await openConfig('kinds/train.sh', JSON_SCRIPT);
    await meets(kind);
  },
}));
