/**
 * Runs a shell script on paper: variables, arrays, functions, conditions that the file decides, and the scripts that
 * it sources, as far as they are at hand. The result is every command with its words expanded, each word still
 * knowing where it was written. Nothing is executed, and what the file does not determine stays unknown. Branches that
 * the file does not decide are both read and then merged; loops are read once.
 */

import type { Texts } from '../../model/reading.ts';
import { decide, decideStatement, isTest, matchesPattern, testedNames } from './conditions.ts';
import { expandFields, expandValue } from './expand.ts';
import {
  createShared,
  enter,
  flat,
  fork,
  isNotFollowed,
  lineOf,
  lose,
  MAX_CALLS,
  MAX_COMMANDS,
  MAX_NEEDS,
  overrunOf,
  readDirectives,
  reason,
  type ShellReading,
  type State,
  scopeOf,
  scriptOf,
  setVariable,
  snapshot,
  spend,
  unset,
} from './machine.ts';
import { mergeVariables } from './merge.ts';
import { parseShell } from './parse.ts';
import { candidates } from './paths.ts';
import { slurmSizes } from './slurm.ts';
import type { Assignment, Heredoc, SimpleStatement, Statement, Word } from './syntax.ts';
import { literalText } from './syntax.ts';
import { missing, type Pieces, textOf } from './values.ts';

/**
 * Evaluates the script at `path`. `wanted` picks the commands to report from their words. Never throws, and takes
 * time linear in the text beside a fixed budget.
 */
export function evaluateShell(path: string, texts: Texts, wanted: (words: readonly Pieces[]) => boolean): ShellReading {
  const shared = createShared(path, texts, wanted);
  const script = scriptOf(shared, path);
  const state: State = {
    shared,
    file: path,
    variables: new Map(),
    functions: new Map(),
    slurm: new Map(),
    stack: [path],
    maybe: null,
    isFlat: false,
    positional: null,
    ended: false,
  };
  readDirectives(script, state);
  runAll(script.statements, state, true);
  for (const [name, { body, file }] of state.functions) {
    if (!shared.called.has(name)) runAll(body, { ...fork(state), file, positional: null }, false);
  }
  const { commands, needs } = shared;
  const { variables, slurm } = state;
  return { commands, variables, slurm, problems: script.problems, overrun: overrunOf(shared), needs: [...needs] };
}

function runAll(statements: readonly Statement[], state: State, top: boolean): void {
  let previous: Statement | null = null;
  for (const statement of statements) {
    // An `exit` at the top is read past: below it the script is as worth showing as above.
    if (top) state.ended = false;
    if (state.ended) return;
    if (state.file === state.shared.main) state.shared.at = statement.offset;
    spend(state, 1);
    if (statement.connector === '&&' || statement.connector === '||') runAfter(statement, previous, state);
    else run(statement, state);
    previous = statement;
  }
}

/** `a && b` and `a || b`: whether `b` runs depends on `a` where `a` is a test; a plain command is taken to succeed. */
function runAfter(statement: Statement, previous: Statement | null, state: State): void {
  const decided = previous === null ? null : decideStatement(previous, scopeOf(state));
  const tested = previous !== null && isTest(previous);
  const success = decided ?? (tested ? null : true);
  if (success === null) {
    const asked = new Set<string>();
    if (previous !== null) testedNames([previous], asked);
    const why = reason(state, statement.offset);
    runBranches({ branches: [[statement]], mayRunNone: true, why, tested: asked }, state);
  } else if (success === (statement.connector === '&&')) run(statement, state);
}

function run(statement: Statement, state: State): void {
  switch (statement.kind) {
    case 'simple':
      runSimple(statement, state);
      break;
    case 'if':
      runIf(statement, state);
      break;
    case 'case':
      runCase(statement, state);
      break;
    case 'loop':
      runLoop(statement, state);
      break;
    case 'function':
      state.functions.set(statement.name, { body: statement.body, file: state.file });
      break;
    case 'group':
      runAll(statement.body, state, false);
      break;
    case 'arithmetic':
      break;
  }
}

/** Branches of which one runs, or perhaps none. */
interface Fork {
  readonly branches: readonly (readonly Statement[])[];
  readonly mayRunNone: boolean;
  readonly why: string;
  /** Variables that the conditions test for being set: `[ -z "$X" ]` asks what the environment gives. */
  readonly tested: ReadonlySet<string>;
}

/** Reads every branch from the same start and merges what they leave behind. */
function runBranches({ branches, mayRunNone, why, tested }: Fork, state: State): void {
  if (state.isFlat || !spend(state, state.variables.size)) {
    for (const branch of branches) runAll(branch, { ...flat(state), maybe: state.maybe ?? why }, false);
    return;
  }
  const where = { file: state.file, offset: branches[0]?.[0]?.offset ?? 0, length: 0 };
  const ends: State[] = mayRunNone ? [fork(state)] : [];
  for (const branch of branches) {
    const end: State = { ...fork(state), maybe: state.maybe ?? why };
    runAll(branch, end, false);
    if (!end.ended) ends.push(end);
  }
  const [first, ...rest] = ends;
  if (first === undefined) {
    state.ended = true;
    return;
  }
  const merged = new Map(first.variables);
  for (const end of rest) {
    spend(state, end.variables.size);
    mergeVariables(merged, end.variables, { why, where, tested, spend: (cost) => spend(state, cost) });
  }
  state.variables.clear();
  for (const [name, value] of merged) state.variables.set(name, value);
}

function runIf(statement: Extract<Statement, { kind: 'if' }>, state: State): void {
  const open: (readonly Statement[])[] = [];
  const tested = new Set<string>();
  for (const { condition, body } of statement.arms) {
    const decided = decide(condition, scopeOf(state));
    if (decided === false) continue;
    open.push(body);
    if (decided === true) {
      settle(open, false, statement.offset, state, tested);
      return;
    }
    testedNames(condition, tested);
  }
  if (statement.otherwise.length > 0) open.push(statement.otherwise);
  settle(open, statement.otherwise.length === 0, statement.offset, state, tested);
}

/** One branch left: it runs. Several: they are alternatives. */
function settle(
  branches: readonly (readonly Statement[])[],
  mayRunNone: boolean,
  offset: number,
  state: State,
  tested: ReadonlySet<string>,
): void {
  if (branches.length === 1 && !mayRunNone) runAll(branches[0]!, state, false);
  else if (branches.length > 0) runBranches({ branches, mayRunNone, why: reason(state, offset), tested }, state);
}

function runCase(statement: Extract<Statement, { kind: 'case' }>, state: State): void {
  const scope = scopeOf(state);
  const subject = textOf(expandValue(statement.subject.parts, scope));
  const texts = statement.arms.map((arm) => arm.patterns.map(literalText));
  if (subject !== null && texts.every((patterns) => patterns.every((pattern) => pattern !== null))) {
    const at = texts.findIndex((patterns) => patterns.some((pattern) => matchesPattern(subject, pattern ?? '')));
    if (at >= 0) runAll(statement.arms[at]!.body, state, false);
    return;
  }
  const complete = texts.some((patterns) => patterns.includes('*'));
  settle(
    statement.arms.map((arm) => arm.body),
    !complete,
    statement.offset,
    state,
    new Set(),
  );
}

function runLoop(statement: Extract<Statement, { kind: 'loop' }>, state: State): void {
  if (statement.variable !== null && /^[A-Za-z_]\w*$/.test(statement.variable)) {
    const items = statement.items.flatMap((word) => expandFields(word, scopeOf(state)));
    const shown = items.slice(0, 8).map((item) => textOf(item) ?? '?');
    const where = items[0]?.[0]?.range ?? { file: state.file, offset: statement.offset, length: 3 };
    const several = `$${statement.variable}, which is ${shown.join(', ')} in turn in line ${lineOf(state, statement.offset)}`;
    const pieces = items.length === 1 ? items[0]! : [missing(several, where)];
    setVariable(state, statement.variable, { kind: 'scalar', pieces });
  }
  runAll(statement.body, state, false);
}

function assign(assignment: Assignment, state: State, scope = scopeOf(state)): void {
  const { name, append, value } = assignment;
  if (assignment.element) return;
  const before = append ? scope.get(name) : undefined;
  if (before !== undefined && isNotFollowed(before)) return;
  if (isArray(value)) {
    const items = value.flatMap((word) => expandFields(word, scope));
    const first = before === undefined ? [] : before.kind === 'array' ? before.items : [before.pieces];
    setVariable(state, name, { kind: 'array', items: [...first, ...items] });
    return;
  }
  const pieces = expandValue(value.parts, scope);
  if (before?.kind === 'array') {
    const [head = [], ...rest] = before.items;
    setVariable(state, name, { kind: 'array', items: [[...head, ...pieces], ...rest] });
  } else {
    setVariable(state, name, { kind: 'scalar', pieces: before === undefined ? pieces : [...before.pieces, ...pieces] });
  }
}

function isArray(value: Word | readonly Word[]): value is readonly Word[] {
  return Array.isArray(value);
}

const DECLARATORS = new Set(['export', 'local', 'declare', 'readonly', 'typeset']);
const SHELLS = new Set(['bash', 'sh', 'zsh', 'sbatch', 'source', '.']);

function runSimple(statement: SimpleStatement, state: State): void {
  const scope = scopeOf(state);
  const words = statement.words.flatMap((word) => expandFields(word, scope));
  const name = words[0] === undefined ? '' : (textOf(words[0]) ?? '');
  if (words.length === 0 || DECLARATORS.has(name)) {
    for (const assignment of statement.assignments) assign(assignment, state, scope);
    return;
  }
  if (runBuiltin(name, words, state)) return;
  const called = state.functions.get(name);
  if (called !== undefined) callFunction(name, called, words.slice(1), statement.assignments, state);
  else if (SHELLS.has(name) && runScript(name, words.slice(1), state)) return;
  else report(statement, words, state);
  for (const heredoc of statement.heredocs) runHeredoc(name, words, heredoc, state);
}

/** Built-in commands that change variables. */
function runBuiltin(name: string, words: readonly Pieces[], state: State): boolean {
  switch (name) {
    case 'exit':
    case 'return':
      state.ended = true;
      return true;
    case 'unset':
      for (const word of words.slice(1)) unset(state, textOf(word) ?? '');
      return true;
    case 'shift':
      state.positional = state.positional?.slice(Number(textOf(words[1] ?? []) || 1)) ?? null;
      return true;
    case 'set': {
      const at = words.findIndex((word) => textOf(word) === '--');
      if (at > 0) state.positional = words.slice(at + 1);
      return true;
    }
    case 'read':
      for (const word of words.slice(1)) {
        const variable = textOf(word) ?? '';
        if (/^[A-Za-z_]\w*$/.test(variable)) {
          setVariable(state, variable, {
            kind: 'scalar',
            pieces: [missing(`$${variable}, which is read`, word[0]!.range)],
          });
        }
      }
      return true;
    case ':':
      return true;
    default:
      return false;
  }
}

function callFunction(
  name: string,
  { body, file }: { readonly body: readonly Statement[]; readonly file: string },
  positional: readonly Pieces[],
  assignments: readonly Assignment[],
  state: State,
): void {
  if (!enter(state)) {
    lose(state);
    return;
  }
  state.shared.called.add(name);
  if (state.stack.length > MAX_CALLS) return;
  for (const assignment of assignments) assign(assignment, state);
  runAll(body, { ...state, file, positional, stack: [...state.stack, `${name}()`], ended: false }, false);
}

/** Runs a script named on the line; true when it was one that is at hand or that the caller should fetch. */
function runScript(name: string, words: readonly Pieces[], state: State): boolean {
  const sources = name === 'source' || name === '.';
  const at = sources ? 0 : words.findIndex((word) => /\.(sh|slurm|sbatch|bash)$/.test(textOf(word) ?? ''));
  const named = words[at] === undefined ? null : textOf(words[at]);
  if (named === null) return sources;
  const { shared } = state;
  const paths = candidates(named, shared.main);
  if (sources && paths.length === 0 && named !== '') shared.outside ??= shownPath(named);
  const path = paths.find((each) => shared.texts[each] !== undefined && Object.hasOwn(shared.texts, each));
  if (path === undefined) {
    for (const each of paths) if (shared.needs.size < MAX_NEEDS) shared.needs.add(each);
    return sources;
  }
  if (state.stack.includes(path) || state.stack.length > MAX_CALLS) return true;
  if (!enter(state)) {
    if (sources) lose(state);
    return true;
  }
  const script = scriptOf(shared, path);
  const stack = [...state.stack, path];
  const positional = words.slice(at + 1);
  if (sources) {
    const inner = { ...state, file: path, stack, positional: positional.length > 0 ? positional : state.positional };
    runAll(script.statements, inner, true);
    return true;
  }
  const child: State = { ...fork(state), file: path, stack, positional };
  readDirectives(script, child);
  if (name === 'sbatch') slurmSizes(words.slice(0, at), child.slurm);
  runAll(script.statements, child, true);
  return true;
}

function shownPath(path: string): string {
  const line = path.replace(/\s+/g, ' ');
  return line.length > 60 ? `…${line.slice(-60)}` : line;
}

/** A heredoc is a script of its own: what `sbatch`, `srun` or `bash` runs, or what is written into one. */
function runHeredoc(name: string, words: readonly Pieces[], heredoc: Heredoc, state: State): void {
  const text = state.shared.texts[state.file] ?? '';
  if (state.stack.length > MAX_CALLS) return;
  spend(state, (heredoc.end - heredoc.start) >> 3);
  const script = parseShell(text, heredoc.start, heredoc.end, !heredoc.literal);
  const child: State = { ...fork(state), stack: [...state.stack, 'heredoc'] };
  readDirectives(script, child);
  if (name === 'sbatch') slurmSizes(words.slice(1), child.slurm);
  runAll(script.statements, child, false);
}

function report(statement: SimpleStatement, words: readonly Pieces[], state: State): void {
  const { shared, file } = state;
  if (shared.commands.length >= MAX_COMMANDS || !shared.wanted(words)) return;
  const local = snapshot(state);
  if (local === null) return;
  const scope = scopeOf(local);
  for (const assignment of statement.assignments) assign(assignment, local, scope);
  const first = statement.words[0]!;
  const last = statement.words.at(-1)!;
  shared.commands.push({
    file,
    range: { file, offset: first.offset, length: last.offset + last.length - first.offset },
    words,
    variables: local.variables,
    slurm: new Map(state.slurm),
    maybe: state.maybe,
  });
}
