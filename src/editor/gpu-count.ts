/** "Set GPU Count": says what many configs leave out. An empty answer forgets the count again. */

import * as vscode from 'vscode';
import { gpuCountProblem } from './gpu-count-text.ts';
import { baseName } from './paths.ts';
import type { Sayings } from './said.ts';

/** `count` is given by a keybinding or a test; otherwise the user is asked. */
export async function setGpuCount(sayings: Sayings, uri: vscode.Uri, count: unknown): Promise<void> {
  if (count === null || (typeof count === 'number' && gpuCountProblem(String(count)) === null)) {
    return sayings.setGpus(uri, count);
  }
  const known = sayings.gpus(uri);
  const typed = await vscode.window.showInputBox({
    title: `Set GPU Count: ${baseName(uri.path)}`,
    prompt: 'How many GPUs the run uses in total. Remembered for this file; leave it empty to forget.',
    placeHolder: 'For example 64',
    value: known === null ? '' : String(known),
    validateInput: gpuCountProblem,
  });
  if (typed === undefined) return;
  await sayings.setGpus(uri, typed.trim() === '' ? null : Number(typed.trim()));
}
