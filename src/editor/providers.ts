/**
 * The surfaces that the editor asks for: inlay hint at the end of the plan's line, lens above it, hover over every
 * token that the numbers were computed from, light bulb. All read the one analysis of the document's version.
 */

import * as vscode from 'vscode';
import type { CommandId } from '../model/commands.ts';
import type { Finding, Fix } from '../model/finding.ts';
import type { AnalysisStore } from './analysis-store.ts';
import { findingsOf } from './diagnostics.ts';
import type { DocumentAnalysis } from './document-analysis.ts';
import { LANGUAGES } from './languages.ts';
import type { ShownPlan } from './last-good.ts';
import { attemptAsync, type Log } from './log.ts';
import { baseName } from './paths.ts';
import { uriOf } from './places.ts';
import { tokenAt, tokensOf } from './plan-tokens.ts';
import { type Surface, surfaceEnabled } from './settings.ts';
import { type Sight, sightsOf } from './sights.ts';
import { fittedHint, lensesOf, staleReason } from './surfaces.ts';
import type { Thread } from './thread.ts';

export interface Providers extends vscode.Disposable {
  /** Asks the editor to come again: something around the text has changed. */
  readonly ask: () => void;
}

const SELECTOR: vscode.DocumentSelector = LANGUAGES.map((language) => ({ language }));
/** Between the line's text and the hint, lest a number runs into the number before it. */
const HINT_GAP = '  ';
/** Lines close together: as paragraphs they would not fit into the editor's hover. */
const LINE_BREAK = '  \n';
const HOVER_COMMANDS = ['bubblelens.showTimeline', 'bubblelens.explainConfig'] as const satisfies readonly CommandId[];

export function registerProviders(store: AnalysisStore, thread: Thread, log: Log): Providers {
  const hintsChanged = new vscode.EventEmitter<void>();
  const lensesChanged = new vscode.EventEmitter<void>();
  const withFixes = createFixing(thread);
  /** The analysis of the document; null where the surface is off or the document nobody's. */
  const look = async (document: vscode.TextDocument, surface: Surface): Promise<DocumentAnalysis | null> =>
    surfaceEnabled(surface, document.uri) ? (store.current(document) ?? (await store.settled(document))) : null;
  const sights = async (document: vscode.TextDocument, surface: Surface): Promise<readonly Sight[]> => {
    const own = await look(document, surface);
    return surfaceEnabled(surface, document.uri) ? sightsOf(document, own, store.sharing(document)) : [];
  };

  const disposables = [
    hintsChanged,
    lensesChanged,
    vscode.languages.registerInlayHintsProvider(SELECTOR, {
      onDidChangeInlayHints: hintsChanged.event,
      provideInlayHints: (document, range) =>
        attemptAsync(log, 'inlay hint', [], async () =>
          (await sights(document, 'inlayHints')).flatMap((sight) => inlayHint(document, range, sight) ?? []),
        ),
    }),
    vscode.languages.registerCodeLensProvider(SELECTOR, {
      onDidChangeCodeLenses: lensesChanged.event,
      provideCodeLenses: (document) =>
        attemptAsync(log, 'lens', [], async () =>
          (await sights(document, 'codeLens')).flatMap((sight) => codeLenses(document, sight)),
        ),
    }),
    vscode.languages.registerHoverProvider(SELECTOR, {
      provideHover: (document, position) =>
        attemptAsync(log, 'hover', null, async () => {
          const found = await sights(document, 'hover');
          return found.map((sight) => hover(document, position, sight)).find((each) => each !== null);
        }),
    }),
    vscode.languages.registerCodeActionsProvider(
      SELECTOR,
      {
        provideCodeActions: (document, range, context) =>
          attemptAsync(log, 'light bulb', [], async () =>
            codeActions(range, context, await look(document, 'diagnostics'), withFixes),
          ),
      },
      { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] },
    ),
  ];
  return {
    ask: () => {
      hintsChanged.fire();
      lensesChanged.fire();
    },
    dispose: () => {
      for (const disposable of disposables) disposable.dispose();
    },
  };
}

function inlayHint(document: vscode.TextDocument, range: vscode.Range, sight: Sight): vscode.InlayHint | null {
  const { result, plan, line } = sight;
  const end = line === null ? null : document.lineAt(line).range.end;
  if (end === null || !range.contains(end)) return null;
  const { hint, hintTooltip } = plan.analysis.texts;
  const { stale } = result.shown;
  const label = new vscode.InlayHintLabelPart(fittedHint(named(hint, sight), result.shown));
  label.tooltip = stale === null ? hintTooltip : `${hintTooltip}\n\n${staleReason(stale)}`;
  label.command = clicked('bubblelens.showTimeline', 'Show Timeline', result, plan);
  const shown = new vscode.InlayHint(end, [new vscode.InlayHintLabelPart(HINT_GAP), label]);
  shown.paddingLeft = true;
  return shown;
}

function codeLenses(document: vscode.TextDocument, sight: Sight): readonly vscode.CodeLens[] {
  const { result, plan, line } = sight;
  if (line === null) return [];
  const { range, firstNonWhitespaceCharacterIndex } = document.lineAt(line);
  const place = range.with(range.start.translate(0, firstNonWhitespaceCharacterIndex));
  return lensesOf(plan, result.shown).map(
    ({ command, title }) => new vscode.CodeLens(place, clicked(command, named(title, sight), result, plan)),
  );
}

/** In a companion the numbers say whose they are. */
function named(text: string, { own, result }: Sight): string {
  return own ? text : `${baseName(result.place.file)}: ${text}`;
}

function hover(document: vscode.TextDocument, position: vscode.Position, sight: Sight): vscode.Hover | null {
  const { result, plan, file, line } = sight;
  const tokens = result.shown.stale === null ? tokensOf(plan.analysis.plan) : [];
  const token = tokenAt(tokens, file, document.offsetAt(position));
  if (token === null && position.line !== line) return null;
  const range = token === null ? document.lineAt(position.line).range : result.locate(token.range);
  return new vscode.Hover(hoverText(result, plan), range);
}

function hoverText(result: DocumentAnalysis, plan: ShownPlan): vscode.MarkdownString {
  const argument = encodeURIComponent(JSON.stringify([result.place.uri.toString(), plan.analysis.plan.id]));
  const links = [
    `[Show timeline](command:bubblelens.showTimeline?${argument})`,
    `[Explain](command:bubblelens.explainConfig?${argument})`,
  ];
  const { stale } = result.shown;
  const last = stale === null ? [] : ['Last good numbers: the text cannot be read at the moment'];
  const lines = [...plan.analysis.texts.hover.split('\n\n'), [...last, ...links].join(' · ')];
  const text = new vscode.MarkdownString(lines.join(LINE_BREAK));
  text.isTrusted = { enabledCommands: HOVER_COMMANDS };
  return text;
}

function clicked(command: CommandId, title: string, result: DocumentAnalysis, plan: ShownPlan): vscode.Command {
  return { command, title, arguments: [result.place.uri.toString(), plan.analysis.plan.id] };
}

type Fixing = (result: DocumentAnalysis) => Promise<DocumentAnalysis | null>;

/** The analysis with the fixes of its findings, which are simulated once, however often the cursor moves. */
function createFixing(thread: Thread): Fixing {
  const known = new WeakMap<DocumentAnalysis, Promise<DocumentAnalysis | null>>();
  const fix: Fixing = async (result) => {
    const { input, analysis, place } = result;
    const outcome = await thread.ask(`fixes of ${place.uri}`, 'fixes', { input, analysis });
    if (outcome.status === 'done') return { ...result, analysis: outcome.value };
    known.delete(result);
    if (outcome.status === 'cancelled') return null;
    throw new Error(outcome.reason);
  };
  return (result) => {
    const fixed = known.get(result) ?? fix(result);
    known.set(result, fixed);
    return fixed;
  };
}

async function codeActions(
  range: vscode.Range,
  context: vscode.CodeActionContext,
  result: DocumentAnalysis | null,
  withFixes: Fixing,
): Promise<vscode.CodeAction[]> {
  if (result === null) return [];
  const { place, locate } = result;
  const near = (finding: Finding): boolean =>
    finding.range.file === place.file && locate(finding.range).intersection(range) !== undefined;
  if (!findingsOf(result).some(near)) return [];
  const fixed = await withFixes(result);
  if (fixed === null) return [];
  return findingsOf(fixed)
    .filter(near)
    .flatMap((finding) => {
      const diagnostics = context.diagnostics.filter((each) => each.range.isEqual(locate(finding.range)));
      return finding.fixes.flatMap((fix, index) => codeAction(fix, index === 0, result, diagnostics) ?? []);
    });
}

/** null where an edit leads out of the root. */
function codeAction(
  fix: Fix,
  isPreferred: boolean,
  { place, locate }: DocumentAnalysis,
  diagnostics: vscode.Diagnostic[],
): vscode.CodeAction | null {
  const action = new vscode.CodeAction(fix.title, vscode.CodeActionKind.QuickFix);
  const edit = new vscode.WorkspaceEdit();
  for (const { file, offset, length, text } of fix.edits) {
    const uri = uriOf(place, file);
    if (uri === null) return null;
    edit.replace(uri, locate({ file, offset, length }), text);
  }
  action.edit = edit;
  action.diagnostics = diagnostics;
  action.isPreferred = isPreferred;
  return action;
}
