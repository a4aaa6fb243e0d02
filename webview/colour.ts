/** Colours as numbers: reading what the browser computed, mixing, and the contrast of WCAG 2. Pure. */

export interface Colour {
  /** 0 to 255. */
  readonly r: number;
  readonly g: number;
  readonly b: number;
  /** 0 to 1. */
  readonly a: number;
}

/** Reads `rgb(…)`, `rgba(…)` and `color(srgb …)`, the forms that `getComputedStyle` returns; null for others. */
export function parseColour(text: string): Colour | null {
  const match = /^(rgba?|color)\((?:srgb )?([^)]*)\)$/.exec(text.trim());
  if (match === null) return null;
  const scale = match[1] === 'color' ? 255 : 1;
  const numbers = (match[2] ?? '')
    .split(/[\s,/]+/)
    .filter(Boolean)
    .map(Number);
  const [r, g, b, a = 1] = numbers;
  if (r === undefined || g === undefined || b === undefined || numbers.some(Number.isNaN)) return null;
  return { r: r * scale, g: g * scale, b: b * scale, a };
}

export function cssColour(colour: Colour): string {
  return `rgba(${Math.round(colour.r)}, ${Math.round(colour.g)}, ${Math.round(colour.b)}, ${colour.a})`;
}

/** `share` of `over`, the rest of `base`. */
export function mixColours(base: Colour, over: Colour, share: number): Colour {
  const mix = (from: number, to: number) => from + (to - from) * share;
  return { r: mix(base.r, over.r), g: mix(base.g, over.g), b: mix(base.b, over.b), a: mix(base.a, over.a) };
}

/** What is seen where `over`, partly transparent, lies on an opaque colour. */
export function flatten(over: Colour, base: Colour): Colour {
  return { ...mixColours(base, { ...over, a: base.a }, over.a), a: 1 };
}

export function withAlpha(colour: Colour, a: number): Colour {
  return { ...colour, a };
}

export function luminance(colour: Colour): number {
  const linear = (value: number) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(colour.r) + 0.7152 * linear(colour.g) + 0.0722 * linear(colour.b);
}

/** 1 to 21. */
export function contrast(one: Colour, other: Colour): number {
  const a = luminance(one);
  const b = luminance(other);
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

const BLACK: Colour = { r: 0, g: 0, b: 0, a: 1 };
const WHITE: Colour = { r: 255, g: 255, b: 255, a: 1 };

/** Black or white, whichever reads better on the colour. */
export function inkOn(colour: Colour): Colour {
  return contrast(colour, WHITE) >= contrast(colour, BLACK) ? WHITE : BLACK;
}
