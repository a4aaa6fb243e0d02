/** "Export Timeline as Chrome Trace": the simulated timeline as a file that Perfetto and other viewers open. */

import * as vscode from 'vscode';
import type { DocumentAnalysis } from './document-analysis.ts';
import { baseName } from './paths.ts';
import type { Thread } from './thread.ts';

/** `target` is given by a test or a keybinding; otherwise the user chooses where to save. */
export async function exportTrace(
  thread: Thread,
  result: DocumentAnalysis,
  planId: string | null,
  target: unknown,
): Promise<void> {
  const plans = result.shown.plans.map((shown) => shown.analysis);
  const plan = plans.find((each) => each.plan.id === planId) ?? plans[0];
  if (plan === undefined || plan.report === null) return sayNone(plan?.noReport ?? 'no plan found');
  const uri = target instanceof vscode.Uri ? target : await chooseTarget(result);
  if (uri === undefined) return;
  const outcome = await thread.ask(`trace of ${uri}`, 'trace', plan);
  if (outcome.status === 'cancelled') return;
  if (outcome.status !== 'done') return sayNone(outcome.reason);
  await vscode.workspace.fs.writeFile(uri, outcome.value);
  vscode.window.setStatusBarMessage(`Trace written: ${baseName(uri.path)}`, 5000);
}

function sayNone(reason: string): void {
  vscode.window.showInformationMessage(`Bubblelens: there is no timeline: ${reason}.`);
}

function chooseTarget({ place }: DocumentAnalysis): Thenable<vscode.Uri | undefined> {
  const name = `${baseName(place.file)}.trace.json`;
  const folder = place.root ?? vscode.workspace.workspaceFolders?.[0]?.uri;
  return vscode.window.showSaveDialog({
    title: 'Export Timeline as Chrome Trace',
    filters: { 'Chrome trace': ['json'] },
    ...(folder === undefined ? {} : { defaultUri: vscode.Uri.joinPath(folder, name) }),
  });
}
