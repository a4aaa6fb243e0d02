/** Completion in every file that a reader claims: what its reader offers at the cursor, bound to the editor. */

import * as vscode from 'vscode';
import { LANGUAGES } from './languages.ts';
import { attemptAsync, type Log } from './log.ts';
import { placeOf } from './places.ts';
import type { Thread } from './thread.ts';

const TRIGGERS = [' ', ':', '"', '{', ',', '-', '=', '.'];

export function registerCompletion(thread: Thread, log: Log): vscode.Disposable {
  return vscode.languages.registerCompletionItemProvider(
    LANGUAGES.map((language) => ({ language })),
    {
      provideCompletionItems: (document, position) =>
        attemptAsync(log, 'completion', [], () => completionItems(thread, document, position)),
    },
    ...TRIGGERS,
  );
}

async function completionItems(
  thread: Thread,
  document: vscode.TextDocument,
  position: vscode.Position,
): Promise<vscode.CompletionItem[]> {
  const { file } = placeOf(document);
  const text = document.getText();
  const offset = document.offsetAt(position);
  const outcome = await thread.ask(`completions of ${document.uri}`, 'completions', { file, text, offset });
  if (outcome.status === 'cancelled') return [];
  if (outcome.status !== 'done') throw new Error(outcome.reason);
  return outcome.value.map((each, index) => {
    const kind = each.kind === 'key' ? vscode.CompletionItemKind.Property : vscode.CompletionItemKind.EnumMember;
    const item = new vscode.CompletionItem(each.label, kind);
    item.insertText = each.insertText;
    item.range = new vscode.Range(document.positionAt(each.offset), document.positionAt(each.offset + each.length));
    item.documentation = each.documentation;
    item.sortText = String(index).padStart(4, '0');
    const quote = text.slice(each.offset, each.offset + 1);
    item.filterText = quote === '"' || quote === "'" ? `${quote}${each.label}${quote}` : each.label;
    return item;
  });
}
