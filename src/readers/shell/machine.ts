/**
 * The state of a script that is run on paper: what is set, which arguments are known, which batch header holds, and
 * the budget that keeps every reading short.
 */

import { lineStarts, positionAt } from '../../model/position.ts';
import type { Texts } from '../../model/reading.ts';
import type { TextRange } from '../../model/source.ts';
import type { Scope } from './expand.ts';
import { parseShell } from './parse.ts';
import { directiveWords, type SlurmSize, type SlurmSizes, slurmSizes, slurmVariable } from './slurm.ts';
import type { Script, ShellProblem, Statement } from './syntax.ts';
import { missing, type Pieces, sizeOf, type Value } from './values.ts';

/** Work that one reading may do; a large real script spends a few thousand. */
export const BUDGET = 1 << 19;
export const MAX_PIECES_OF_VALUE = 20_000;
export const MAX_COMMANDS = 256;
export const MAX_CALLS = 8;
export const MAX_NEEDS = 16;

export interface ShellCommand {
  readonly file: string;
  readonly range: TextRange;
  /** The words, the command's name first. */
  readonly words: readonly Pieces[];
  /** What is set where the command stands, its own prefix included. */
  readonly variables: ReadonlyMap<string, Value>;
  readonly slurm: SlurmSizes;
  /** Why it may not run; null when nothing speaks against it. */
  readonly maybe: string | null;
}

export interface ShellReading {
  readonly commands: readonly ShellCommand[];
  /** What is set at the end, in order of first assignment. */
  readonly variables: ReadonlyMap<string, Value>;
  readonly slurm: SlurmSizes;
  readonly problems: readonly ShellProblem[];
  readonly needs: readonly string[];
}

export interface Shared {
  readonly texts: Texts;
  readonly main: string;
  readonly commands: ShellCommand[];
  readonly needs: Set<string>;
  readonly scripts: Map<string, Script>;
  readonly lines: Map<string, readonly number[]>;
  readonly called: Set<string>;
  readonly wanted: (words: readonly Pieces[]) => boolean;
  budget: number;
}

export interface State {
  readonly shared: Shared;
  readonly file: string;
  readonly variables: Map<string, Value>;
  readonly functions: Map<string, { readonly body: readonly Statement[]; readonly file: string }>;
  readonly slurm: Map<SlurmSize, Pieces>;
  readonly stack: readonly string[];
  readonly maybe: string | null;
  positional: readonly Pieces[] | null;
  /** Set by `exit` and `return` inside a branch: what follows there does not run. */
  ended: boolean;
}

export function scriptOf(shared: Shared, path: string): Script {
  let script = shared.scripts.get(path);
  if (script === undefined) {
    script = parseShell(shared.texts[path] ?? '');
    shared.scripts.set(path, script);
  }
  return script;
}

export function readDirectives(script: Script, state: State): void {
  for (const directive of script.directives) slurmSizes(directiveWords(directive, state.file), state.slurm);
}

export function fork(state: State): State {
  spend(state, state.variables.size);
  return { ...state, variables: new Map(state.variables), slurm: new Map(state.slurm), ended: false };
}

export function spend(state: State, cost: number): boolean {
  state.shared.budget -= cost;
  return state.shared.budget > 0;
}

export function scopeOf(state: State): Scope {
  return {
    file: state.file,
    text: state.shared.texts[state.file] ?? '',
    positional: state.positional,
    get: (name) => state.variables.get(name) ?? slurmVariable(name, state.slurm) ?? placeVariable(name, state),
    set: (name, value) => setVariable(state, name, value),
    spend: (cost) => spend(state, cost),
  };
}

/** `$PWD` is the folder that a script is started in: its own, as `paths.ts` has it. */
export function placeVariable(name: string, state: State): Value | undefined {
  if (name !== 'PWD') return undefined;
  const range = { file: state.file, offset: 0, length: 0 };
  return {
    kind: 'scalar',
    pieces: [{ text: '.', range, exact: false, note: null, missing: null, maybe: null, unknown: null }],
  };
}

export function setVariable(state: State, name: string, value: Value): void {
  const size = sizeOf(value);
  if (spend(state, size) && size <= MAX_PIECES_OF_VALUE) {
    state.variables.set(name, value);
    return;
  }
  const range = { file: state.file, offset: 0, length: 0 };
  state.variables.set(name, { kind: 'scalar', pieces: [missing('a text that grows without end', range)] });
}

export function reason(state: State, offset: number): string {
  return `depending on a condition in line ${lineOf(state, offset)}`;
}

export function lineOf({ shared, file }: State, offset: number): number {
  let starts = shared.lines.get(file);
  if (starts === undefined) {
    starts = lineStarts(shared.texts[file] ?? '');
    shared.lines.set(file, starts);
  }
  return positionAt(starts, offset).line;
}
