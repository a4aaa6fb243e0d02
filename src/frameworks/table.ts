/** The frameworks, one row each. */

import type { FrameworkId } from '../model/schedule.ts';
import { COLOSSAL_AI } from './colossal-ai.ts';
import { DEEPSPEED } from './deepspeed.ts';
import { DUALPIPE } from './dualpipe.ts';
import type { Framework } from './framework.ts';
import { GPT_NEOX } from './gpt-neox.ts';
import { MAXTEXT } from './maxtext.ts';
import { MEGATRON_DEEPSPEED } from './megatron-deepspeed.ts';
import { MEGATRON_LM } from './megatron-lm.ts';
import { MINDFORMERS } from './mindformers.ts';
import { MINDSPEED_LLM } from './mindspeed-llm.ts';
import { NANOTRON } from './nanotron.ts';
import { OLMO_CORE } from './olmo-core.ts';
import { PADDLENLP } from './paddlenlp.ts';
import { TORCH } from './torch.ts';
import { TORCHTITAN } from './torchtitan.ts';
import { ZERO_BUBBLE } from './zero-bubble.ts';

export const FRAMEWORKS: readonly Framework[] = [
  MEGATRON_LM,
  TORCH,
  TORCHTITAN,
  DEEPSPEED,
  NANOTRON,
  DUALPIPE,
  ZERO_BUBBLE,
  MINDSPEED_LLM,
  MEGATRON_DEEPSPEED,
  GPT_NEOX,
  MAXTEXT,
  MINDFORMERS,
  PADDLENLP,
  OLMO_CORE,
  COLOSSAL_AI,
];

const BY_ID: ReadonlyMap<FrameworkId, Framework> = new Map(FRAMEWORKS.map((row) => [row.id, row]));

/** null for a framework whose schedule rules are not known. */
export function framework(id: FrameworkId): Framework | null {
  return BY_ID.get(id) ?? null;
}
