/** How a result varies from step to step, over seeded samples. */

export interface Spread {
  readonly p5: number;
  readonly p50: number;
  readonly p95: number;
  readonly mean: number;
}

export interface Variation {
  readonly samples: number;
  readonly seed: number;
  readonly makespan: Spread;
  readonly bubbleFraction: Spread;
}
