/**
 * The TOML front end: text to tree. The parser stops at the first error, so a broken statement is blanked out (every
 * offset stays as it is) and the rest is read again, a bounded number of times: what parses is kept, and each broken
 * statement is one problem at its place.
 */

import type { Finding } from '../../model/finding.ts';
import type { TextRange } from '../../model/source.ts';
import { finding, MAX_SLOW_TEXT_LENGTH, refuseText } from '../limits.ts';
import { parser } from '../parsers.ts';
import { entryAt, type MapEntry, NOTHING, type Tree } from '../tree.ts';
import { type Broken, blank, brokenCandidates, type HalfWritten, halfWritten, sectionAt } from './broken.ts';
import { convertToml, type TomlProgram } from './convert.ts';

/** Statements that are blanked before the rest of a file is given up. */
const MAX_BROKEN = 20;
/** Code units that may be parsed for one file, first pass included. */
const MAX_PARSED = 1 << 20;

/** Needs the `toml` parser to be loaded. Problems: syntax errors, duplicate keys, limits. Never throws. */
export function readToml(file: string, text: string): Tree {
  const refused = refuseText(file, text, MAX_SLOW_TEXT_LENGTH);
  if (refused !== null) return { root: NOTHING, problems: [refused] };
  const repair: Repair = { file, text, problems: [], duplicates: [], halfWritten: [], parsed: 0 };
  const program = parseMost(repair, text.startsWith('\uFEFF') ? ` ${text.slice(1)}` : text);
  const root = program === null ? NOTHING : convertToml(file, text, program, repair.problems);
  for (const key of repair.halfWritten) keep(root, key, file);
  const duplicates = repair.duplicates.map((range) => duplicate(repair, root, range));
  const problems = [...repair.problems, ...duplicates].sort((a, b) => a.range.offset - b.range.offset);
  return { root, problems };
}

interface Repair {
  readonly file: string;
  readonly text: string;
  readonly problems: Finding[];
  /** Keys that are given a second time. */
  readonly duplicates: TextRange[];
  /** Statements that are blanked for what stands behind their key. */
  readonly halfWritten: HalfWritten[];
  parsed: number;
}

interface Failed {
  readonly message: string;
  readonly offset: number;
}

type Attempt = { readonly program: TomlProgram } | Failed;

/** The parser's word for a key or a table that is there already. */
const TWICE = /multiple times/;

function attempt(repair: Repair, text: string): Attempt {
  repair.parsed += text.length;
  try {
    return { program: parser('toml').parseTOML(text) };
  } catch (error) {
    if (error instanceof parser('toml').ParseError) {
      return { message: error.message, offset: Math.min(Math.max(error.index, 0), text.length) };
    }
    if (error instanceof RangeError) return { message: 'Values are nested too deeply', offset: 0 };
    throw error;
  }
}

/** The program of what parses; null where nothing does. */
function parseMost(repair: Repair, text: string): TomlProgram | null {
  let rest = text;
  let tried = attempt(repair, rest);
  for (let broken = 0; broken < MAX_BROKEN && repair.parsed < MAX_PARSED; broken++) {
    if ('program' in tried) return tried.program;
    const next = bestRepair(repair, rest, tried);
    report(repair, tried.message, tried.offset, next.broken);
    const half = TWICE.test(tried.message) ? null : halfWritten(rest, next.broken.blame.start);
    if (half !== null) repair.halfWritten.push(half);
    rest = next.text;
    tried = next.attempt;
  }
  if ('program' in tried) return tried.program;
  report(repair, tried.message, tried.offset, null);
  const upTo = attempt(repair, rest.slice(0, sectionAt(rest, tried.offset).start));
  return 'program' in upTo ? upTo.program : null;
}

interface Step {
  readonly broken: Broken;
  readonly text: string;
  readonly attempt: Attempt;
}

/** Of the statements that may be to blame, the one without which the parser gets furthest. */
function bestRepair(repair: Repair, text: string, failed: Failed): Step {
  let best: Step | null = null;
  for (const broken of brokenCandidates(text, failed.offset, TWICE.test(failed.message))) {
    const blanked = blank(text, broken.start, broken.end);
    const step: Step = { broken, text: blanked, attempt: attempt(repair, blanked) };
    if ('program' in step.attempt) return step;
    if (best === null || ('offset' in best.attempt && step.attempt.offset > best.attempt.offset)) best = step;
  }
  return best!;
}

/** A key without a value is a key: what it will be is unknown, not the default. */
function keep(root: Tree['root'], { section, key, offset }: HalfWritten, file: string): void {
  let node = root;
  for (const name of section === '' ? [] : section.split('.')) {
    const entry = node.kind === 'map' ? node.entries.get(name.trim()) : undefined;
    if (entry === undefined) return;
    node = entry.value;
  }
  if (node.kind !== 'map' || node.entries.has(key)) return;
  const keyRange = { file, offset, length: key.length };
  // The tree is this reading's own until it is returned.
  (node.entries as Map<string, MapEntry>).set(key, { key, keyRange, value: { kind: 'missing', range: keyRange } });
}

function report(repair: Repair, message: string, offset: number, broken: Broken | null): void {
  const { file, text } = repair;
  if (TWICE.test(message)) {
    repair.duplicates.push({
      file,
      offset,
      length: /^["']?[\w.-]*["']?/.exec(text.slice(offset, offset + 200))![0].length,
    });
    return;
  }
  const blame = broken?.blame ?? null;
  if (blame === null || (offset >= blame.start && offset <= blame.end)) {
    const word = /^[^\s,\]}#]*/.exec(text.slice(offset, offset + 80))![0].length;
    const range = { file, offset, length: Math.max(word, offset < text.length ? 1 : 0) };
    repair.problems.push(finding('syntax-error', `TOML: ${message}`, range));
    return;
  }
  const statement = text.slice(blame.start, blame.end).trim();
  const start = blame.start + text.slice(blame.start, blame.end).indexOf(statement);
  const said = /=$/.test(statement) ? 'a value is missing after =' : 'this is not complete';
  repair.problems.push(finding('syntax-error', `TOML: ${said}`, { file, offset: start, length: statement.length }));
}

/** torch and others load TOML strictly: a key given twice is refused, so it is an error here. */
function duplicate(repair: Repair, root: Tree['root'], range: TextRange): Finding {
  const written = repair.text.slice(range.offset, range.offset + range.length);
  const { name } = sectionAt(repair.text, range.offset);
  const path = name === '' || name === written ? written : `${name}.${written}`;
  const first = entryAt(root, path)?.keyRange;
  const related = first === undefined ? [] : [{ message: 'first given here', range: first }];
  return {
    ...finding('duplicate-key', `"${written}" is given twice, which TOML refuses`, range, related),
    severity: 'error',
  };
}
