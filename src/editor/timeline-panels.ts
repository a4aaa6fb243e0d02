/**
 * The timeline beside the editor: one panel for each config. It is drawn anew whenever its config is analysed, keeps
 * the last good picture while the text is broken, leads back to the config on a click, and is there again after the
 * window was reloaded.
 */

import * as vscode from 'vscode';
import type { ViewOutcome } from '../analysis.ts';
import type { PlanAnalysis } from '../model/analysis.ts';
import { exhaustive } from '../model/exhaustive.ts';
import type { FromWebview, ToWebview } from '../model/protocol.ts';
import type { Jobs, Outcome } from '../worker/protocol.ts';
import type { AnalysisStore } from './analysis-store.ts';
import type { DocumentAnalysis } from './document-analysis.ts';
import { attempt, attemptAsync, type Log } from './log.ts';
import { baseName } from './paths.ts';
import { uriOf } from './places.ts';
import type { Thread } from './thread.ts';
import { timelineHtml } from './timeline-html.ts';
import { documentOfState, planOfState, readFromWebview, responsibleFor } from './timeline-messages.ts';

export const TIMELINE_VIEW = 'bubblelens.timeline';

interface Posted {
  readonly config: vscode.Uri;
  readonly message: ToWebview;
}

export interface TimelinePanels extends vscode.Disposable {
  readonly open: (config: vscode.Uri, planId: string | null) => void;
  readonly onDidPost: vscode.Event<Posted>;
}

interface Open {
  readonly config: vscode.Uri;
  readonly panel: vscode.WebviewPanel;
  planId: string | null;
  /** The page has said that it listens. */
  ready: boolean;
  /** The plans of the last sound text: what a click refers to. */
  plans: readonly PlanAnalysis[];
  /** `undefined` until the config was looked at; null when it is closed or nobody's. */
  result: DocumentAnalysis | null | undefined;
}

export interface TimelineParts {
  readonly extensionUri: vscode.Uri;
  readonly store: AnalysisStore;
  readonly thread: Thread;
  readonly log: Log;
}

/** What a panel needs of its surroundings. */
interface Surroundings {
  readonly extensionUri: vscode.Uri;
  readonly log: Log;
  readonly post: (open: Open) => void;
}

export function createTimelinePanels({ extensionUri, store, thread, log }: TimelineParts): TimelinePanels {
  const panels = new Map<string, Open>();
  const posted = new vscode.EventEmitter<Posted>();
  const post = createPosting(thread, log, posted);
  const take = (config: vscode.Uri, result: DocumentAnalysis | null): void => {
    const open = panels.get(config.toString());
    if (open === undefined) return;
    open.result = result;
    if (result !== null && result.shown.stale === null) open.plans = result.analysis.plans;
    attempt(log, 'timeline', undefined, () => post(open));
  };
  const adopt = (config: vscode.Uri, panel: vscode.WebviewPanel, planId: string | null): void => {
    const key = config.toString();
    const open: Open = { config, panel, planId, ready: false, plans: [], result: undefined };
    panels.set(key, open);
    panel.onDidDispose(() => {
      if (panels.get(key) === open) panels.delete(key);
    });
    furnish(open, { extensionUri, log, post });
    attemptAsync(log, 'timeline', null, () => lookAt(config, store)).then((result) => take(config, result));
  };
  const disposables = [
    posted,
    store.onDidAnalyse((result) => take(result.place.uri, result)),
    store.onDidForget((uri) => take(uri, null)),
    vscode.window.registerWebviewPanelSerializer(TIMELINE_VIEW, {
      deserializeWebviewPanel: async (panel, state) => {
        const document = documentOfState(state);
        if (document === null) panel.dispose();
        else adopt(vscode.Uri.parse(document), panel, planOfState(state));
      },
    }),
  ];
  return {
    open: (config, planId) => {
      const known = panels.get(config.toString());
      if (known === undefined) {
        const where = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
        adopt(config, vscode.window.createWebviewPanel(TIMELINE_VIEW, titleOf(config), where, {}), planId);
        return;
      }
      known.planId = planId ?? known.planId;
      known.panel.reveal(undefined, true);
      post(known);
    },
    onDidPost: posted.event,
    dispose: () => {
      for (const disposable of disposables) disposable.dispose();
      for (const { panel } of panels.values()) panel.dispose();
    },
  };
}

/** What sends a panel the message that it is due: at once, or when the worker has drawn it. */
function createPosting(thread: Thread, log: Log, posted: vscode.EventEmitter<Posted>): (open: Open) => void {
  let version = 0;
  const send = (open: Open, content: Content): void => {
    // A hidden page is gone; it says that it listens when it is back.
    if (!open.ready || !open.panel.visible) return;
    const message: ToWebview = { ...content, version: ++version };
    open.panel.webview.postMessage(message);
    posted.fire({ config: open.config, message });
  };
  return (open) => {
    const topic = `timeline of ${open.config}`;
    thread.cancel(topic);
    if (!open.ready || !open.panel.visible) return;
    const known = contentAtHand(open);
    if (known === null) return;
    if ('type' in known) {
      send(open, known);
      return;
    }
    // A newer request cancels this one, so that no older picture overtakes it.
    thread.ask(topic, 'view', known).then((outcome) => {
      const content = contentOf(outcome);
      if (content !== null) attempt(log, 'timeline', undefined, () => send(open, content));
    });
  };
}

/** Gives a panel its page and listens to what the page says. */
function furnish(open: Open, { extensionUri, log, post }: Surroundings): void {
  const { panel, config, planId } = open;
  const receive = (data: unknown): void => {
    const message = readFromWebview(data);
    if (message === null) return;
    if (message.type === 'ready') open.ready = true;
    if (message.type === 'choosePlan') open.planId = message.planId;
    if (message.type === 'ready' || message.type === 'choosePlan') post(open);
    else attemptAsync(log, 'timeline', undefined, () => reveal(open, message));
  };
  panel.onDidChangeViewState(() => {
    if (!panel.visible) open.ready = false;
  });
  panel.iconPath = vscode.Uri.joinPath(extensionUri, 'media', 'icon.png');
  panel.webview.onDidReceiveMessage((data) => attempt(log, 'timeline', undefined, () => receive(data)));
  panel.webview.options = { enableScripts: true, localResourceRoots: webviewRoots(extensionUri) };
  panel.webview.html = pageOf(panel.webview, extensionUri, config, planId);
}

function titleOf(config: vscode.Uri): string {
  return `Timeline: ${baseName(config.path)}`;
}

function pageOf(webview: vscode.Webview, extensionUri: vscode.Uri, config: vscode.Uri, planId: string | null): string {
  const built = (name: string): string =>
    webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, 'dist', 'webview', name)).toString();
  return timelineHtml({
    nonce: globalThis.crypto.randomUUID().replaceAll('-', ''),
    cspSource: webview.cspSource,
    scriptUri: built('timeline.js'),
    toolkitUri: built('toolkit.js'),
    styleUri: built('timeline.css'),
    title: titleOf(config),
    stateJson: JSON.stringify({ document: config.toString(), planId }),
  });
}

function webviewRoots(extensionUri: vscode.Uri): vscode.Uri[] {
  return [vscode.Uri.joinPath(extensionUri, 'dist', 'webview'), vscode.Uri.joinPath(extensionUri, 'media')];
}

/** The analysis of a config whose document may have to be opened first: a restored panel knows its address only. */
async function lookAt(config: vscode.Uri, store: AnalysisStore): Promise<DocumentAnalysis | null> {
  const document = await vscode.workspace.openTextDocument(config);
  return store.current(document) ?? store.settled(document);
}

/** A message before it has its number. */
type Content = {
  readonly [T in ToWebview['type']]: Omit<Extract<ToWebview, { type: T }>, 'version'>;
}[ToWebview['type']];

/** What the page is told of the last analysis, or what is to be drawn for it first; null before there was one. */
function contentAtHand({ config, result, planId, plans }: Open): Content | Jobs['view']['ask'] | null {
  if (result === undefined) return null;
  if (result === null) {
    const open = vscode.workspace.textDocuments.some((each) => each.uri.toString() === config.toString());
    if (!open && plans.length > 0) return { type: 'stale', reason: 'the config is closed' };
    return { type: 'empty', reason: 'No pipeline config in this file.' };
  }
  const { stale, plans: shown } = result.shown;
  if (stale !== null && plans.length > 0) return { type: 'stale', reason: stale };
  return { analysis: { ...result.analysis, plans: shown.map((plan) => plan.analysis) }, planId: planId ?? '' };
}

function contentOf(outcome: Outcome<ViewOutcome>): Content | null {
  switch (outcome.status) {
    case 'done':
      return outcome.value.view === null
        ? { type: 'empty', reason: outcome.value.reason }
        : { type: 'show', view: outcome.value.view };
    case 'cancelled':
      return null;
    case 'refused':
    case 'lost':
      return { type: 'empty', reason: `There is no timeline: ${outcome.reason}` };
    default:
      return exhaustive(outcome);
  }
}

/** Puts the cursor on the token that is responsible, in the editor that shows the file or in the first column. */
async function reveal({ config, result, plans, planId }: Open, message: FromWebview): Promise<void> {
  const plan = plans.find((each) => each.plan.id === planId) ?? plans[0];
  const range = plan === undefined ? null : responsibleFor(plan, message);
  if (!result || range === null) return;
  const uri = uriOf(result.place, range.file) ?? config;
  const shown = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === uri.toString());
  const document = shown?.document ?? (await vscode.workspace.openTextDocument(uri));
  await vscode.window.showTextDocument(document, {
    viewColumn: shown?.viewColumn ?? vscode.ViewColumn.One,
    selection: result.locate(range),
  });
}
