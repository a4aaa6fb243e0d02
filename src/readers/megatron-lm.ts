/**
 * Megatron-LM launch scripts: `torchrun … pretrain_gpt.py --pipeline-model-parallel-size 8 …`, with its flags in
 * arrays, multi-line strings or on the line itself. Flags as in NVIDIA/Megatron-LM@d98e8a64dd
 * megatron/training/arguments.py; the rules are those of `frameworks/megatron-core`.
 */

import type { MegatronInput } from '../frameworks/megatron-core/keys.ts';
import type { Plan, Said } from '../model/plan.ts';
import type { Reader, Reading, Texts } from '../model/reading.ts';
import { rangeOf, type Sourced, type TextRange } from '../model/source.ts';
import { finding, MAX_PROBLEMS, refuseText } from './limits.ts';
import { scriptEdits } from './megatron-lm/edits.ts';
import { type Launch, readLaunches } from './megatron-lm/launches.ts';
import { megatronPlan, stem } from './megatron-lm/plan.ts';
import { readSettings } from './megatron-lm/settings.ts';

const SHELL_FILE = /\.(?:sh|bash|slurm|sbatch|job|sub)$/i;
const PIPELINE = /--pipeline[-_]model[-_]parallel[-_](?:size|layout)\b/;
const TENSOR = /--tensor[-_]model[-_]parallel[-_]size\b/;
const TRAINS = /\bpretrain_\w+\.py\b|\btrain\w*\.py\b/;
/** A script that sets Megatron's sizes and leaves the launch to one that it sources. */
const SETS_FOR_OTHERS = /^[ \t]*(?:source|\.)[ \t]+\S{0,200}(?:CONFIG|megatron)\S{0,200}\.sh/im;
const SETS_PIPELINE = /^[ \t]*(?:export[ \t]+)?(?:PP|PP_SIZE|PIPELINE_MODEL_PARALLEL_SIZE)=/m;
/** Shells of frameworks that have Megatron's flags and rules of their own beside them. */
const OTHERS = /\bmegatron (?:sft|pt|rlhf)\b|\bverl\.|--actor-num-gpus-per-node\b|--deepspeed\b/;

function claims(path: string, text: string): boolean {
  if (!SHELL_FILE.test(path) && !text.startsWith('#!')) return false;
  if (SETS_FOR_OTHERS.test(text) && SETS_PIPELINE.test(text)) return !OTHERS.test(text);
  if (!text.includes('model-parallel-') && !text.includes('model_parallel_')) return false;
  return (PIPELINE.test(text) || (TENSOR.test(text) && TRAINS.test(text))) && !OTHERS.test(text);
}

function read(path: string, texts: Texts, said: Said): Reading {
  const text = texts[path] ?? '';
  const refused = refuseText(path, text);
  if (refused !== null) return { plans: [], problems: [refused], needs: [] };
  const { launches, shell } = readLaunches(path, readable(texts));
  const problems = shell.problems
    .slice(0, MAX_PROBLEMS)
    .map(({ message, offset, length }) => finding('syntax-error', message, { file: path, offset, length }));
  const plans = launches.map((launch) => planOf(path, launch, said, shell.needs, launches.length > 1));
  return { plans, problems, needs: shell.needs };
}

/** Companions that are too large or binary are as good as absent. */
function readable(texts: Texts): Texts {
  return Object.fromEntries(Object.entries(texts).filter(([file, text]) => refuseText(file, text) === null));
}

function planOf(path: string, launch: Launch, said: Said, needs: readonly string[], several: boolean): Plan {
  const keys = readSettings(launch.flags, said);
  const anchor = anchorOf(path, launch, keys.get('pp')?.value ?? null);
  const elsewhere = elsewhereOf(launch, needs);
  const script = launch.script?.text?.replace(/^.*\//, '') ?? 'launch';
  const order = launch.id === 'main' ? 1 : launch.id.replace('launch-', '');
  return megatronPlan({
    path,
    id: launch.id,
    name: several ? `${stem(path)}: ${script} (${order})` : stem(path),
    anchor,
    findingsPlace: launch.script?.range.file === path ? launch.script.range : anchor,
    keys,
    said,
    world: launch.world,
    elsewhere,
    passed: launch.flags.open.find((each) => each.kind !== 'variable')?.missing ?? null,
    complete: isComplete(launch, keys, elsewhere),
  });
}

/** The place that a person edits to change the pipeline: the value, else the flag, else the script that is launched. */
function anchorOf(path: string, launch: Launch, pp: Sourced<string> | null): TextRange {
  const flag = launch.flags.byName.get('pipeline-model-parallel-size');
  const written = pp === null ? null : rangeOf(pp);
  const value = flag?.values[0]?.range;
  const candidates = [written, value, flag?.range, launch.script?.range, launch.place];
  const own = candidates.find((range) => range != null && range.file === path);
  return own ?? { file: path, offset: 0, length: 0 };
}

/** Where flags may hide that the launch does not show: an undefined variable, or a companion that is not at hand. */
function elsewhereOf({ flags }: Launch, needs: readonly string[]): string | null {
  const open = flags.open.find((each) => each.kind === 'variable');
  if (open === undefined) return null;
  return needs.length === 0 ? open.missing : `${open.missing} (perhaps ${needs[0]} does)`;
}

/** Whether Megatron's required flags must stand in this command. */
function isComplete(launch: Launch, keys: MegatronInput['keys'], elsewhere: string | null): boolean {
  return (
    elsewhere === null &&
    launch.flags.open.length === 0 &&
    TRAINS.test(launch.script?.text ?? '') &&
    !keys.has('checkpointArgs') &&
    !keys.has('yamlConfig')
  );
}

export const megatronLm: Reader = {
  id: 'megatron-lm',
  title: 'Megatron-LM launch scripts',
  files: ['**/*.sh', '**/*.bash', '**/*.slurm', '**/*.sbatch'],
  parsers: [],
  claims,
  read,
  edits: scriptEdits,
};
