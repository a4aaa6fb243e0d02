/**
 * The text of a scalar with what stands in `${…}` put in. OmegaConf refers to other keys (`${a.b}`, `${.sibling}`,
 * `${..aunt}`) and calls resolvers (`${multiply:4, ${.hidden_size}}`, `${oc.env:TP,8}`); Primus reads the environment
 * with a default (`${PRIMUS_PP:4}`); Megatron-LM reads it without (`${TP}`). A default of the environment is read and
 * marked; what only the environment knows is unknown. Resolvers as in NVIDIA/NeMo-Framework-Launcher
 * launcher_scripts/main.py and NVIDIA-NeMo/RL nemo_rl/utils/config.py.
 */

import { derived, fromText, type Sourced, type TextRange, unknown } from '../../model/source.ts';
import { MAX_DEPTH } from '../limits.ts';
import { nodeAt, type ScalarNode, type TreeNode } from '../tree.ts';
import { parseNumber } from '../values.ts';
import { innerRange } from './config.ts';

export type Dialect = 'omegaconf' | 'primus' | 'environment';

export interface Interpolation {
  readonly root: TreeNode;
  readonly dialect: Dialect;
}

/** Lookups in one value: more than any real one has, and an end to `${a}${a}` towers. */
const MAX_STEPS = 200;
const MAX_LENGTH = 4096;

interface Walk extends Interpolation {
  steps: number;
  /** Set once something comes from the environment's default. */
  note: string | null;
}

/** The value of a scalar at a dotted path of `root`, for relative references. */
export function textOf(node: ScalarNode, path: string, interpolation: Interpolation): Sourced<string> {
  if (node.source?.kind === 'unknown') return { value: null, source: node.source };
  if (node.source !== undefined) return { value: String(node.value), source: node.source };
  return scalarValue(node, path, { ...interpolation, steps: 0, note: null }, 0);
}

function scalarValue(node: ScalarNode, path: string, walk: Walk, depth: number): Sourced<string> {
  const range = innerRange(node);
  const text = typeof node.value === 'string' ? node.value : node.text;
  if (!text.includes('${')) return fromText(text, range);
  if (walk.steps++ > MAX_STEPS || depth > MAX_DEPTH || text.length > MAX_LENGTH) return open(text, range);
  return walk.dialect === 'omegaconf' ? omegaconf(text, range, path, walk, depth) : environment(text, range, walk);
}

function shown(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function open(text: string, range: TextRange, why?: string): Sourced<string> {
  return unknown(`${shown(text)}${why === undefined ? '' : `: ${why}`}`, undefined, range);
}

/** `${NAME}`, and for Primus `${NAME:default}`. */
function environment(text: string, range: TextRange, walk: Walk): Sourced<string> {
  const pattern = walk.dialect === 'primus' ? /\$\{([^:{}]+)(?::([^}]*))?\}/g : /\$\{(.*?)\}/g;
  const found = [...text.matchAll(pattern)];
  const unset = found.find((each) => each[2] === undefined);
  if (unset !== undefined) return open(text, range, `only the environment knows ${unset[1]}`);
  const [first] = found;
  if (first === undefined) return fromText(text, range);
  const note = `default; the environment's ${first[1]} stands in front`;
  if (found.length === 1 && first[0] === text && range.length === text.length) {
    const fallback = first[2]!;
    return fromText(
      fallback,
      { ...range, offset: range.offset + text.length - 1 - fallback.length, length: fallback.length },
      note,
    );
  }
  return derived(
    text.replace(pattern, (_, __, fallback: string) => fallback),
    `${shown(text)} with the defaults of the environment`,
    [],
  );
}

function omegaconf(text: string, range: TextRange, path: string, walk: Walk, depth: number): Sourced<string> {
  const whole = closingBrace(text, 0) === text.length - 1 ? text.slice(2, -1) : null;
  if (whole !== null && !whole.includes(':') && !whole.includes('${')) {
    const target = referred(whole, path, walk, depth);
    if (target === null) return open(text, range, 'it refers to nothing that is written here');
    if (target.source.kind !== 'text') return target as Sourced<string>;
    return fromText(target.value as string, target.source.range, target.source.note ?? `through ${shown(text)}`);
  }
  const value = expand(text, path, walk, depth);
  if (value === null) return open(text, range);
  const how = `${shown(text)} = ${shown(value)}${walk.note === null ? '' : ` (${walk.note})`}`;
  return derived(value, how, []);
}

/** The text with every `${…}` put in; null when one has no value. */
function expand(text: string, path: string, walk: Walk, depth: number): string | null {
  let result = '';
  let at = 0;
  while (at < text.length) {
    const start = text.indexOf('${', at);
    if (start < 0) return result + text.slice(at);
    const end = closingBrace(text, start);
    if (end < 0 || depth > MAX_DEPTH || walk.steps++ > MAX_STEPS) return null;
    const value = call(text.slice(start + 2, end), path, walk, depth + 1);
    if (value === null || result.length + value.length > MAX_LENGTH) return null;
    result += text.slice(at, start) + value;
    at = end + 1;
  }
  return result;
}

/** The `}` that closes the `${` at `start`; -1 where there is none. */
function closingBrace(text: string, start: number): number {
  if (!text.startsWith('${', start)) return -1;
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    if (text.startsWith('${', i)) depth++;
    else if (text[i] === '}' && --depth === 0) return i;
  }
  return -1;
}

function call(inner: string, path: string, walk: Walk, depth: number): string | null {
  const resolver = /^\s*([A-Za-z_][\w.]*)\s*:/.exec(inner);
  if (resolver === null) {
    const name = expand(inner, path, walk, depth);
    return name === null ? null : (referred(name.trim(), path, walk, depth)?.value ?? null);
  }
  const parts = argumentsOf(inner.slice(resolver[0].length)).map((each) => expand(each, path, walk, depth));
  if (parts.some((part) => part === null)) return null;
  const values = (parts as string[]).map((each) => each.trim().replace(/^(["'])(.*)\1$/, '$2'));
  return resolved(resolver[1]!, values, walk);
}

/** Split at the commas that stand in no brackets. */
function argumentsOf(text: string): readonly string[] {
  const parts: string[] = [''];
  let depth = 0;
  for (const c of text) {
    if (c === '{' || c === '[' || c === '(') depth++;
    if (c === '}' || c === ']' || c === ')') depth--;
    if (c === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += c;
  }
  return parts;
}

const ARITHMETIC: Readonly<Record<string, (a: number, b: number) => number>> = {
  multiply: (a, b) => a * b,
  mul: (a, b) => a * b,
  add: (a, b) => a + b,
  sum: (a, b) => a + b,
  sub: (a, b) => a - b,
  subtract: (a, b) => a - b,
  div: (a, b) => a / b,
  divide: (a, b) => a / b,
  divide_floor: (a, b) => Math.floor(a / b),
  int_div: (a, b) => Math.floor(a / b),
  divide_ceil: (a, b) => Math.ceil(a / b),
  max: (a, b) => Math.max(a, b),
  min: (a, b) => Math.min(a, b),
};

function resolved(name: string, values: readonly string[], walk: Walk): string | null {
  if (name === 'oc.env' && values.length > 1) {
    walk.note = `default; the environment's ${values[0]} stands in front`;
    return values[1]!;
  }
  if (!Object.hasOwn(ARITHMETIC, name) || values.length < 2) return null;
  const numbers = values.map(parseNumber);
  if (numbers.some((each) => each === null)) return null;
  const value = (numbers as number[]).reduce(ARITHMETIC[name]!);
  return Number.isFinite(value) ? String(value) : null;
}

/** The value that a reference leads to; null where it leads nowhere. */
function referred(name: string, path: string, walk: Walk, depth: number): Sourced<string> | null {
  if (walk.steps++ > MAX_STEPS || depth > MAX_DEPTH) return null;
  const absolute = absolutePath(name, path);
  if (absolute === null) return null;
  for (const candidate of [absolute, packaged(absolute, walk.root)]) {
    if (candidate === null) continue;
    const node = nodeAt(walk.root, candidate);
    if (node.kind === 'scalar' && node.value !== null) return scalarValue(node, candidate, walk, depth + 1);
  }
  return null;
}

/** Dots in front count up from the map that holds the value. */
function absolutePath(name: string, path: string): string | null {
  const dots = /^\.*/.exec(name)![0].length;
  if (!/^\.*[\w@-]+(?:\.[\w@-]+)*$/.test(name)) return null;
  if (dots === 0) return name;
  const above = path.split('.').slice(0, -dots);
  return above.length === 0 && dots > path.split('.').length ? null : [...above, name.slice(dots)].join('.');
}

/** A file of a Hydra group says `${training.model.x}` of its own `model.x`. */
function packaged(path: string, root: TreeNode): string | null {
  const dot = path.indexOf('.');
  if (dot < 0 || root.kind !== 'map' || root.entries.has(path.slice(0, dot))) return null;
  return path.slice(dot + 1);
}
