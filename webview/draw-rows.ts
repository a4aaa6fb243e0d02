/**
 * The rows: up to a few thousand visible actions each is drawn as a bar, beyond that as columns of pixels.
 */

import { drawBars } from './draw-bars.ts';
import { drawColumns } from './draw-columns.ts';
import { firstEndingAfter } from './items.ts';
import { visibleRanks } from './layout.ts';
import { clipped, rowsBox, type Scene, type Slice } from './scene.ts';

/** Actions in view up to which each is drawn by itself. */
const MOST_BARS = 5000;

/** Returns how it was drawn. */
export function drawRows(context: CanvasRenderingContext2D, scene: Scene): 'bars' | 'columns' {
  const slices = visibleSlices(scene);
  const total = slices.reduce((sum, slice) => sum + slice.to - slice.from, 0);
  const mode = total <= MOST_BARS ? 'bars' : 'columns';
  clipped(context, rowsBox(scene, scene.layout.plotLeft), () => {
    if (mode === 'bars') drawBars(context, scene, slices);
    else {
      drawColumns(
        context,
        scene,
        slices.map((slice) => slice.rank),
      );
    }
  });
  return mode;
}

function visibleSlices(scene: Scene): readonly Slice[] {
  const { timeline } = scene.view;
  const { first, last } = visibleRanks(scene.layout, scene.scroll);
  const slices: Slice[] = [];
  for (let rank = first; rank <= last; rank++) {
    const stop = timeline.rankStart[rank + 1]!;
    let to = firstEndingAfter(timeline, rank, scene.span.to);
    while (to < stop && timeline.start[to]! < scene.span.to) to += 1;
    slices.push({ rank, from: firstEndingAfter(timeline, rank, scene.span.from), to });
  }
  return slices;
}
