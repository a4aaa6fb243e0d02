/** Completion in native pipeline files: what the format's table offers at the cursor, bound to the editor. */

import * as vscode from 'vscode';
import { loadCore } from './core.ts';
import { LANGUAGES } from './languages.ts';
import { attemptAsync, type Log } from './log.ts';
import { placeOf } from './places.ts';

const NATIVE = 'native';
const TRIGGERS = [' ', ':', '"', '{', ','];

export function registerCompletion(log: Log): vscode.Disposable {
  return vscode.languages.registerCompletionItemProvider(
    LANGUAGES.map((language) => ({ language })),
    {
      provideCompletionItems: (document, position) =>
        attemptAsync(log, 'completion', [], () => completionItems(document, position)),
    },
    ...TRIGGERS,
  );
}

async function completionItems(
  document: vscode.TextDocument,
  position: vscode.Position,
): Promise<vscode.CompletionItem[]> {
  const { file } = placeOf(document);
  const text = document.getText();
  const offset = document.offsetAt(position);
  const core = await loadCore();
  const reader = core.readerFor(file, text);
  if (reader?.id !== NATIVE) return [];
  await core.prepare(reader);
  return core.completions(file, text, offset).map((each, index) => {
    const kind = each.kind === 'key' ? vscode.CompletionItemKind.Property : vscode.CompletionItemKind.EnumMember;
    const item = new vscode.CompletionItem(each.label, kind);
    item.insertText = each.insertText;
    item.range = new vscode.Range(document.positionAt(each.offset), document.positionAt(each.offset + each.length));
    item.documentation = each.documentation;
    item.sortText = String(index).padStart(4, '0');
    item.filterText = text.slice(each.offset, each.offset + 1) === '"' ? `"${each.label}"` : each.label;
    return item;
  });
}
