/**
 * A custom order from a file: one line per rank, as `--orders` prints it with or without `rank 0:`; `#` starts a
 * comment. JSON does as well: a list of lines, or an answer of `simulate --json --orders`.
 */

import { readFileSync } from 'node:fs';
import type { Parsed } from './options.ts';

export function orderFile(path: string): Parsed<readonly string[]> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return { ok: false, problem: `--order ${path}: ${(error as Error).message.split('\n')[0]}` };
  }
  return /^\s*[[{]/.test(text) ? fromJson(path, text) : { ok: true, value: fromLines(text) };
}

function fromLines(text: string): readonly string[] {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => line.replace(/#.*$/, '').trim())
    .filter((line) => line !== '')
    .map((line) => line.replace(/^rank\s+\d+\s*:\s*/, ''));
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
