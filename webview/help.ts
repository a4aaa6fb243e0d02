/** The list of keys, as a modal dialog: it keeps the focus inside and Escape closes it. */

import { element } from './dom.ts';

const KEYS: readonly (readonly [string, string])[] = [
  ['W  S', 'zoom in, zoom out'],
  ['A  D', 'pan left, pan right'],
  ['← →', 'previous, next action of the rank'],
  ['↑ ↓', 'the same time on the rank above, below'],
  ['[  ]', 'previous, next gap'],
  ['Home  End', 'first, last action of the rank'],
  ['Enter  F', 'zoom to what is selected'],
  ['0', 'show the whole step'],
  ['Ctrl+Enter', 'go to the line of the config that is responsible'],
  ['T', 'show or hide the table'],
  ['Esc', 'clear the selection'],
  ['Wheel', 'scroll through the ranks'],
  ['Ctrl+wheel', 'zoom at the pointer'],
  ['Shift+wheel', 'pan'],
  ['Drag', 'pan; on the strip above, move the window'],
  ['Shift+drag', 'measure a span: duration, busy and idle share'],
  ['Click', 'go to the line that is responsible'],
];

export function createHelp(): { readonly element: HTMLElement; readonly open: () => void } {
  const close = element('button', { class: 'plain', type: 'button' }, 'Close');
  const made = element(
    'dialog',
    { class: 'help', 'aria-label': 'Keys and mouse' },
    element('h2', {}, 'Keys and mouse'),
    element('dl', {}, ...KEYS.flatMap(([key, what]) => [element('dt', {}, key), element('dd', {}, what)])),
    close,
  );
  close.addEventListener('click', () => made.close());
  return { element: made, open: () => made.showModal() };
}
