/**
 * The timeline's colours, read from the page's style (`timeline.css` maps the theme's variables to ours), so that the
 * canvas follows the theme: light, dark, both high contrasts, and the system's forced colours.
 */

import { type Colour, cssColour, inkOn, luminance, mixColours, parseColour, withAlpha } from './colour.ts';

export interface Fill {
  readonly colour: Colour;
  readonly css: string;
  /** For text on it. */
  readonly ink: string;
  /** For the strip that tells kinds apart without colour. */
  readonly edge: string;
}

export interface Palette {
  readonly background: Colour;
  readonly foreground: string;
  readonly dim: string;
  readonly grid: string;
  readonly focus: string;
  readonly transfer: string;
  readonly idle: Colour;
  readonly idleBase: string;
  readonly idleLine: string;
  /** Per kind code, the colours of the first and the last chunk. */
  readonly kinds: readonly { readonly first: Colour; readonly last: Colour }[];
  /** Around bars, in high contrast only. */
  readonly outline: string | null;
  readonly strong: boolean;
  /** Grows with every reading: caches are keyed by it. */
  readonly version: number;
}

const NAMES = ['--bl-forward', '--bl-backward-input', '--bl-backward-weight', '--bl-backward'] as const;
const FALLBACK: Colour = { r: 128, g: 128, b: 128, a: 1 };
const BLACK: Colour = { r: 0, g: 0, b: 0, a: 1 };

let version = 0;

export function readPalette(page: HTMLElement): Palette {
  const probe = page.ownerDocument.createElement('span');
  probe.className = 'probe';
  page.append(probe);
  const read = (name: string): Colour => {
    probe.style.color = `var(${name})`;
    return parseColour(getComputedStyle(probe).color) ?? FALLBACK;
  };
  const background = withAlpha(read('--bl-background'), 1);
  const foreground = read('--bl-foreground');
  const idle = read('--bl-idle');
  const strong =
    page.classList.contains('vscode-high-contrast') ||
    page.classList.contains('vscode-high-contrast-light') ||
    matchMedia('(forced-colors: active)').matches;
  const kinds = NAMES.map((name) => {
    const first = read(name);
    return { first, last: mixColours(first, background, strong ? 0.5 : 0.34) };
  });
  version += 1;
  const palette: Palette = {
    background,
    foreground: cssColour(foreground),
    dim: cssColour(read('--bl-dim')),
    grid: cssColour(read('--bl-grid')),
    focus: cssColour(read('--bl-focus')),
    transfer: cssColour(read('--bl-transfer')),
    idle,
    idleBase: cssColour(withAlpha(idle, strong ? 0 : luminance(background) > 0.5 ? 0.1 : 0.09)),
    idleLine: cssColour(withAlpha(idle, strong ? 1 : luminance(background) > 0.5 ? 0.5 : 0.42)),
    kinds,
    outline: strong ? cssColour(foreground) : null,
    strong,
    version,
  };
  probe.remove();
  return palette;
}

/** The colour of an action; `tone` is 0 for the first chunk to 1 for the last. */
export function fillOf(palette: Palette, kind: number, tone: number): Fill {
  const { first, last } = palette.kinds[kind]!;
  const colour = mixColours(first, last, tone);
  return {
    colour,
    css: cssColour(colour),
    ink: cssColour(inkOn(colour)),
    edge: palette.strong ? palette.foreground : cssColour(mixColours(colour, BLACK, 0.32)),
  };
}
