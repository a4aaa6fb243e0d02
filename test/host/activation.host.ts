/** When the extension starts, and when it must not: it costs nothing in a window that has no pipeline config. */

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { HostTest } from './host-test.ts';

const ID = 'bubblelens.bubblelens';

export const tests: readonly HostTest[] = [
  {
    name: 'is not active in an empty window',
    window: 'empty',
    run: async () => {
      const extension = vscode.extensions.getExtension(ID);
      assert.ok(extension, `${ID} is not installed`);
      await sleep(1000);
      assert.equal(extension.isActive, false);
    },
  },
  {
    name: 'runs in the editor that its manifest asks for',
    run: async () => {
      const extension = vscode.extensions.getExtension(ID);
      assert.ok(extension, `${ID} is not installed`);
      const oldest = String(extension.packageJSON.engines.vscode).replace('^', '').split('.').map(Number);
      const running = vscode.version.split('.').map(Number);
      assert.equal(running[0], oldest[0]);
      assert.ok((running[1] ?? 0) >= (oldest[1] ?? 0), `VS Code ${vscode.version} is older than the manifest allows`);
      assert.equal(vscode.workspace.workspaceFolders?.length, 1);
    },
  },
];
