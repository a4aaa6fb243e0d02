/**
 * Findings as squiggles: the exact token, the stable code with a link to its page, and the other places that play a
 * part. A finding may lie in a companion; then it is shown there, once, however many configs share the companion.
 */

import * as vscode from 'vscode';
import { exhaustive } from '../model/exhaustive.ts';
import type { Finding } from '../model/finding.ts';
import type { Severity } from '../model/finding-codes.ts';
import type { DocumentAnalysis } from './document-analysis.ts';
import { uriOf } from './places.ts';

export interface Diagnostics extends vscode.Disposable {
  readonly show: (result: DocumentAnalysis) => void;
  readonly clear: (uri: vscode.Uri) => void;
}

type ByFile = ReadonlyMap<string, readonly vscode.Diagnostic[]>;

export function createDiagnostics(extensionUri: vscode.Uri): Diagnostics {
  const collection = vscode.languages.createDiagnosticCollection('bubblelens');
  const owners = new Map<string, ByFile>();
  const publish = (owner: string, byFile: ByFile): void => {
    const touched = new Set([...(owners.get(owner)?.keys() ?? []), ...byFile.keys()]);
    if (byFile.size === 0) owners.delete(owner);
    else owners.set(owner, byFile);
    const entries = [...touched].map((file): [vscode.Uri, vscode.Diagnostic[]] => {
      const all = [...owners.values()].flatMap((each) => each.get(file) ?? []);
      return [vscode.Uri.parse(file, true), withoutRepeats(all)];
    });
    if (entries.length > 0) collection.set(entries);
  };
  return {
    show: (result) => publish(result.place.uri.toString(), diagnosticsOf(result, extensionUri)),
    clear: (uri) => publish(uri.toString(), new Map()),
    dispose: () => collection.dispose(),
  };
}

/** Every finding of the text as it stands, problems first. */
export function findingsOf({ analysis }: DocumentAnalysis): readonly Finding[] {
  return [...analysis.problems, ...analysis.plans.flatMap((plan) => plan.findings)];
}

function diagnosticsOf(result: DocumentAnalysis, extensionUri: vscode.Uri): ByFile {
  const byFile = new Map<string, vscode.Diagnostic[]>();
  for (const finding of findingsOf(result)) {
    const uri = uriOf(result.place, finding.range.file);
    if (uri === null) continue;
    const list = byFile.get(uri.toString()) ?? [];
    byFile.set(uri.toString(), list);
    list.push(diagnostic(result, finding, extensionUri));
  }
  return byFile;
}

function diagnostic(result: DocumentAnalysis, finding: Finding, extensionUri: vscode.Uri): vscode.Diagnostic {
  const shown = new vscode.Diagnostic(result.locate(finding.range), finding.message, severityOf(finding.severity));
  shown.source = 'Bubblelens';
  shown.code = {
    value: finding.code,
    target: vscode.Uri.joinPath(extensionUri, 'media', 'docs', `${finding.code}.md`),
  };
  const related = finding.related.flatMap(({ message, range }) => {
    const uri = uriOf(result.place, range.file);
    if (uri === null) return [];
    return [new vscode.DiagnosticRelatedInformation(new vscode.Location(uri, result.locate(range)), message)];
  });
  if (related.length > 0) shown.relatedInformation = related;
  return shown;
}

/** The code of one of our diagnostics, as the editor hands it back. */
export function codeOf(diagnostic: vscode.Diagnostic): string | null {
  if (diagnostic.source !== 'Bubblelens' || typeof diagnostic.code !== 'object') return null;
  return String(diagnostic.code.value);
}

function severityOf(severity: Severity): vscode.DiagnosticSeverity {
  switch (severity) {
    case 'error':
      return vscode.DiagnosticSeverity.Error;
    case 'warning':
      return vscode.DiagnosticSeverity.Warning;
    case 'information':
      return vscode.DiagnosticSeverity.Information;
    default:
      return exhaustive(severity);
  }
}

function withoutRepeats(diagnostics: readonly vscode.Diagnostic[]): vscode.Diagnostic[] {
  const seen = new Set<string>();
  return diagnostics.filter((each) => {
    const { start, end } = each.range;
    const key = [codeOf(each), each.message, start.line, start.character, end.line, end.character].join('\n');
    return !seen.has(key) && seen.add(key);
  });
}
