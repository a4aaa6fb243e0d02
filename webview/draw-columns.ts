/**
 * Rows in which there is more to see than pixels: every pixel column is the mix of what happens in it, as opaque as
 * the rank is busy, over the hatch. So a bubble shows by its share and never vanishes behind rounding.
 */

import { columnShares } from './coverage.ts';
import { drawIdle } from './draw-idle.ts';
import { barTop } from './layout.ts';
import { type Scene, snap } from './scene.ts';

let strip: { readonly canvas: OffscreenCanvas; readonly pen: OffscreenCanvasRenderingContext2D } | null = null;

/** One line of pixels per rank, stretched over its row. */
export function drawColumns(context: CanvasRenderingContext2D, scene: Scene, ranks: readonly number[]): void {
  const { layout, coverage, span } = scene;
  const columns = Math.max(1, Math.round(layout.plotWidth * scene.dpr));
  const pen = stripOf(columns, ranks.length);
  if (pen === null) return;
  const image = pen.createImageData(columns, ranks.length);
  const shares = new Float32Array(columns * coverage.width);
  const colours = slotColours(scene);
  ranks.forEach((rank, row) => {
    columnShares(coverage, rank, span.from, span.to, columns, shares);
    mixRow(shares, coverage.width, coverage.tones, colours, image.data, row * columns * 4, columns);
  });
  pen.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  ranks.forEach((rank, row) => {
    const top = snap(scene, barTop(layout, scene.scroll, rank));
    drawIdle(context, scene, layout.plotLeft, top, layout.plotWidth, layout.barHeight);
    context.drawImage(pen.canvas, 0, row, columns, 1, layout.plotLeft, top, layout.plotWidth, layout.barHeight);
  });
  context.imageSmoothingEnabled = true;
}

function stripOf(width: number, height: number): OffscreenCanvasRenderingContext2D | null {
  if (strip === null || strip.canvas.width !== width || strip.canvas.height < height) {
    const canvas = new OffscreenCanvas(width, height);
    const pen = canvas.getContext('2d');
    strip = pen === null ? null : { canvas, pen };
  }
  return strip?.pen ?? null;
}

/** Red, green and blue of each slot's sum; with tones, of the first chunk's part and of the tone's part. */
function slotColours(scene: Scene): Float32Array {
  const { coverage, palette } = scene;
  const colours = new Float32Array(coverage.width * 3);
  coverage.kinds.forEach((kind, n) => {
    const { first, last } = palette.kinds[kind]!;
    const slot = coverage.tones ? n * 2 : n;
    colours.set([first.r, first.g, first.b], slot * 3);
    if (coverage.tones) colours.set([last.r - first.r, last.g - first.g, last.b - first.b], slot * 3 + 3);
  });
  return colours;
}

function mixRow(
  shares: Float32Array,
  width: number,
  tones: boolean,
  colours: Float32Array,
  out: Uint8ClampedArray,
  base: number,
  columns: number,
): void {
  const step = tones ? 2 : 1;
  for (let column = 0; column < columns; column++) {
    let red = 0;
    let green = 0;
    let blue = 0;
    let busy = 0;
    for (let slot = 0; slot < width; slot++) {
      const share = shares[column * width + slot]!;
      if (slot % step === 0) busy += share;
      red += share * colours[slot * 3]!;
      green += share * colours[slot * 3 + 1]!;
      blue += share * colours[slot * 3 + 2]!;
    }
    const at = base + column * 4;
    if (busy <= 0) continue;
    out[at] = red / busy;
    out[at + 1] = green / busy;
    out[at + 2] = blue / busy;
    out[at + 3] = busy * 255;
  }
}
