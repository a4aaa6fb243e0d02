/**
 * Custom orders in files. Read, by content: our own order text, torch's schedule CSV, or JSON (a list of lines, or an
 * answer of `simulate --json --orders`). Written: our own text or torch's CSV, of any order that is simulated, searched
 * ones too.
 */

import { writeFileSync } from 'node:fs';
import { counted } from '../model/counted.ts';
import { orderLines } from '../sim/order-text.ts';
import { programOf } from '../sim/simulate.ts';
import { torchCsv } from '../sim/torch-csv.ts';
import { type Answer, CLI_MAX_ACTIONS } from './answer.ts';
import type { Parsed } from './options.ts';
import { readRegularFile } from './regular-file.ts';

const ORDER_FORMATS = ['text', 'csv', 'csv-comms'] as const;
export type OrderFormat = (typeof ORDER_FORMATS)[number];

/** Room for an order of as many actions as are simulated, written out by `--order-out`. */
const MAX_ORDER_MIB = 256;

/** Text, or lines that came as JSON. */
export function orderFile(path: string): Parsed<string | readonly string[]> {
  let text: string;
  try {
    text = readRegularFile(path, MAX_ORDER_MIB).replace(/^\uFEFF/, '');
  } catch (error) {
    return { ok: false, problem: `--order ${path}: ${(error as Error).message.split('\n')[0]}` };
  }
  return /^\s*[[{]/.test(text) ? fromJson(path, text) : { ok: true, value: text };
}

function fromJson(path: string, text: string): Parsed<readonly string[]> {
  try {
    const json = JSON.parse(text) as unknown;
    const lines = Array.isArray(json) ? json : (json as { orders?: unknown }).orders;
    if (Array.isArray(lines) && lines.every((line) => typeof line === 'string')) return { ok: true, value: lines };
    return { ok: false, problem: `--order ${path}: it holds no list of lines, one per rank` };
  } catch {
    return { ok: false, problem: `--order ${path}: it is not JSON, though it begins like it` };
  }
}

/** The format that is asked for, else the one of the file's name. */
export function orderFormat(path: string, asked: unknown): Parsed<OrderFormat> {
  if (asked === undefined) return { ok: true, value: path.endsWith('.csv') ? 'csv' : 'text' };
  const format = ORDER_FORMATS.find((each) => each === asked);
  return format === undefined
    ? { ok: false, problem: `--order-format takes one of ${ORDER_FORMATS.join(', ')}, not "${String(asked)}"` }
    : { ok: true, value: format };
}

/** Why the order of an answer cannot be written, in one line; null when it is. */
export function writeOrder(path: string, format: OrderFormat, { request, shape, costs }: Answer): string | null {
  const compiled = programOf(shape, costs, { maxActions: CLI_MAX_ACTIONS, order: request.order });
  if (!compiled.ok) return `--order-out ${path}: ${compiled.reason}`;
  const { program } = compiled;
  const { schedule, pp, vpp, microbatches } = shape;
  const title = `# ${request.order === null ? schedule : 'custom order'}, pp ${pp}, vpp ${vpp}, ${counted(microbatches, 'microbatch')}`;
  const lines = () => orderLines(program.order).map((line, rank) => `rank ${rank}: ${line}`.trimEnd());
  const written =
    format === 'text'
      ? { ok: true as const, text: `${[title, ...lines()].join('\n')}\n` }
      : torchCsv(program, format === 'csv-comms');
  if (!written.ok) return `--order-out ${path}: ${written.reason}`;
  try {
    writeFileSync(path, written.text);
    return null;
  } catch (error) {
    return `--order-out ${path}: ${(error as Error).message.split('\n')[0]}`;
  }
}
