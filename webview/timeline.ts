/**
 * The entry of the timeline page: it hands what comes from the extension to the parts of the page, tells the extension
 * what was clicked, and keeps what is looked at through a reload.
 */

import { exhaustive } from '../src/model/exhaustive.ts';
import type { TimelineState, TimelineView, ToWebview } from '../src/model/protocol.ts';
import { KIND_NAMES } from '../src/model/timeline.ts';
import { listen } from './gestures.ts';
import { connect, type Host, loadToolkit, watchTheme } from './host.ts';
import type { Item } from './items.ts';
import { createPage, type Page } from './page.ts';

interface Application {
  readonly host: Host;
  readonly page: Page;
  view: TimelineView | null;
  version: number;
  table: boolean;
  /** What was looked at before a reload, until there is a timeline again. */
  restored: TimelineState | null;
  timer: number;
  legendOf: string;
}

const KEEP_AFTER_MS = 150;

function start(script: HTMLScriptElement | null): void {
  const host = connect();
  const page = createPage(
    {
      choosePlan: (planId) => host.post({ type: 'choosePlan', planId }),
      showTable: (shown) => setTable(app, shown),
      fit: () => page.stage.command('fit', null),
    },
    {
      tell: (text) => {
        page.legend.setReadout(text);
        page.speak(text);
      },
      settled: () => keepSoon(app),
      painted: (coverage, palette) => {
        const key = `${app.version} ${palette.version}`;
        if (app.legendOf === key) return;
        app.legendOf = key;
        page.legend.show(coverage, app.view?.vpp ?? 1, palette);
      },
    },
  );
  const app: Application = {
    host,
    page,
    view: null,
    version: -1,
    table: host.restored.table,
    restored: host.restored,
    timer: 0,
    legendOf: '',
  };
  listen(page.stage, page.tooltip, {
    reveal: (item) => reveal(app, item),
    page: (command) => (command === 'help' ? page.openHelp() : setTable(app, !app.table)),
  });
  watchTheme(page.stage.rereadTheme);
  page.setState('waiting', '');
  setTable(app, app.table);
  host.listen((message) => receive(app, message));
  host.post({ type: 'ready' });
  loadToolkit(script);
}

/** Messages that were overtaken by a later one are dropped. */
function receive(app: Application, message: ToWebview): void {
  if (message.version < app.version) return;
  app.version = message.version;
  switch (message.type) {
    case 'show':
      show(app, message.view);
      break;
    case 'stale':
      app.page.setState(app.view === null ? 'empty' : 'stale', message.reason);
      break;
    case 'empty':
      app.page.setState('empty', message.reason);
      break;
    default:
      exhaustive(message);
  }
}

function show(app: Application, view: TimelineView): void {
  const { page, restored } = app;
  app.view = view;
  app.restored = null;
  page.setState('shown', '');
  page.tooltip.hide();
  page.header.show(view);
  page.table.show(view);
  page.stage.show(view, restored?.planId === view.planId ? restored : null);
}

/** Asks the extension to go to the config line that is responsible. */
function reveal({ host, view }: Application, item: Item): void {
  if (view === null) return;
  const { timeline } = view;
  const { rank, index } = item;
  if (item.type === 'gap') {
    host.post({ type: 'revealGap', rank, cause: item.cause, waitedForRank: item.waitedForRank });
    return;
  }
  const kind = KIND_NAMES[timeline.kind[index]!]!;
  host.post({
    type: 'revealAction',
    rank,
    stage: timeline.stage[index]!,
    kind,
    microbatch: timeline.microbatch[index]!,
  });
}

function setTable(app: Application, shown: boolean): void {
  app.table = shown;
  app.page.table.element.hidden = !shown;
  app.page.header.setTable(shown);
  keepSoon(app);
}

function keepSoon(app: Application): void {
  clearTimeout(app.timer);
  app.timer = window.setTimeout(() => keep(app), KEEP_AFTER_MS);
}

function keep({ host, page, view, table, restored }: Application): void {
  const { document, planId } = host.restored;
  host.keep({ ...(restored ?? page.stage.kept()), document, planId: view?.planId ?? planId, table });
}

start(document.currentScript instanceof HTMLScriptElement ? document.currentScript : null);
