/**
 * Times as whole multiples of one tick, a power of two small enough for every sum of a run to be exact: then a period
 * of a schedule takes the same time wherever it stands, to the last bit. Times that are such multiples already, as
 * whole numbers, halves and so on, stay what they are.
 */

import type { Prices } from './ops.ts';

/** Doubles hold whole numbers exactly below this. */
const EXACT = 2 ** 53;

/** `occurrences` say how often each operation runs; nothing in a run takes longer than all of them in a row. */
export function tickPrices({ duration, latency }: Prices, occurrences: ArrayLike<number>): Prices {
  let total = 0;
  for (let op = 0; op < duration.length; op++) total += occurrences[op]! * (duration[op]! + latency[op]!);
  if (total === 0) return { duration, latency };
  // Times too small for a finer tick are multiples of the smallest double there is.
  const tick = Math.max(2 ** (Math.ceil(Math.log2(total)) + 1) / EXACT, Number.MIN_VALUE);
  const whole = (time: number) => Math.round(time / tick) * tick;
  return { duration: duration.map(whole), latency: latency.map(whole) };
}
