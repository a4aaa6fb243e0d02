/** The parts of the page, put together, and which of them show: the timeline, the same marked as stale, or a reason. */

import { element, setText } from './dom.ts';
import { createHeader, type Header, type HeaderEvents } from './header.ts';
import { createHelp } from './help.ts';
import { createLegend, type Legend } from './legend.ts';
import { createStage, type Stage, type StageEvents } from './stage.ts';
import { createTable } from './table.ts';
import { createTooltip, type Tooltip } from './tooltip.ts';

/** Shown once an answer is late: a page that stays blank says nothing of what is wrong. */
const WAITING = 'Waiting for the analysis of the config. If this stays, close the timeline and open it again.';

type PageState = 'waiting' | 'shown' | 'stale' | 'empty';

export interface Page {
  readonly header: Header;
  readonly stage: Stage;
  readonly tooltip: Tooltip;
  readonly table: ReturnType<typeof createTable>;
  readonly legend: Legend;
  readonly openHelp: () => void;
  /** To the screen reader. */
  readonly speak: (text: string) => void;
  readonly setState: (state: PageState, reason: string) => void;
}

export function createPage(headerEvents: Omit<HeaderEvents, 'help'>, stageEvents: StageEvents): Page {
  const help = createHelp();
  const header = createHeader({ ...headerEvents, help: help.open });
  const stage = createStage(stageEvents);
  const tooltip = createTooltip();
  const table = createTable();
  const legend = createLegend();
  const notice = element('div', { class: 'notice', role: 'status' });
  const empty = element('div', { class: 'empty', role: 'status' });
  const spoken = element('div', { class: 'spoken', 'aria-live': 'polite', role: 'status' });
  stage.element.append(tooltip.element);
  const main = element('main', {}, stage.element, table.element);
  document.body.append(header.element, notice, empty, main, legend.element, spoken, help.element);
  return {
    header,
    stage,
    tooltip,
    table,
    legend,
    openHelp: help.open,
    speak: (text) => setText(spoken, text),
    setState: (state, reason) => {
      document.body.dataset.state = state;
      notice.hidden = state !== 'stale';
      empty.hidden = state !== 'empty' && state !== 'waiting';
      if (state === 'waiting') empty.replaceChildren(element('p', { class: 'late' }, WAITING));
      if (state === 'stale') setText(notice, `Not up to date: ${reason}`);
      if (state === 'empty') empty.replaceChildren(element('h2', {}, 'No timeline'), element('p', {}, reason));
    },
  };
}
