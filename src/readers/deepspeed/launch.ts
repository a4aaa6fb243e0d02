/**
 * The pipeline of a DeepSpeed config stands in the script that starts the training, or in its Python: a flag beside
 * `--deepspeed_config`, or `PipelineModule(…, num_stages=…)`. Both are looked for beside the config, as in
 * deepspeedai/DeepSpeedExamples@45b4b715 training/pipeline_parallelism.
 */

import type { Texts } from '../../model/reading.ts';
import { fromText, type Sourced, type TextRange, unknown } from '../../model/source.ts';
import { refuseText } from '../limits.ts';
import { readWorld, type World } from '../megatron-lm/world.ts';
import { evaluateShell } from '../shell/evaluate.ts';
import { type Argument, type Flags, readFlags } from '../shell/flags.ts';
import type { ShellCommand } from '../shell/machine.ts';
import { candidates, folderOf } from '../shell/paths.ts';
import { type Pieces, textOf } from '../shell/values.ts';

/** Names that scripts beside a config commonly have. */
const SCRIPTS = ['run.sh', 'train.sh', 'launch.sh', 'run_train.sh', 'pretrain.sh'] as const;
const PROGRAMS = ['train.py', 'pretrain.py', 'main.py'] as const;
const FLAGS = [
  'pipeline-parallel-size',
  'pipeline-model-parallel-size',
  'pipe-parallel-size',
  'pipeline-stages',
  'num-stages',
  'pp-size',
] as const;

export interface DeepSpeedLaunch {
  readonly pp: Sourced<number>;
  /** The token that a change of the pipeline size replaces; null where it is none. */
  readonly argument: Argument | null;
  readonly world: World | null;
}

export interface LaunchSearch {
  readonly launch: DeepSpeedLaunch | null;
  readonly needs: readonly string[];
}

/** The launch that names the config at `path`, or the Python beside it that builds a PipelineModule. */
export function findLaunch(path: string, texts: Texts): LaunchSearch {
  const folder = folderOf(path);
  const beside = (name: string): string => (folder === '' ? name : `${folder}/${name}`);
  const needs = new Set([...SCRIPTS, ...PROGRAMS].map(beside));
  const base = path.slice(path.lastIndexOf('/') + 1);
  for (const script of [...SCRIPTS, `${base.replace(/\.json$/, '')}.sh`].map(beside)) {
    const text = Object.hasOwn(texts, script) ? texts[script]! : undefined;
    if (text === undefined || refuseText(script, text) !== null || !text.includes(base)) continue;
    const launch = fromScript(script, base, texts, needs);
    if (launch !== null) return { launch, needs: missingOnes(needs, texts) };
  }
  for (const program of PROGRAMS.map(beside)) {
    const pp = Object.hasOwn(texts, program) ? stagesOf(program, texts[program]!) : null;
    if (pp !== null) return { launch: { pp, argument: null, world: null }, needs: missingOnes(needs, texts) };
  }
  return { launch: null, needs: missingOnes(needs, texts) };
}

function missingOnes(needs: ReadonlySet<string>, texts: Texts): readonly string[] {
  return [...needs].filter((each) => !Object.hasOwn(texts, each));
}

function fromScript(script: string, base: string, texts: Texts, needs: Set<string>): DeepSpeedLaunch | null {
  const names = (words: readonly Pieces[]) => words.some((word) => (textOf(word) ?? '').includes(base));
  const shell = evaluateShell(script, texts, names);
  for (const each of shell.needs) needs.add(each);
  for (const command of shell.commands) {
    const flags = readFlags(command.words, new Set(), command.range);
    const program = programOf(command, script, texts, needs);
    const argument = sizeOf(flags, program === null ? '' : (texts[program] ?? ''));
    const world = worldOf(command, flags);
    if (argument !== null) return { pp: numberOf(argument), argument, world };
    const built = program === null || texts[program] === undefined ? null : stagesOf(program, texts[program]);
    if (built !== null) return { pp: built, argument: null, world };
  }
  return null;
}

/** The Python file of a command, where it is at hand. */
function programOf(command: ShellCommand, script: string, texts: Texts, needs: Set<string>): string | null {
  const named = command.words.map(textOf).find((text) => text?.endsWith('.py') === true);
  if (named == null) return null;
  const paths = candidates(named, script);
  for (const each of paths) needs.add(each);
  return paths.find((each) => Object.hasOwn(texts, each)) ?? null;
}

/** A long flag says what it is; `-p` only where the program declares it so. */
function sizeOf({ byName }: Flags, program: string): Argument | null {
  for (const name of FLAGS) {
    const value = byName.get(name)?.values[0];
    if (value !== undefined) return value;
  }
  const short = /['"]-(\w)['"]\s*,\s*['"]--pipe[\w-]*['"]/.exec(program.slice(0, 100_000))?.[1];
  return short === undefined ? null : (byName.get(short)?.values[0] ?? null);
}

function numberOf({ text, range, note, missing, maybe }: Argument): Sourced<number> {
  const known = maybe === null && text !== null && /^\d{1,6}$/.test(text.trim());
  return known
    ? fromText(Number(text), range, note ?? undefined)
    : unknown(`the pipeline size: ${maybe ?? missing ?? `a number, not ${text}`}`, 'pipeline.size', range);
}

function worldOf(command: ShellCommand, flags: Flags): World {
  const { words, variables, slurm, range } = command;
  return readWorld({ launcher: words.slice(0, 8), flags, variables, slurm, place: range });
}

/** `num_stages=4` of the first PipelineModule that is built with a plain number. */
function stagesOf(program: string, text: string): Sourced<number> | null {
  const call = text.slice(0, 200_000).indexOf('PipelineModule(');
  if (call < 0) return null;
  const found = /\bnum_stages\s*=\s*(\d{1,6})(?![\w.])/.exec(text.slice(call, call + 2000));
  if (found === null) return null;
  const offset = call + found.index + found[0].length - found[1]!.length;
  const range: TextRange = { file: program, offset, length: found[1]!.length };
  return fromText(Number(found[1]), range, 'num_stages of the PipelineModule');
}
