/**
 * The commands. Each takes, all optional, the config's address and the plan's id, as a lens or a link hands them
 * over; without them it concerns the active editor.
 */

import * as vscode from 'vscode';
import type { CommandId } from '../model/commands.ts';
import { documentFor } from './active-config.ts';
import type { AnalysisStore } from './analysis-store.ts';
import type { DocumentAnalysis } from './document-analysis.ts';
import { openExample } from './examples.ts';
import { setGpuCount } from './gpu-count.ts';
import type { Log } from './log.ts';
import { openReport } from './report-document.ts';
import type { Sayings } from './said.ts';
import type { Thread } from './thread.ts';
import type { TimelinePanels } from './timeline-panels.ts';
import { exportTrace } from './trace-export.ts';

export interface CommandParts {
  readonly context: vscode.ExtensionContext;
  readonly store: AnalysisStore;
  readonly sayings: Sayings;
  readonly panels: TimelinePanels;
  readonly thread: Thread;
  readonly log: Log;
}

type Run = (uri: unknown, planId: unknown, extra: unknown) => Promise<void> | void;

export function registerCommands(parts: CommandParts): vscode.Disposable {
  const { context, store, sayings, panels, thread, log } = parts;
  const onConfig =
    (run: (result: DocumentAnalysis, planId: string | null, extra: unknown) => Promise<void> | void): Run =>
    async (uri, planId, extra) => {
      const document = documentFor(uri);
      const result = document === null ? null : (store.current(document) ?? (await store.settled(document)));
      if (result === null) {
        vscode.window.showInformationMessage('Bubblelens: open a pipeline config first.');
        return;
      }
      await run(result, typeof planId === 'string' ? planId : null, extra);
    };
  const commands: Readonly<Record<CommandId, Run>> = {
    'bubblelens.showTimeline': onConfig(({ place }, planId) => panels.open(place.uri, planId)),
    'bubblelens.explainConfig': onConfig(({ place }) => openReport(place.uri)),
    'bubblelens.setGpuCount': onConfig(({ place }, _planId, count) => setGpuCount(sayings, place.uri, count)),
    'bubblelens.exportTrace': onConfig((result, planId, target) => exportTrace(thread, result, planId, target)),
    'bubblelens.openExample': (name) => openExample(context.extensionUri, name),
  };
  return vscode.Disposable.from(
    ...Object.entries(commands).map(([id, run]) =>
      vscode.commands.registerCommand(id, async (uri?: unknown, planId?: unknown, extra?: unknown) => {
        try {
          await run(uri, planId, extra);
        } catch (error) {
          log.failed(id, error);
          const choice = await vscode.window.showErrorMessage('Bubblelens: that did not work.', 'Show Log');
          if (choice !== undefined) log.show();
        }
      }),
    ),
  );
}
