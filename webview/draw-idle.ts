/** The hatch of idle time: the one pattern that stands for a bubble wherever it shows. */

import type { Palette } from './palette.ts';
import type { Scene } from './scene.ts';

export function drawIdle(
  context: CanvasRenderingContext2D,
  scene: Scene,
  left: number,
  top: number,
  width: number,
  height: number,
): void {
  context.fillStyle = scene.palette.idleBase;
  context.fillRect(left, top, width, height);
  context.fillStyle = hatch(context, scene.palette, scene.dpr);
  context.fillRect(left, top, width, height);
}

let hatchCache: { readonly key: string; readonly pattern: CanvasPattern | string } | null = null;

function hatch(context: CanvasRenderingContext2D, palette: Palette, dpr: number): CanvasPattern | string {
  const key = `${palette.version} ${dpr}`;
  if (hatchCache?.key === key) return hatchCache.pattern;
  const size = Math.round(7 * dpr);
  const tile = new OffscreenCanvas(size, size);
  const pen = tile.getContext('2d');
  if (pen === null) return palette.idleBase;
  pen.strokeStyle = palette.idleLine;
  pen.lineWidth = dpr;
  pen.beginPath();
  for (const shift of [-size, 0, size]) {
    pen.moveTo(shift - 1, size + 1);
    pen.lineTo(shift + size + 1, -1);
  }
  pen.stroke();
  const pattern = context.createPattern(tile, 'repeat') ?? palette.idleBase;
  if (pattern instanceof CanvasPattern) pattern.setTransform(new DOMMatrix().scale(1 / dpr));
  hatchCache = { key, pattern };
  return pattern;
}
