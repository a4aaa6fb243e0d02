/** The same numbers as a real table, for reading, copying and screen readers. */

import type { TimelineView } from '../src/model/protocol.ts';
import { element } from './dom.ts';
import { formatShare } from './ticks.ts';

const HEADS = ['Rank', 'Holds', 'Idle', 'Warm-up', 'Stalls', 'Cool-down', 'Peak activations'] as const;

export function createTable(): { readonly element: HTMLElement; readonly show: (view: TimelineView) => void } {
  const body = element('tbody');
  const made = element(
    'section',
    { class: 'table', 'aria-label': 'Idle time per rank', tabindex: '0' },
    element(
      'table',
      {},
      element('caption', {}, 'Idle share of each rank, split by cause'),
      element('thead', {}, element('tr', {}, ...HEADS.map((head) => element('th', { scope: 'col' }, head)))),
      body,
    ),
  );
  return {
    element: made,
    show: (view) => {
      body.replaceChildren(
        ...view.ranks.map((row) =>
          element(
            'tr',
            {},
            element('th', { scope: 'row' }, String(row.rank)),
            element('td', { class: 'holds' }, row.holds),
            ...[row.idleFraction, row.warmupFraction, row.stallFraction, row.cooldownFraction].map((share) =>
              element('td', {}, formatShare(share)),
            ),
            element('td', {}, String(row.peakActivations)),
          ),
        ),
      );
    },
  };
}
