/**
 * The entry of the timeline page: it checks what comes from the extension, hands it to the header, the stage, the
 * table and the foot, tells the extension what was clicked, and keeps what is looked at through a reload.
 */

import { exhaustive } from '../src/model/exhaustive.ts';
import type { FromWebview, TimelineState, TimelineView, ToWebview } from '../src/model/protocol.ts';
import { KIND_NAMES } from '../src/model/timeline.ts';
import { element, setText } from './dom.ts';
import { listen } from './gestures.ts';
import { createHeader } from './header.ts';
import { createHelp } from './help.ts';
import type { Item } from './items.ts';
import { createLegend } from './legend.ts';
import { readMessage, readState } from './messages.ts';
import { createStage, type Kept } from './stage.ts';
import { createTable } from './table.ts';
import { createTooltip } from './tooltip.ts';

interface Host {
  readonly postMessage: (message: FromWebview) => void;
  readonly getState: () => unknown;
  readonly setState: (state: unknown) => void;
}

declare function acquireVsCodeApi(): Host;

const KEEP_AFTER_MS = 150;

function start(script: HTMLScriptElement | null): void {
  const host = acquireVsCodeApi();
  const given = initialState();
  const restored = readState(host.getState());
  const document_ = given.document ?? restored.document;
  let kept: (Kept & Pick<TimelineState, 'planId'>) | null = restored;
  let wantedPlan = restored.planId ?? given.planId;
  let view: TimelineView | null = null;
  let version = -1;
  let tableShown = restored.table;
  let timer = 0;
  let legendFor: unknown = null;

  const spoken = element('div', { class: 'spoken', 'aria-live': 'polite', role: 'status' });
  const notice = element('div', { class: 'notice', role: 'status' });
  const empty = element('div', { class: 'empty', role: 'status' });
  const tooltip = createTooltip();
  const legend = createLegend();
  const table = createTable();
  const help = createHelp();
  const header = createHeader({
    choosePlan: (planId) => host.postMessage({ type: 'choosePlan', planId }),
    showTable: (shown) => setTable(shown),
    fit: () => stage.command('fit', null),
    help: help.open,
  });
  const stage = createStage({
    reveal: (item) => reveal(item),
    tell: (text) => {
      legend.setReadout(text);
      setText(spoken, text);
    },
    settled: () => keepSoon(),
    painted: (coverage, palette) => {
      const key = `${version} ${palette.version}`;
      if (legendFor === key) return;
      legendFor = key;
      legend.show(coverage, coverage.tones && view !== null ? view.vpp : 1, palette);
    },
  });
  stage.element.append(tooltip.element);
  const main = element('main', {}, stage.element, table.element);
  document.body.append(header.element, notice, empty, main, legend.element, spoken, help.element);

  const keep = () =>
    host.setState({ document: document_, planId: wantedPlan, table: tableShown, ...(kept ?? stage.kept()) });
  const keepSoon = () => {
    clearTimeout(timer);
    timer = window.setTimeout(keep, KEEP_AFTER_MS);
  };

  const setTable = (shown: boolean) => {
    tableShown = shown;
    table.element.hidden = !shown;
    header.setTable(shown);
    keepSoon();
  };

  const reveal = (item: Item) => {
    if (view === null) return;
    const { timeline } = view;
    if (item.type === 'gap') {
      host.postMessage({ type: 'revealGap', rank: item.rank, cause: item.cause, waitedForRank: item.waitedForRank });
      return;
    }
    host.postMessage({
      type: 'revealAction',
      rank: item.rank,
      stage: timeline.stage[item.index]!,
      kind: KIND_NAMES[timeline.kind[item.index]!] ?? 'F',
      microbatch: timeline.microbatch[item.index]!,
    });
  };

  const setPage = (state: 'waiting' | 'shown' | 'stale' | 'empty', reason: string) => {
    document.body.dataset.state = state;
    notice.hidden = state !== 'stale';
    empty.hidden = state !== 'empty';
    if (state === 'stale') setText(notice, `Not up to date: ${reason}`);
    if (state === 'empty') empty.replaceChildren(element('h2', {}, 'No timeline'), element('p', {}, reason));
  };

  const receive = (message: ToWebview) => {
    if (message.version < version) return;
    version = message.version;
    switch (message.type) {
      case 'show':
        view = message.view;
        wantedPlan = view.planId;
        setPage('shown', '');
        header.show(view);
        table.show(view);
        tooltip.hide();
        stage.show(view, kept?.planId === view.planId ? kept : null);
        kept = null;
        return;
      case 'stale':
        return setPage(view === null ? 'empty' : 'stale', message.reason);
      case 'empty':
        return setPage('empty', message.reason);
      default:
        return exhaustive(message);
    }
  };

  listen(stage, tooltip, {
    reveal,
    page: (command) => (command === 'help' ? help.open() : setTable(!tableShown)),
  });
  window.addEventListener('message', (event) => {
    const message = readMessage(event.data);
    if (message !== null) receive(message);
  });
  watchTheme(stage.repaint);
  setPage('waiting', '');
  setTable(tableShown);
  host.postMessage({ type: 'ready' });
  loadToolkit(script);
}

/** What the extension put into the page: which document this is. */
function initialState() {
  const text = document.getElementById('bubblelens-state')?.textContent;
  try {
    return readState(JSON.parse(text ?? 'null'));
  } catch {
    return readState(null);
  }
}

/** The editor changes a class or the style of the body, or the root's style, when the theme changes. */
function watchTheme(changed: () => void): void {
  const observer = new MutationObserver(changed);
  const filter = { attributes: true, attributeFilter: ['class', 'style', 'data-vscode-theme-id'] };
  observer.observe(document.body, filter);
  observer.observe(document.documentElement, filter);
  matchMedia('(forced-colors: active)').addEventListener('change', changed);
}

/** The form controls come after the first paint, as a bundle of their own. */
function loadToolkit(script: HTMLScriptElement | null): void {
  const source = script?.dataset.toolkit;
  if (source === undefined) return;
  requestAnimationFrame(() =>
    setTimeout(() => {
      const tag = document.createElement('script');
      tag.nonce = script?.nonce ?? '';
      tag.src = source;
      document.body.append(tag);
    }),
  );
}

start(document.currentScript instanceof HTMLScriptElement ? document.currentScript : null);
