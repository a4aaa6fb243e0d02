/** The foot of the page: what the colours and shapes mean, and beside it what is focused or selected. */

import { KIND_NAMES } from '../src/model/timeline.ts';
import type { Coverage } from './coverage.ts';
import { KIND_WORDS } from './describe.ts';
import { element } from './dom.ts';
import { fillOf, type Palette } from './palette.ts';

export interface Legend {
  readonly element: HTMLElement;
  /** Empty shows how to begin. */
  readonly setReadout: (text: string) => void;
  readonly show: (coverage: Coverage, vpp: number, palette: Palette) => void;
}

const HINT = 'Drag to pan, Ctrl+wheel to zoom, Shift+drag to measure, ? for keys';
const SHOWN_CHUNKS = 4;

export function createLegend(): Legend {
  const keys = element('div', { class: 'legend', role: 'list', 'aria-label': 'Legend' });
  const readout = element('div', { class: 'readout' }, HINT);
  const entry = (word: string, ...swatches: readonly HTMLElement[]) =>
    element('span', { role: 'listitem' }, ...swatches, word);
  return {
    element: element('footer', {}, keys, readout),
    setReadout: (text) => {
      readout.textContent = text === '' ? HINT : text;
    },
    show: (coverage, vpp, palette) => {
      const tones = Array.from({ length: Math.min(vpp, SHOWN_CHUNKS) }, (_, n, count = Math.min(vpp, SHOWN_CHUNKS)) =>
        count === 1 ? 0 : n / (count - 1),
      );
      const swatch = (kind: number, tone: number) => {
        const made = element('i', { class: `swatch kind-${KIND_NAMES[kind]}`, 'aria-hidden': 'true' });
        const fill = fillOf(palette, kind, tone);
        made.style.backgroundColor = fill.css;
        made.style.borderColor = fill.edge;
        return made;
      };
      keys.replaceChildren(
        ...coverage.kinds.map((kind) => entry(KIND_WORDS[kind] ?? '', ...tones.map((tone) => swatch(kind, tone)))),
        entry('idle', element('i', { class: 'swatch idle', 'aria-hidden': 'true' })),
        ...(vpp > 1 ? [element('span', { class: 'note', role: 'listitem' }, `shades: chunks 0 to ${vpp - 1}`)] : []),
      );
    },
  };
}
