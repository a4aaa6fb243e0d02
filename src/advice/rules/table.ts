/** The rules, one row each. */

import { bubbleLarge } from './bubble-large.ts';
import { heavyStage } from './heavy-stage.ts';
import { measuredStepShort } from './measured-step-short.ts';
import type { Rule } from './rule.ts';
import { tooFewMicrobatches } from './too-few-microbatches.ts';
import { transfersExposed } from './transfers-exposed.ts';

export const RULES: readonly Rule[] = [
  tooFewMicrobatches,
  heavyStage,
  transfersExposed,
  bubbleLarge,
  measuredStepShort,
];
