/** The box beside the pointer: what, when, how long, and what it waited for. The words come from `describe.ts`. */

import type { Description } from './describe.ts';
import { element } from './dom.ts';

export interface Tooltip {
  readonly element: HTMLElement;
  readonly show: (description: Description, hint: string, x: number, y: number) => void;
  readonly hide: () => void;
}

const DISTANCE = 14;

export function createTooltip(): Tooltip {
  const made = element('div', { class: 'tooltip', role: 'tooltip', 'aria-hidden': 'true' });
  made.hidden = true;
  let told = '';
  return {
    element: made,
    hide: () => {
      made.hidden = true;
    },
    show: (description, hint, x, y) => {
      const text = JSON.stringify([description, hint]);
      if (text !== told) {
        told = text;
        made.replaceChildren(
          element('strong', {}, description.title),
          ...description.lines.map((line) => element('span', {}, line)),
          element('span', { class: 'hint' }, hint),
        );
      }
      made.hidden = false;
      const room = made.parentElement?.getBoundingClientRect();
      const box = made.getBoundingClientRect();
      const width = room?.width ?? 0;
      const height = room?.height ?? 0;
      const left = x + DISTANCE + box.width > width ? x - DISTANCE - box.width : x + DISTANCE;
      const top = y + DISTANCE + box.height > height ? y - DISTANCE - box.height : y + DISTANCE;
      made.style.transform = `translate(${Math.round(Math.max(4, left))}px, ${Math.round(Math.max(4, top))}px)`;
    },
  };
}
