/**
 * What the user said about a file that the file itself does not hold, so far the GPU count. It is remembered per file
 * in the workspace's state; for a document without a file it lasts as long as the window.
 */

import * as vscode from 'vscode';
import type { Said } from '../model/plan.ts';

const KEY = 'bubblelens.gpuCounts';

export interface Sayings {
  readonly of: (uri: vscode.Uri) => Said;
  readonly gpus: (uri: vscode.Uri) => number | null;
  /** `null` forgets the count. */
  readonly setGpus: (uri: vscode.Uri, gpus: number | null) => Promise<void>;
  readonly onDidChange: vscode.Event<vscode.Uri>;
}

export function createSayings(state: vscode.Memento): Sayings & vscode.Disposable {
  const changed = new vscode.EventEmitter<vscode.Uri>();
  const counts = new Map<string, number>(Object.entries(state.get<Record<string, number>>(KEY, {})));
  const gpus = (uri: vscode.Uri): number | null => counts.get(uri.toString()) ?? null;
  return {
    gpus,
    of: (uri) => {
      const value = gpus(uri);
      return value === null ? {} : { 'cluster.gpus': { value, by: 'Set GPU Count' } };
    },
    setGpus: async (uri, count) => {
      if (count === null) counts.delete(uri.toString());
      else counts.set(uri.toString(), count);
      changed.fire(uri);
      await state.update(KEY, Object.fromEntries([...counts].filter(([key]) => !key.startsWith('untitled:'))));
    },
    onDidChange: changed.event,
    dispose: () => changed.dispose(),
  };
}
