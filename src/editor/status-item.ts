/** The language status of the active config: its idle share in two words, and a way to the timeline. */

import * as vscode from 'vscode';
import { findingsOf } from './diagnostics.ts';
import type { DocumentAnalysis } from './document-analysis.ts';
import { marked } from './surfaces.ts';

export interface StatusItem extends vscode.Disposable {
  /** `null` hides the item. */
  readonly show: (document: vscode.TextDocument | null, result: DocumentAnalysis | null) => void;
}

/** The item is made when the first config is shown. */
export function createStatusItem(): StatusItem {
  let item: vscode.LanguageStatusItem | null = null;
  return {
    show: (document, result) => {
      const plan = result?.shown.plans[0];
      if (document === null || !result || plan === undefined) {
        item?.dispose();
        item = null;
        return;
      }
      const { uri } = result.place;
      item ??= vscode.languages.createLanguageStatusItem('bubblelens.status', []);
      item.selector = { scheme: uri.scheme, language: document.languageId };
      item.name = 'Bubblelens';
      item.text = marked(plan.analysis.texts.status, result.shown);
      item.detail = plan.analysis.texts.badge;
      item.severity = severityOf(result);
      item.command = {
        command: 'bubblelens.showTimeline',
        title: 'Show Timeline',
        arguments: [uri.toString(), plan.analysis.plan.id],
      };
    },
    dispose: () => item?.dispose(),
  };
}

function severityOf(result: DocumentAnalysis): vscode.LanguageStatusSeverity {
  const severities = new Set(findingsOf(result).map((finding) => finding.severity));
  if (severities.has('error')) return vscode.LanguageStatusSeverity.Error;
  return severities.has('warning') ? vscode.LanguageStatusSeverity.Warning : vscode.LanguageStatusSeverity.Information;
}
