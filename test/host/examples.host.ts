/**
 * The examples in a real editor: each shows its codes on its tokens, and editing its microbatch count changes every
 * surface to the numbers that the built command line prints for the saved file.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import { percent } from '../../src/advice/format.ts';
import {
  api,
  closeAll,
  eventually,
  folderUri,
  hoverOver,
  openFile,
  ourDiagnostics,
  replace,
  surfaces,
} from './editor-support.ts';
import type { HostTest } from './host-test.ts';

interface Expectation {
  readonly file: string;
  /** Code, and the piece of text that leads to the token and ends with it. */
  readonly squiggles: readonly (readonly [code: string, before: string, token: string])[];
  /** An edit that changes the microbatch count. */
  readonly edit: readonly [from: string, to: string];
  /** Where the pipeline size stands. */
  readonly anchor: string;
}

const EXPECTED: readonly Expectation[] = [
  {
    file: 'heavy-last-stage.sh',
    squiggles: [['heavy-stage', '    --num-layers ', '32']],
    edit: ['--global-batch-size 1024', '--global-batch-size 256'],
    anchor: '--pipeline-model-parallel-size 8',
  },
  {
    file: 'interleaved-megatron.sh',
    squiggles: [],
    edit: ['--global-batch-size 64', '--global-batch-size 32'],
    anchor: '--pipeline-model-parallel-size 8',
  },
  {
    file: 'measured.pipeline.yaml',
    squiggles: [['too-few-microbatches', '  microbatches: ', '32']],
    edit: ['  microbatches: 32', '  microbatches: 128'],
    anchor: '  size: 8',
  },
  {
    file: 'refused-by-megatron.sh',
    squiggles: [['layers-not-divisible', '    --pipeline-model-parallel-size ', '8']],
    edit: ['--global-batch-size', '--global-batch-size'],
    anchor: '--pipeline-model-parallel-size 8',
  },
  {
    file: 'short-on-microbatches.toml',
    squiggles: [['too-few-microbatches', 'local_batch_size = ', '8']],
    edit: ['local_batch_size = 8', 'local_batch_size = 32'],
    anchor: 'pipeline_parallel_degree = 8',
  },
  {
    file: 'sound-nanotron.yaml',
    squiggles: [],
    edit: ['batch_accumulation_per_replica: 128', 'batch_accumulation_per_replica: 8'],
    anchor: '  pp: 4',
  },
];

interface Explained {
  readonly headline: string | null;
  readonly messages: readonly string[];
}

/** What the built command line prints for a file as it is saved. */
async function explained(uri: vscode.Uri): Promise<Explained> {
  const cli = path.join(process.env.BUBBLELENS_ROOT ?? '', 'dist', 'cli.js');
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, [cli, 'explain', uri.fsPath, '--root', folderUri().fsPath, '--json'], {
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
  });
  const [file] = JSON.parse(stdout).files;
  const [plan] = file.plans;
  const findings: readonly { message: string }[] = [...file.problems, ...plan.findings];
  return {
    headline: plan.report === null ? null : `${percent(plan.report.bubbleFraction)} idle`,
    messages: findings.map((finding) => finding.message).sort(),
  };
}

async function agreesWithExplain(document: vscode.TextDocument, anchor: string): Promise<Explained> {
  await (await api()).settled(document);
  const told = await explained(document.uri);
  const shown = await surfaces(document);
  assert.deepEqual([...shown.messages].sort(), told.messages);
  assert.equal(shown.hints.length, 1);
  const hover = await hoverOver(document, anchor, anchor.length - 1);
  for (const text of [shown.hints[0], shown.lenses[0], hover.replaceAll('*', '')]) {
    assert.ok(text?.includes(told.headline ?? 'refused at launch'), `${text} for ${told.headline}`);
  }
  assert.ok(hover.split('\n').length <= 12, hover);
  return told;
}

function example({ file, squiggles, edit, anchor }: Expectation): HostTest {
  return {
    name: `example ${file}: its codes on its tokens, and the numbers of explain before and after an edit`,
    timeoutMs: 60_000,
    run: async () => {
      const editor = await openFile(file);
      const { document } = editor;
      const text = document.getText();
      const found = ourDiagnostics(document.uri).map((each) => {
        assert.ok(typeof each.code === 'object');
        return [each.code.value, document.offsetAt(each.range.start), document.getText(each.range)];
      });
      const wanted = squiggles.map(([code, before, token]) => [
        code,
        text.indexOf(before + token) + before.length,
        token,
      ]);
      assert.deepEqual(found, wanted);
      const first = await agreesWithExplain(document, anchor);
      const [from, to] = edit;
      if (from !== to) {
        await replace(editor, from, to);
        await document.save();
        const second = await agreesWithExplain(document, anchor);
        assert.notEqual(second.headline, first.headline);
        await vscode.commands.executeCommand('undo');
        await eventually('the undo arrives', () => document.getText() === text);
        await document.save();
        assert.deepEqual(await agreesWithExplain(document, anchor), first);
      }
      await closeAll();
    },
  };
}

const SCRIPT = `#!/bin/bash
source env/sizes.sh
torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py \\
  --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 --max-position-embeddings 4096 \\
  --pipeline-model-parallel-size $PP --micro-batch-size 1 --global-batch-size 64
`;

export const tests: readonly HostTest[] = [
  ...EXPECTED.map(example),
  {
    name: 'a sourced script counts as it stands in the editor or on disk, and only below the folder',
    run: async () => {
      const sizes = folderUri('env', 'sizes.sh');
      const write = (text: string) => vscode.workspace.fs.writeFile(sizes, new TextEncoder().encode(text));
      await write('PP=4\n');
      const outside = vscode.Uri.joinPath(folderUri(), '..', 'outside.sh');
      await vscode.workspace.fs.writeFile(outside, new TextEncoder().encode('PP=2\n'));
      await vscode.workspace.fs.writeFile(folderUri('sourcing.sh'), new TextEncoder().encode(SCRIPT));
      const editor = await openFile('sourcing.sh');
      const { document } = editor;
      const pp = async () => (await (await api()).settled(document))?.analysis.plans[0]?.plan.pp.value;
      assert.equal(await pp(), 4);
      const companion = await vscode.workspace.openTextDocument(sizes);
      const unsaved = new vscode.WorkspaceEdit();
      unsaved.replace(sizes, new vscode.Range(0, 3, 0, 4), '8');
      await vscode.workspace.applyEdit(unsaved);
      assert.equal(await pp(), 8);
      const [config, shared] = [await surfaces(document), await surfaces(companion)];
      assert.ok(config.hints[0]?.includes('idle'));
      assert.deepEqual(shared.hints, [`sourcing.sh: ${config.hints[0]}`], 'the number stands where the size is set');
      assert.match(await hoverOver(companion, 'PP=', 3), /idle/);
      await companion.save();
      await write('PP=16\n');
      await eventually('the change on disk arrives', async () => (await pp()) === 16, 15_000);
      await replace(editor, 'env/sizes.sh', '../outside.sh');
      assert.equal(await pp(), null, 'nothing outside the folder is read');
      await symlink(outside.fsPath, folderUri('env', 'way-out.sh').fsPath);
      await replace(editor, '../outside.sh', 'env/way-out.sh');
      assert.equal(await pp(), null, 'nor through a link');
      await symlink(sizes.fsPath, folderUri('env', 'way-in.sh').fsPath);
      await replace(editor, 'env/way-out.sh', 'env/way-in.sh');
      assert.equal(await pp(), 16, 'a link within the folder is fine');
      await vscode.workspace.fs.delete(outside);
      await closeAll();
    },
  },
];
