/**
 * Megatron-LM launch scripts: `torchrun … pretrain_gpt.py --pipeline-model-parallel-size 8 …`, with its flags in
 * arrays, multi-line strings or on the line itself. Flags as in NVIDIA/Megatron-LM@d98e8a64dd
 * megatron/training/arguments.py; the rules are those of `frameworks/megatron-core`.
 */

import type { Reader } from '../model/reading.ts';
import { flagCompletions } from './completion/flags.ts';
import { isShell, readScript, SHELL_GLOBS, scriptEdits } from './megatron-lm/script.ts';

const PIPELINE = /--pipeline[-_]model[-_]parallel[-_](?:size|layout)\b/;
const TENSOR = /--tensor[-_]model[-_]parallel[-_]size\b/;
const TRAINS = /\bpretrain_\w+\.py\b|\btrain\w*\.py\b/;
/** A script that sets Megatron's sizes and leaves the launch to one that it sources. */
const SETS_FOR_OTHERS = /^[ \t]*(?:source|\.)[ \t]+\S{0,200}(?:CONFIG|megatron)\S{0,200}\.sh/im;
const SETS_PIPELINE = /^[ \t]*(?:export[ \t]+)?(?:PP|PP_SIZE|PIPELINE_MODEL_PARALLEL_SIZE)=/m;
/** Shells of frameworks that have Megatron's flags and rules of their own beside them. */
const OTHERS = /\bmegatron (?:sft|pt|rlhf)\b|\bverl\.|--actor-num-gpus-per-node\b|--deepspeed\b/;

function claims(path: string, text: string): boolean {
  if (!isShell(path, text)) return false;
  if (SETS_FOR_OTHERS.test(text) && SETS_PIPELINE.test(text)) return !OTHERS.test(text);
  if (!text.includes('model-parallel-') && !text.includes('model_parallel_')) return false;
  return (PIPELINE.test(text) || (TENSOR.test(text) && TRAINS.test(text))) && !OTHERS.test(text);
}

export const megatronLm: Reader = {
  id: 'megatron-lm',
  title: 'Megatron-LM launch scripts',
  files: SHELL_GLOBS,
  parsers: [],
  claims,
  read: (path, texts, said) => readScript(path, texts, said, {}),
  edits: (texts, plan, change) => scriptEdits(texts, plan, change, {}),
  completions: (_path, text, offset) => flagCompletions(text, offset, {}),
};
