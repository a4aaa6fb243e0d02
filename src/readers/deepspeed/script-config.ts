/**
 * The DeepSpeed config of a script: a heredoc that the script writes with its own variables put in, or a JSON file
 * that `--deepspeed_config` names.
 */

import type { Texts } from '../../model/reading.ts';
import { type Sourced, type TextRange, unknown } from '../../model/source.ts';
import { readJsonc } from '../jsonc/read.ts';
import { type Companions, need } from '../mcore/config.ts';
import type { Launch } from '../megatron-lm/launches.ts';
import { argumentOf } from '../shell/flags.ts';
import { candidates } from '../shell/paths.ts';
import type { Value } from '../shell/values.ts';
import { countFrom, type DeepSpeedConfig, deepSpeedConfig } from './config.ts';

const HEREDOC = /<<-?[ \t]*(["']?)([A-Za-z_]\w*)\1[^\n]*\n/g;
const MARK = /"(?:train_batch_size|train_micro_batch_size_per_gpu|zero_optimization)"/;
const KEYS = {
  train: /"train_batch_size"\s*:\s*("?\$\{?\w+\}?"?|\d+)/,
  micro: /"train_micro_batch_size_per_gpu"\s*:\s*("?\$\{?\w+\}?"?|\d+)/,
  accumulation: /"gradient_accumulation_steps"\s*:\s*("?\$\{?\w+\}?"?|\d+)/,
  zeroStage: /"zero_optimization"\s*:\s*\{[^{}]{0,400}?"stage"\s*:\s*("?\$\{?\w+\}?"?|\d+)/,
} as const;

/** null where the script neither writes nor names one that is at hand. */
export function scriptConfig(launch: Launch, companions: Companions): DeepSpeedConfig | null {
  const { file, texts } = companions;
  const written = heredocConfig(file, texts, launch.variables);
  if (written !== null) return written;
  const flag = launch.flags.byName.get('deepspeed-config')?.values[0];
  if (flag?.text == null || !/\.json$/.test(flag.text)) return null;
  const paths = candidates(flag.text, file);
  const path = paths.find((each) => Object.hasOwn(texts, each));
  if (path !== undefined) return deepSpeedConfig(readJsonc(path, texts[path]!).root, []);
  for (const [i, each] of paths.entries()) need(companions, each, i > 0 ? 'looked for' : 'named');
  return null;
}

/** The last heredoc that holds DeepSpeed's keys. */
function heredocConfig(file: string, texts: Texts, variables: ReadonlyMap<string, Value>): DeepSpeedConfig | null {
  const text = texts[file] ?? '';
  if (!MARK.test(text)) return null;
  let found: DeepSpeedConfig | null = null;
  for (const start of text.matchAll(HEREDOC)) {
    const from = start.index + start[0].length;
    const end = endOf(text, from, start[2]!);
    const body = text.slice(from, end);
    if (!MARK.test(body)) continue;
    const at = (key: keyof typeof KEYS) => valueAt(KEYS[key].exec(body), { file, from, variables });
    found = { train: at('train'), micro: at('micro'), accumulation: at('accumulation'), zeroStage: at('zeroStage') };
  }
  return found;
}

function endOf(text: string, from: number, delimiter: string): number {
  for (let at = from; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const line = text.slice(at, newline < 0 ? text.length : newline);
    if (line.trim() === delimiter) return at;
    if (newline < 0) break;
    at = newline + 1;
  }
  return text.length;
}

interface Body {
  readonly file: string;
  readonly from: number;
  readonly variables: ReadonlyMap<string, Value>;
}

function valueAt(found: RegExpExecArray | null, { file, from, variables }: Body): Sourced<number> | null {
  if (found === null) return null;
  const written = found[1]!;
  const offset = from + found.index + found[0].length - written.length;
  const range: TextRange = { file, offset, length: written.length };
  const name = /\$\{?(\w+)\}?/.exec(written)?.[1];
  if (name === undefined) return countFrom(written, range);
  const value = variables.get(name);
  if (value?.kind !== 'scalar') return unknown(`$${name}, which the script does not set`, undefined, range);
  const argument = argumentOf(value.pieces, range);
  return argument.text === null || argument.maybe !== null
    ? unknown(argument.missing ?? argument.maybe ?? `$${name}`, undefined, argument.range)
    : countFrom(argument.text, argument.range, argument.note ?? undefined);
}
