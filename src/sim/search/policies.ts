/**
 * The policies that a search tries, for one stage per rank and for two on a V. Chosen from 1,152 and 2,016 variants as
 * the few that together come within one or two percent of the best of all (two tenths of a percent on average), over
 * random pipelines of 2 to 12 ranks: few and many microbatches, equal and uneven stages, memory from the least to the
 * whole of what ZB-2p and ZB-V take. A few more serve equal times on long pipelines.
 */

import type { Policy, Turn } from './list-schedule.ts';
import type { Problem } from './problem.ts';

interface Recipe {
  /** In-flight microbatches per later stage, as a share of what the memory limit admits. */
  readonly share: number;
  readonly extra: number;
  readonly turn: Turn;
  readonly gapShare: number;
  readonly oldestFirst?: boolean;
  readonly clearsWhenBlocked?: boolean;
  readonly clearsWhenFull?: boolean;
}

const ONE_STAGE: readonly Recipe[] = [
  { share: 2, extra: 0.5, turn: 'alternate', gapShare: 0.5, clearsWhenBlocked: true },
  { share: 1.5, extra: 0.5, turn: 'forward', gapShare: 0.5, clearsWhenFull: true },
  { share: 0.8, extra: 2, turn: 'backward', gapShare: 1, clearsWhenBlocked: true },
  { share: 1.25, extra: 0.5, turn: 'alternate', gapShare: 0.5 },
  { share: 1.1, extra: 0.5, turn: 'forward', gapShare: 0.5, clearsWhenBlocked: true },
  { share: 1, extra: 0.5, turn: 'forward', gapShare: 1 },
  { share: 1, extra: 1, turn: 'alternate', gapShare: 0 },
  { share: 1, extra: 0, turn: 'backward', gapShare: 1 },
  { share: 1.5, extra: 0.5, turn: 'alternate', gapShare: 0, clearsWhenFull: true },
  { share: 1.5, extra: 0, turn: 'forward', gapShare: 1, clearsWhenFull: true },
  { share: 1.1, extra: 0, turn: 'forward', gapShare: 0.5 },
  { share: 1.25, extra: 0.5, turn: 'forward', gapShare: 0.5, clearsWhenFull: true },
  { share: 2, extra: 0, turn: 'forward', gapShare: 0.5, clearsWhenFull: true },
  { share: 0.7, extra: 2, turn: 'alternate', gapShare: 0 },
  { share: 0.9, extra: 0, turn: 'backward', gapShare: 0.5 },
  { share: 0.7, extra: 0.5, turn: 'forward', gapShare: 0.5 },
  { share: 0.9, extra: 2, turn: 'alternate', gapShare: 0.5, clearsWhenBlocked: true, clearsWhenFull: true },
  { share: 2, extra: 0.5, turn: 'forward', gapShare: 0 },
];

/** On a V with room for a whole one, beside the rounds. */
const WHOLE_V: readonly Recipe[] = [
  { share: 1, extra: 0.5, turn: 'forward', gapShare: 0.5, clearsWhenBlocked: true, clearsWhenFull: true },
  { share: 1, extra: 0.5, turn: 'forward', oldestFirst: true, gapShare: 0.5, clearsWhenFull: true },
  { share: 1.25, extra: 1, turn: 'alternate', gapShare: 0.5, clearsWhenBlocked: true },
  {
    share: 1,
    extra: 0.5,
    turn: 'alternate',
    oldestFirst: true,
    gapShare: 0.5,
    clearsWhenBlocked: true,
    clearsWhenFull: true,
  },
  { share: 1, extra: 0.5, turn: 'forward', gapShare: 0, clearsWhenFull: true },
  { share: 0.9, extra: 1, turn: 'forward', gapShare: 0.5, clearsWhenFull: true },
  { share: 1, extra: 0.5, turn: 'forward', oldestFirst: true, gapShare: 1, clearsWhenFull: true },
  { share: 1.5, extra: 0.5, turn: 'late-forward', oldestFirst: true, gapShare: 1, clearsWhenFull: true },
  { share: 1, extra: 0.5, turn: 'late-forward', gapShare: 0.5, clearsWhenBlocked: true, clearsWhenFull: true },
  { share: 1.25, extra: 0.5, turn: 'backward', gapShare: 0.5 },
];

/** On a V with less room. */
const TIGHT_V: readonly Recipe[] = [
  { share: 1, extra: 0.5, turn: 'forward', oldestFirst: true, gapShare: 1, clearsWhenBlocked: true },
  { share: 1, extra: 0.5, turn: 'forward', oldestFirst: true, gapShare: 0 },
  { share: 1, extra: 1, turn: 'alternate', oldestFirst: true, gapShare: 0 },
  { share: 1, extra: 1, turn: 'forward', gapShare: 0 },
  { share: 1, extra: 1, turn: 'forward', oldestFirst: true, gapShare: 0 },
  { share: 1, extra: 0.5, turn: 'alternate', gapShare: 0 },
  { share: 1, extra: 0.5, turn: 'forward', oldestFirst: true, gapShare: 0.5, clearsWhenBlocked: true },
  { share: 1, extra: 1, turn: 'forward', gapShare: 0.5, clearsWhenFull: true },
  { share: 1, extra: 1, turn: 'late-forward', gapShare: 1, clearsWhenBlocked: true },
  { share: 1, extra: 0.5, turn: 'forward', gapShare: 0.5 },
  { share: 1, extra: 0.5, turn: 'forward', gapShare: 0, clearsWhenFull: true },
  { share: 1.5, extra: 1, turn: 'alternate', oldestFirst: true, gapShare: 1, clearsWhenFull: true },
  { share: 1.1, extra: 0.5, turn: 'forward', gapShare: 1, clearsWhenBlocked: true },
  { share: 1, extra: 0.5, turn: 'forward', gapShare: 1, clearsWhenBlocked: true },
  {
    share: 1,
    extra: 0.5,
    turn: 'forward',
    oldestFirst: true,
    gapShare: 1,
    clearsWhenBlocked: true,
    clearsWhenFull: true,
  },
  { share: 1.1, extra: 0, turn: 'forward', oldestFirst: true, gapShare: 0.5, clearsWhenBlocked: true },
  { share: 1, extra: 0.5, turn: 'backward', gapShare: 1 },
  { share: 1.25, extra: 0, turn: 'backward', gapShare: 1 },
  { share: 0.9, extra: 1, turn: 'forward', gapShare: 0.5, clearsWhenBlocked: true },
  { share: 1, extra: 1, turn: 'forward', oldestFirst: true, gapShare: 0 },
  { share: 1.1, extra: 0.5, turn: 'backward', gapShare: 0.5, clearsWhenFull: true },
  { share: 0.9, extra: 0.5, turn: 'forward', gapShare: 0.5, clearsWhenFull: true },
];

function recipesFor({ vpp, memoryLimit, pp }: Problem): readonly Recipe[] {
  if (vpp === 1) return ONE_STAGE;
  return memoryLimit < 2 * pp ? TIGHT_V : WHOLE_V;
}

/** In the order in which they are worth trying. */
export function policiesFor(problem: Problem): readonly Policy[] {
  return recipesFor(problem).map((recipe) => policyOf(problem, recipe));
}

/** A stage keeps more microbatches in flight the more stages come after it: as many as return while it waits. */
function policyOf({ stages, vpp, memoryLimit }: Problem, recipe: Recipe): Policy {
  const perStage = (recipe.share * (memoryLimit - vpp)) / Math.max(1, stages - 1);
  const rounding = 1e-9;
  return {
    inFlight: Int32Array.from(
      { length: stages },
      (_, stage) => 1 + Math.floor(perStage * (stages - 1 - stage) + recipe.extra + rounding),
    ),
    turn: recipe.turn,
    oldestFirst: recipe.oldestFirst ?? false,
    gapShare: recipe.gapShare,
    clearsWhenBlocked: recipe.clearsWhenBlocked ?? false,
    clearsWhenFull: recipe.clearsWhenFull ?? false,
  };
}
