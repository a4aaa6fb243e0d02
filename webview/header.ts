/** The header: whose timeline it is, the headline number, what it is made of, how the costs are known, and controls. */

import type { TimelineView } from '../src/model/protocol.ts';
import { button, checkbox, chooser } from './controls.ts';
import { element, setText } from './dom.ts';

export interface Header {
  readonly element: HTMLElement;
  readonly show: (view: TimelineView) => void;
  readonly setTable: (shown: boolean) => void;
}

export interface HeaderEvents {
  readonly choosePlan: (id: string) => void;
  readonly showTable: (shown: boolean) => void;
  readonly fit: () => void;
  readonly help: () => void;
}

const PARTS = ['schedule', 'imbalance', 'communication'] as const;

export function createHeader(events: HeaderEvents): Header {
  const title = element('h1', { class: 'title' });
  const headline = element('p', { class: 'headline' });
  const bar = element('div', { class: 'parts', 'aria-hidden': 'true' });
  const words = element('p', { class: 'waterfall' });
  const costs = element('span', { class: 'badge' });
  const plans = chooser('Plan', events.choosePlan);
  const table = checkbox('Table', events.showTable);
  plans.element.hidden = true;
  const made = element(
    'header',
    {},
    element('div', { class: 'summary' }, title, element('div', { class: 'number' }, headline, costs)),
    element('div', { class: 'causes' }, bar, words),
    element(
      'div',
      { class: 'controls', role: 'toolbar', 'aria-label': 'Timeline' },
      plans.element,
      table.element,
      button('Fit', 'Show the whole step (0)', events.fit),
      button('Keys', 'Keys and mouse (?)', events.help),
    ),
  );
  return {
    element: made,
    setTable: table.set,
    show: (view) => {
      setText(title, view.title);
      setText(headline, view.headline);
      setText(costs, view.badgeText);
      costs.dataset.badge = view.badge;
      showCauses(bar, words, view);
      plans.element.hidden = view.plans.length < 2;
      plans.set(view.plans, view.planId);
    },
  };
}

/** The bar is the whole step; its coloured parts are the idle share by cause. A negative part has words only. */
function showCauses(bar: HTMLElement, words: HTMLElement, view: TimelineView): void {
  const { parts } = view;
  const texts = view.waterfall.split(' + ');
  const told = parts !== undefined && texts.length === PARTS.length;
  bar.hidden = !told;
  if (!told) {
    setText(words, view.waterfall);
    return;
  }
  bar.replaceChildren(
    ...PARTS.map((part) => {
      const piece = element('span', { class: `part ${part}` });
      piece.style.flexBasis = `${Math.max(0, parts[part]) * 100}%`;
      return piece;
    }),
  );
  words.replaceChildren(
    ...PARTS.flatMap((part, n) => [
      ...(n === 0 ? [] : [element('span', { class: 'plus' }, ' + ')]),
      element('span', { class: 'cause' }, element('i', { class: `swatch ${part}` }), texts[n] ?? ''),
    ]),
  );
}
