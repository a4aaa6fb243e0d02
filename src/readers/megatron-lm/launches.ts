/**
 * The launches of a Megatron-LM script: every command that starts a training script with Megatron's flags. A file
 * that only sets the flags, to be launched by another one, counts as one launch of everything it sets.
 */

import { MEGATRON_KEYS } from '../../frameworks/megatron-core/keys.ts';
import type { Texts } from '../../model/reading.ts';
import type { TextRange } from '../../model/source.ts';
import { evaluateShell } from '../shell/evaluate.ts';
import { type Argument, argumentOf, type Flags, readFlags, wordsOfText } from '../shell/flags.ts';
import type { ShellCommand, ShellReading } from '../shell/machine.ts';
import { missing, type Piece, type Pieces, splitFields, textOf, type Value } from '../shell/values.ts';
import { readWorld, type World } from './world.ts';

export interface Launch {
  readonly id: string;
  readonly flags: Flags;
  readonly world: World;
  /** The Python script; null where only flags are set. */
  readonly script: Argument | null;
  readonly place: TextRange;
  /** The whole command, taken apart. */
  readonly words: readonly Pieces[];
  /** What is set where the command stands, its own prefix included. */
  readonly variables: ReadonlyMap<string, Value>;
  /** Flags below a line that lacks its `\\`: the shell takes them for a command of their own. */
  readonly cutOff: TextRange | null;
  /** Why it may not run. */
  readonly maybe: string | null;
}

export interface Launches {
  readonly launches: readonly Launch[];
  readonly shell: ShellReading;
}

const MARK =
  /--(?:pipeline[-_]model[-_]parallel[-_](?:size|layout)|tensor[-_]model[-_]parallel[-_]size|num[-_]layers|hybrid[-_]layer[-_]pattern|actor[-_]num[-_](?:nodes|gpus[-_]per[-_]node))\b/;
/** What `bash -c '$LAUNCHER $CMD'` hands over: another shell expands it from what is exported. */
const HANDS_OVER = /^\s*\$\{?[A-Z_]+\}?\s/;
/** Scripts that take Megatron's flags and do not train. */
const NOT_TRAINING =
  /(?:generat|inference|server|convert|preprocess|export|quantize|prune|mmlu|evaluat|eval_|merge_|checkpoint)[^/]*\.py$/;
const NOT_LAUNCHING = new Set(['echo', 'printf', 'cat', 'grep', 'sed', 'tee', 'log', 'logger', 'print']);

const SWITCHES: ReadonlySet<string> = new Set([
  ...Object.values(MEGATRON_KEYS)
    .filter((row) => row.takes === 'switch')
    .map((row) => row.flag),
  'sequence-parallel',
  'use-distributed-optimizer',
  'use-mcore-models',
  'use-flash-attn',
  'overlap-grad-reduce',
  'overlap-param-gather',
  'untie-embeddings-and-output-weights',
  'disable-bias-linear',
  'moe-grouped-gemm',
  'standalone',
]);

function wanted(words: readonly Pieces[]): boolean {
  return words.some((word) =>
    word.some((piece) => piece.text !== null && (MARK.test(piece.text) || HANDS_OVER.test(piece.text))),
  );
}

/** `switches` are flags that take no value. */
export function readLaunches(path: string, texts: Texts, switches: ReadonlySet<string> = SWITCHES): Launches {
  const shell = evaluateShell(path, texts, wanted);
  const launches: Launch[] = [];
  let others = 0;
  for (const { command, cutOff } of whole(shell.commands, texts)) {
    const words = flatten(command);
    if (words === null) continue;
    const at = words.findIndex((word) => /\.py$/.test(word.at(-1)?.text ?? ''));
    const script = at < 0 ? null : scriptOf(words[at]!, command.range);
    if (script !== null && NOT_TRAINING.test(script.text ?? '')) {
      others++;
      continue;
    }
    const flags = readFlags(words, switches, command.range);
    if (!isPlan(flags)) continue;
    const launcher = at < 0 ? words.slice(0, 8) : words.slice(0, at);
    const open = at < 0 ? flags.open : readFlags(words.slice(at + 1), switches, command.range).open;
    const { variables, slurm, range } = command;
    const launcherOpen = readFlags(launcher, SWITCHES, command.range).open;
    const world = readWorld({ launcher, flags: { ...flags, open: launcherOpen }, variables, slurm, place: range });
    const id = launches.length === 0 ? 'main' : `launch-${launches.length + 1}`;
    launches.push({
      id,
      flags: { ...flags, open },
      world,
      script,
      place: range,
      words,
      variables,
      cutOff,
      maybe: command.maybe,
    });
  }
  if (launches.length > 0 || others > 0) return { launches, shell };
  const only = unlaunched(path, shell);
  return { launches: only === null ? [] : [only], shell };
}

interface WholeCommand {
  readonly command: ShellCommand;
  readonly cutOff: TextRange | null;
}

/** Commands with the flags that a forgotten `\\` cuts off from them: a line of flags right below. */
function whole(commands: readonly ShellCommand[], texts: Texts): readonly WholeCommand[] {
  const joined: WholeCommand[] = [];
  for (const command of commands) {
    const last = joined.at(-1);
    const start = command.words[0]?.[0]?.text ?? '';
    if (last === undefined || !start.startsWith('--') || !follows(last.command.range, command.range, texts)) {
      joined.push({ command, cutOff: null });
      continue;
    }
    const { range } = last.command;
    const length = command.range.offset + command.range.length - range.offset;
    const words = [...last.command.words, ...command.words];
    const cutOff = last.cutOff ?? firstLine(command.range, texts);
    joined[joined.length - 1] = { command: { ...last.command, words, range: { ...range, length } }, cutOff };
  }
  return joined;
}

/** Whether only blanks and one line end stand between two ranges. */
function follows(before: TextRange, after: TextRange, texts: Texts): boolean {
  const end = before.offset + before.length;
  if (before.file !== after.file || after.offset < end || after.offset - end > 200) return false;
  return /^[ \t]*\r?\n[ \t]*$/.test((texts[before.file] ?? '').slice(end, after.offset));
}

function firstLine(range: TextRange, texts: Texts): TextRange {
  const line = /^[^\r\n]*/.exec((texts[range.file] ?? '').slice(range.offset, range.offset + range.length))![0];
  return { ...range, length: line.replace(/\s*\\?$/, '').length };
}

/** The script's own name, however much of its path is known. */
function scriptOf(word: Pieces, fallback: TextRange): Argument {
  const last = word.at(-1)!;
  return { ...argumentOf(word, fallback), range: last.range, text: textOf(word) ?? last.text };
}

function isPlan(flags: Flags): boolean {
  return ['pipeline-model-parallel-size', 'tensor-model-parallel-size', 'num-layers', 'hybrid-layer-pattern'].some(
    (name) => flags.byName.has(name),
  );
}

/** The words, with the text of `bash -c "…"` and `eval "…"` taken apart; null for a command that only shows them. */
function flatten({ words, variables }: ShellCommand): readonly Pieces[] | null {
  const name = (words[0] === undefined ? '' : (textOf(words[0]) ?? '')).replace(/^.*\//, '');
  if (NOT_LAUNCHING.has(name)) return null;
  return words.flatMap((word, i) => {
    const before = i === 0 ? null : textOf(words[i - 1]!);
    const isText = name === 'eval' || (before !== null && /^-[a-z]*c$/.test(before)) || word.some(isCommandText);
    return isText ? wordsOfText(word).flatMap((each) => expandLater(each, variables)) : [word];
  });
}

/** Flags and blanks in one piece: a command line for another shell to take apart (`ssh host "…"`). */
function isCommandText({ text }: Piece): boolean {
  return text !== null && /\s/.test(text) && MARK.test(text);
}

/** A variable that was kept from this shell, `bash -c '… $PP'`: the other one expands it from what is exported. */
function expandLater(word: Pieces, variables: ReadonlyMap<string, Value>): readonly Pieces[] {
  const text = textOf(word);
  if (text === null || !text.includes('$')) return [word];
  const { range } = word[0]!;
  const name = /^\$\{?([A-Za-z_]\w*)\}?$/.exec(text)?.[1];
  const value = name === undefined ? undefined : variables.get(name);
  if (value?.kind === 'scalar') return splitFields(value.pieces).fields;
  return [[missing(`${text.length > 40 ? `${text.slice(0, 40)}…` : text}, which another shell expands`, range)]];
}

/** Flags that the file sets in variables and never launches. */
function unlaunched(path: string, shell: ShellReading): Launch | null {
  const words: Pieces[] = [];
  for (const value of shell.variables.values()) {
    const fields = value.kind === 'array' ? value.items : splitFields(value.pieces).fields;
    const takes = fields.some((field) => field[0]?.text?.startsWith('--') === true);
    if (takes) for (const field of fields) words.push(field);
  }
  const place = { file: path, offset: 0, length: 0 };
  const flags = readFlags(words, SWITCHES, place);
  const pp = flags.byName.get('pipeline-model-parallel-size');
  if (pp === undefined) return null;
  const { variables, slurm } = shell;
  const world = readWorld({ launcher: [], flags, variables, slurm, place: pp.range });
  return { id: 'main', flags, world, script: null, place: pp.range, words, variables, cutOff: null, maybe: null };
}
