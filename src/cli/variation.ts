/** The variation that a request asks for: seeded samples of the same run with noise, slow ranks, long microbatches. */

import type { Costs } from '../model/costs.ts';
import { counted, grouped } from '../model/counted.ts';
import type { Variation } from '../model/variation.ts';
import { DEFAULT_SAMPLES, MAX_SAMPLES, variationOf, variationRefusal } from '../sim/jitter.ts';
import { price } from '../sim/ops.ts';
import type { PipelineShape } from '../sim/shape.ts';
import { programOf, type SimulationOptions } from '../sim/simulate.ts';
import type { Parsed, SimulateRequest } from './options.ts';

/** Beyond, factors of a few actions are all there is to a step. */
const MAX_JITTER = 2;

/** Why the request's variation cannot be told, in one line; null when it can, or none is asked. */
export function variationProblem(request: SimulateRequest): string | null {
  const { jitter, samples, seed, rankScale, microbatchScale, pp, microbatches, communication } = request;
  if (jitter === null) {
    const alone = Object.entries({ samples, seed, rankScale, microbatchScale }).find(([, value]) => value !== null);
    return alone === undefined ? null : `${alone[0]} says how a run varies, but jitter is missing`;
  }
  if (communication !== 'async') return `how a run varies is told for async transfers, not for ${communication} ones`;
  if (jitter > MAX_JITTER) return `the jitter is ${jitter}; it is the spread of a logarithm, at most ${MAX_JITTER}`;
  if (samples !== null && samples > MAX_SAMPLES)
    return `${counted(samples, 'sample')} are too many (at most ${grouped(MAX_SAMPLES)})`;
  if (rankScale !== null && rankScale.length !== pp) {
    return `the rank scale has ${counted(rankScale.length, 'factor')} for ${counted(pp, 'rank')}`;
  }
  if (microbatchScale !== null && microbatchScale.length !== microbatches) {
    return `the microbatch scale has ${counted(microbatchScale.length, 'factor')} for ${counted(microbatches, 'microbatch')}`;
  }
  return null;
}

/** null where none is asked. Runs in full, however long the run is. */
export function variation(
  request: SimulateRequest,
  shape: PipelineShape,
  costs: Costs,
  options: SimulationOptions,
): Parsed<Variation | null> {
  const { jitter, samples, seed, rankScale, microbatchScale, overlapFactor } = request;
  if (jitter === null) return { ok: true, value: null };
  const compiled = programOf(shape, costs, options);
  if (!compiled.ok) return { ok: false, problem: `a variation needs the whole run: ${compiled.reason}` };
  const value = variationOf(compiled.program, price(compiled.program.ops, costs, overlapFactor), {
    sigma: jitter,
    samples: samples ?? DEFAULT_SAMPLES,
    seed: seed ?? 0,
    factors: { ranks: rankScale, microbatches: microbatchScale },
  });
  const refusal = value === null ? null : variationRefusal(value);
  return refusal === null ? { ok: true, value } : { ok: false, problem: refusal };
}
