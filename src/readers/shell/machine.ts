/**
 * The state of a script that is run on paper: what is set, which arguments are known, which batch header holds, and
 * the budget that keeps every reading short. Past the budget the rest of the script is still read once, in time linear
 * in its text: a small reserve follows plain values as before, and what it cannot pay for is unknown.
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
/** Work past the budget, and the most that one step of it may cost. */
const RESERVE = 1 << 17;
const MAX_RESERVE_COST = 1 << 11;
/** Steps that cost no more are always taken: where each text is read once, they are linear in it. */
const MAX_FREE_COST = 16;
/** Variables that are copied for the commands past the budget. */
const MAX_COPIES = 1 << 20;
const MAX_PIECES_OF_VALUE = 20_000;
/** Past the budget. */
const MAX_PIECES_OF_SMALL_VALUE = 256;
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
  /** Where the script at hand spent the budget; null where it did not. */
  readonly overrun: ShellProblem | null;
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
  reserve: number;
  copies: number;
  /** The statement of the main script that runs. */
  at: number;
  /** Where the budget was spent. */
  overrunAt: number | null;
  /** Something that may set any variable was not followed: what is not set since is unknown. */
  isLost: boolean;
  /** A sourced script that lies outside the root. */
  outside: string | null;
}

export function createShared(main: string, texts: Texts, wanted: (words: readonly Pieces[]) => boolean): Shared {
  return {
    texts,
    main,
    commands: [],
    needs: new Set(),
    scripts: new Map(),
    lines: new Map(),
    called: new Set(),
    wanted,
    budget: BUDGET,
    reserve: RESERVE,
    copies: MAX_COPIES,
    at: 0,
    overrunAt: null,
    isLost: false,
    outside: null,
  };
}

export interface State {
  readonly shared: Shared;
  readonly file: string;
  readonly variables: Map<string, Value>;
  readonly functions: Map<string, { readonly body: readonly Statement[]; readonly file: string }>;
  readonly slurm: Map<SlurmSize, Pieces>;
  readonly stack: readonly string[];
  readonly maybe: string | null;
  /** Shares its variables with the state that it branched off: it may only make them unknown. */
  readonly isFlat: boolean;
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

/** A copy that can be changed without the state; past the budget one that shares its variables. */
export function fork(state: State): State {
  const slurm = new Map(state.slurm);
  return spend(state, state.variables.size)
    ? { ...state, variables: new Map(state.variables), slurm, ended: false }
    : flat({ ...state, slurm });
}

/** What is set, for a command that is reported; null when there were too many of them past the budget. */
export function snapshot(state: State): State | null {
  const { shared, variables } = state;
  if (!spend(state, variables.size)) shared.copies -= variables.size;
  return shared.copies < 0 ? null : { ...state, isFlat: false, variables: new Map(variables) };
}

export function flat(state: State): State {
  return { ...state, isFlat: true, ended: false };
}

/** Pays for work: from the budget, then in small amounts from the reserve; false when it cannot be paid. */
export function spend({ shared }: State, cost: number): boolean {
  if (shared.budget > 0) {
    shared.budget -= cost;
    if (shared.budget > 0) return true;
    shared.overrunAt ??= shared.at;
  }
  shared.reserve -= cost;
  return cost <= MAX_FREE_COST || (cost <= MAX_RESERVE_COST && shared.reserve >= 0);
}

/** Pays for reading a part of the text that may be read again and again; false when it must not. */
export function enter(state: State): boolean {
  spend(state, 1);
  return state.shared.budget > 0 || state.shared.reserve > 0;
}

/** What the overrun is to a person: the line of the main script where the budget was spent. */
export function overrunOf({ texts, main, overrunAt }: Shared): ShellProblem | null {
  if (overrunAt === null) return null;
  const line = /^[^\r\n]*/.exec((texts[main] ?? '').slice(overrunAt, overrunAt + 200))![0];
  const message = 'This script does too much to be followed: from here on, what depends on it is unknown';
  return { message, offset: overrunAt, length: line.length };
}

export function scopeOf(state: State): Scope {
  const { shared, file } = state;
  return {
    file,
    text: shared.texts[file] ?? '',
    positional: state.positional,
    outside: shared.outside,
    get: (name) =>
      state.variables.get(name) ??
      (shared.isLost ? notFollowed(file) : (slurmVariable(name, state.slurm) ?? placeVariable(name, state))),
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

const NOT_FOLLOWED = 'a variable that is not followed: the script does too much';

/** May hold any words; what is appended changes nothing, so that it is not paid for again. */
function notFollowed(file: string): Value {
  return { kind: 'scalar', pieces: [missing(NOT_FOLLOWED, { file, offset: 0, length: 0 }, 'variable')] };
}

export function isNotFollowed(value: Value): boolean {
  return value.kind === 'scalar' && value.pieces.length === 1 && value.pieces[0]!.missing === NOT_FOLLOWED;
}

export function setVariable(state: State, name: string, value: Value): void {
  const { shared, isFlat, file } = state;
  const size = sizeOf(value);
  const fits = size <= (shared.budget > 0 ? MAX_PIECES_OF_VALUE : MAX_PIECES_OF_SMALL_VALUE);
  if (!fits) shared.overrunAt ??= shared.at;
  state.variables.set(name, !isFlat && fits && spend(state, size) ? value : notFollowed(file));
}

/** After something that is not followed and may set anything. */
export function lose(state: State): void {
  state.shared.isLost = true;
  state.variables.clear();
}

export function unset(state: State, name: string): void {
  if (state.isFlat || state.shared.isLost) state.variables.set(name, notFollowed(state.file));
  else state.variables.delete(name);
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
