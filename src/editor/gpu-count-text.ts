/** What may be typed as a GPU count. */

import { grouped } from '../model/counted.ts';

export const GPUS_AT_MOST = 10_000_000;

/** What is wrong with a typed GPU count; null when it can be used. Empty is allowed: it forgets the count. */
export function gpuCountProblem(typed: string): string | null {
  const text = typed.trim();
  if (text === '') return null;
  if (!/^\d+$/.test(text)) return 'A whole number of GPUs, such as 64.';
  const count = Number(text);
  if (count < 1) return 'At least one GPU.';
  return count > GPUS_AT_MOST ? `At most ${grouped(GPUS_AT_MOST)} GPUs.` : null;
}
