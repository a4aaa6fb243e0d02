/** Orders as text: `F0.0 I0.0 W0.0`, one line per rank, an overlapped pair as `O(F0.3|B3.1)`. */

import { KIND_NAMES } from '../model/timeline.ts';
import type { Order } from './order.ts';

export function orderLines(order: Order): string[] {
  const { ids, rankStart, microbatchBits, pp } = order;
  const mask = (1 << microbatchBits) - 1;
  const name = (id: number) => `${KIND_NAMES[id & 3]}${id >> (2 + microbatchBits)}.${(id >> 2) & mask}`;
  const lines: string[] = [];
  for (let rank = 0; rank < pp; rank++) {
    const words: string[] = [];
    for (let i = rankStart[rank]!; i < rankStart[rank + 1]!; i++) {
      const id = ids[i]!;
      if (id < 0) words[words.length - 1] = `O(${words.at(-1)}|${name(~id)})`;
      else words.push(name(id));
    }
    lines.push(words.join(' '));
  }
  return lines;
}
