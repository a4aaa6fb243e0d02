/**
 * What `simulate` can be asked, as flags and as keys of a batch request: one table, one validation. Every refusal is
 * one line that names the option, what it takes and what it was given.
 */

import { framework } from '../frameworks/table.ts';
import type { FreedAt } from '../model/memory-curve.ts';
import type { ScheduleId } from '../model/schedule.ts';
import { COMMUNICATION_MODES, type CommunicationMode, FRAMEWORK_IDS, type FrameworkId } from '../model/schedule.ts';
import { readOrder } from '../sim/order-read.ts';
import { SCHEDULES, scheduleByAlias } from '../sim/schedules/table.ts';

export interface SimulateRequest {
  readonly schedule: ScheduleId;
  readonly pp: number;
  readonly vpp: number;
  readonly microbatches: number;
  readonly groupSize: number | null;
  readonly framework: FrameworkId | null;
  readonly forward: number;
  readonly backwardInput: number;
  readonly backwardWeight: number;
  readonly p2p: number;
  /** One transfer time per edge between stages s and s + 1; null: `p2p` everywhere. */
  readonly p2pEdges: readonly number[] | null;
  /** Ranks that share a node; null: all do. */
  readonly ranksPerNode: number | null;
  /** A transfer between nodes, and one from the last rank of a loop back to the first; null: as `p2p`, as its link. */
  readonly p2pCrossNode: number | null;
  readonly p2pWrapAround: number | null;
  /** One factor per stage; null: 1 everywhere. */
  readonly stageScale: readonly number[] | null;
  readonly communication: CommunicationMode;
  readonly overlapFactor: number;
  /** Live stage-microbatches per rank, for the searched schedules; null: the schedule's own. */
  readonly memoryLimit: number | null;
  /** A custom order, one line per rank. */
  readonly order: readonly string[] | null;
  /** What was passed over or put right when the custom order was read. */
  readonly orderNotes: readonly string[];
  readonly orders: boolean;
  readonly memoryCurve: boolean;
  /** At which gradient a split backward lets its microbatch go, for the memory curve. */
  readonly freedAt: FreedAt;
  /** Bytes of a live stage-microbatch: one for all stages, or one each; null: not known. */
  readonly activationBytes: readonly number[] | null;
  /** Standard deviation of the logarithm of every action's factor; null: nothing varies. */
  readonly jitter: number | null;
  readonly samples: number | null;
  readonly seed: number | null;
  /** With jitter, one factor per rank: a straggler's is above 1. */
  readonly rankScale: readonly number[] | null;
  /** With jitter, one factor per microbatch: its length over the mean. */
  readonly microbatchScale: readonly number[] | null;
}

/** How a value is given and checked. `whole` counts from `least`. */
type OptionKind =
  | { readonly kind: 'whole'; readonly least: number }
  | { readonly kind: 'number' }
  | { readonly kind: 'numbers' }
  | { readonly kind: 'lines' }
  | { readonly kind: 'switch' }
  | { readonly kind: 'word'; readonly known: () => readonly string[]; readonly find: (word: string) => string | null };

const one = (words: readonly string[]) => (word: string) => (words.includes(word) ? word : null);

const OPTIONS = {
  schedule: { kind: 'word', known: () => SCHEDULES.map((row) => row.id), find: scheduleByAlias },
  pp: { kind: 'whole', least: 1 },
  vpp: { kind: 'whole', least: 1 },
  microbatches: { kind: 'whole', least: 0 },
  groupSize: { kind: 'whole', least: 1 },
  framework: { kind: 'word', known: knownFrameworks, find: (word) => one(knownFrameworks())(word) },
  forward: { kind: 'number' },
  backwardInput: { kind: 'number' },
  backwardWeight: { kind: 'number' },
  p2p: { kind: 'number' },
  p2pEdges: { kind: 'numbers' },
  ranksPerNode: { kind: 'whole', least: 1 },
  p2pCrossNode: { kind: 'number' },
  p2pWrapAround: { kind: 'number' },
  stageScale: { kind: 'numbers' },
  communication: { kind: 'word', known: () => COMMUNICATION_MODES, find: one(COMMUNICATION_MODES) },
  overlapFactor: { kind: 'number' },
  memoryLimit: { kind: 'whole', least: 1 },
  order: { kind: 'lines' },
  orders: { kind: 'switch' },
  memoryCurve: { kind: 'switch' },
  freedAt: { kind: 'word', known: () => ['I', 'W'], find: one(['I', 'W']) },
  activationBytes: { kind: 'numbers' },
  jitter: { kind: 'number' },
  samples: { kind: 'whole', least: 1 },
  seed: { kind: 'whole', least: 0 },
  rankScale: { kind: 'numbers' },
  microbatchScale: { kind: 'numbers' },
} as const satisfies Readonly<Record<Exclude<keyof SimulateRequest, 'orderNotes'>, OptionKind>>;

type OptionKey = keyof typeof OPTIONS;

export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

/** The flag of a key: `groupSize` is `--group-size`. */
function flagOf(key: string): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The options in the form that `parseArgs` of `node:util` takes. */
export function simulateFlags(): Readonly<Record<string, { readonly type: 'string' | 'boolean' }>> {
  return Object.fromEntries(
    Object.entries(OPTIONS).map(([key, option]) => [
      flagOf(key).slice(2),
      { type: option.kind === 'switch' ? ('boolean' as const) : ('string' as const) },
    ]),
  );
}

/** A request from flags as `parseArgs` returns them: text, or true for a switch. */
export function requestFromFlags(flags: Readonly<Record<string, unknown>>): Parsed<SimulateRequest> {
  const given = Object.keys(OPTIONS).map((key) => [key, flags[flagOf(key).slice(2)]] as const);
  return request(Object.fromEntries(given), flagOf);
}

/** A request from one line of a batch, as JSON. Unknown keys are refused: a misspelt one would change the answer. */
export function requestFromJson(line: string): Parsed<SimulateRequest> {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return { ok: false, problem: 'the request is not JSON' };
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    return { ok: false, problem: 'the request is not a JSON object' };
  }
  const unknown = Object.keys(json).find((key) => !Object.hasOwn(OPTIONS, key));
  if (unknown !== undefined) {
    return { ok: false, problem: `there is no key "${unknown}"; known: ${Object.keys(OPTIONS).join(', ')}` };
  }
  return request(json as Readonly<Record<string, unknown>>, (key) => key);
}

function request(given: Readonly<Record<string, unknown>>, name: (key: string) => string): Parsed<SimulateRequest> {
  const values: Partial<Record<OptionKey, unknown>> = {};
  for (const [key, option] of Object.entries(OPTIONS) as [OptionKey, OptionKind][]) {
    const raw = given[key];
    if (raw === undefined || raw === null) continue;
    const parsed = parse(option, raw);
    if (!parsed.ok) return { ok: false, problem: `${name(key)} takes ${parsed.problem}, not ${shown(raw)}` };
    values[key] = parsed.value;
  }
  const read = values.order === undefined ? null : readOrder(values.order as string);
  if (read?.ok === false) return { ok: false, problem: read.reason };
  // A custom order speaks of sizes itself; what is asked for goes before.
  const said = read === null ? {} : { ...read.order.sizes, ...values };
  const all = { ...values, ...said } as typeof values;
  const missing = (['schedule', 'pp', 'microbatches'] as const).find((key) => all[key] === undefined);
  if (missing !== undefined) return { ok: false, problem: `${name(missing)} is missing` };
  return {
    ok: true,
    value: {
      ...DEFAULTS,
      ...(all as Required<Pick<SimulateRequest, 'schedule' | 'pp' | 'microbatches'>>),
      ...(read === null ? {} : { order: read.order.lines, orderNotes: read.order.notes }),
    },
  };
}

const DEFAULTS = {
  vpp: 1,
  groupSize: null,
  framework: null,
  forward: 1,
  backwardInput: 1,
  backwardWeight: 1,
  p2p: 0,
  p2pEdges: null,
  ranksPerNode: null,
  p2pCrossNode: null,
  p2pWrapAround: null,
  stageScale: null,
  communication: 'async',
  overlapFactor: 1,
  memoryLimit: null,
  order: null,
  orderNotes: [],
  orders: false,
  memoryCurve: false,
  freedAt: 'W',
  activationBytes: null,
  jitter: null,
  samples: null,
  seed: null,
  rankScale: null,
  microbatchScale: null,
} as const satisfies Partial<SimulateRequest>;

function parse(option: OptionKind, raw: unknown): Parsed<unknown> {
  switch (option.kind) {
    case 'whole': {
      const value = numberOf(raw);
      const ok = Number.isSafeInteger(value) && value >= option.least;
      return ok ? { ok, value } : { ok, problem: `a whole number from ${option.least}` };
    }
    case 'number': {
      const value = numberOf(raw);
      return isAmount(value) ? { ok: true, value } : { ok: false, problem: 'a number of at least 0' };
    }
    case 'numbers': {
      const values = (Array.isArray(raw) ? raw : String(raw).split(',')).map(numberOf);
      return values.every(isAmount)
        ? { ok: true, value: values }
        : { ok: false, problem: 'numbers of at least 0, a,b,…' };
    }
    case 'lines': {
      if (typeof raw === 'string') return { ok: true, value: raw };
      const ok = Array.isArray(raw) && raw.every((line) => typeof line === 'string');
      // A rank without actions still has its line.
      const lines = ok ? raw.map((line: string, rank) => (line.trim() === '' ? `rank ${rank}:` : line)) : [];
      return ok ? { ok, value: lines.join('\n') } : { ok: false, problem: 'one line of actions per rank' };
    }
    case 'switch':
      return typeof raw === 'boolean' ? { ok: true, value: raw } : { ok: false, problem: 'true or false' };
    case 'word': {
      const value = typeof raw === 'string' ? option.find(raw) : null;
      return value === null ? { ok: false, problem: `one of ${option.known().join(', ')}` } : { ok: true, value };
    }
  }
}

/** A number as JSON or as decimal text; NaN for everything else, hexadecimal and empty text included. */
function numberOf(raw: unknown): number {
  if (typeof raw === 'number') return raw;
  const text = typeof raw === 'string' ? raw.trim() : '';
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
}

function isAmount(value: number): boolean {
  return Number.isFinite(value) && value >= 0;
}

function shown(raw: unknown): string {
  const text = JSON.stringify(raw) ?? String(raw);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function knownFrameworks(): readonly string[] {
  return FRAMEWORK_IDS.filter((id) => framework(id) !== null);
}
