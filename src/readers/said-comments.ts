/**
 * What a comment in the document says for Bubblelens: `# bubblelens: gpus=64 pipeline.microbatches=8`, or `//` in
 * front, in any kind of text. Keys are the native dotted ones, and `gpus` for `cluster.gpus`; values may stand in
 * quotes. What a comment says stands before the config's own, and behind what a person says outside the file.
 */

import type { Finding } from '../model/finding.ts';
import type { Said, SaidValue } from '../model/plan.ts';
import { lineStarts, positionAt } from '../model/position.ts';
import { SAID_KEYS, type SaidKey, saidProblem } from '../model/said-keys.ts';
import { SCHEDULE_IDS } from '../model/schedule.ts';
import { finding, MAX_PROBLEMS, MAX_TEXT_LENGTH } from './limits.ts';

const COMMENT = /(?:^|[\s;])(?:#|\/\/)[ \t]*bubblelens:[ \t]*([^\r\n]*)/g;
const PAIR = /(?<![\w.])([A-Za-z_][\w.]*)[ \t]*=[ \t]*(?:"([^"]*)"|'([^']*)'|([^\s,;]+))/g;
const SHORT: Readonly<Record<string, SaidKey>> = { gpus: 'cluster.gpus' };

export interface CommentsSaid {
  readonly said: Said;
  /** A key that nobody knows, or a value that its key does not take. */
  readonly problems: readonly Finding[];
}

const NOTHING: CommentsSaid = { said: {}, problems: [] };

/** Of a key that two comments give, the last one counts. */
export function saidInComments(file: string, text: string): CommentsSaid {
  if (!text.includes('bubblelens:') || text.length > MAX_TEXT_LENGTH) return NOTHING;
  const said: Record<string, SaidValue> = {};
  const problems: Finding[] = [];
  const starts = lineStarts(text);
  for (const comment of text.matchAll(COMMENT)) {
    const from = comment.index + comment[0].length - comment[1]!.length;
    for (const pair of comment[1]!.matchAll(PAIR)) {
      const value = pair[2] ?? pair[3] ?? pair[4] ?? '';
      const key = Object.hasOwn(SHORT, pair[1]!) ? SHORT[pair[1]!]! : pair[1]!;
      const quoted = pair[4] === undefined ? 1 : 0;
      const offset = from + pair.index + pair[0].length - value.length - quoted;
      const range = { file, offset, length: value.length };
      const problem = problemOf(key, value);
      if (problem === null)
        said[key] = { value: saidValue(value), by: `a comment on line ${positionAt(starts, offset).line}`, range };
      else if (problems.length < MAX_PROBLEMS)
        problems.push(
          finding(
            problem.code,
            problem.message,
            problem.code === 'unknown-key' ? { file, offset: from + pair.index, length: pair[1]!.length } : range,
          ),
        );
    }
  }
  return { said, problems };
}

function problemOf(
  key: string,
  value: string,
): { readonly code: 'unknown-key' | 'invalid-value'; readonly message: string } | null {
  if (!Object.hasOwn(SAID_KEYS, key)) {
    const known = ['gpus', ...Object.keys(SAID_KEYS)].join(', ');
    return { code: 'unknown-key', message: `a bubblelens comment does not know "${key}"; known: ${known}` };
  }
  const problem = saidProblem(key as SaidKey, value, (name) => SCHEDULE_IDS.some((id) => id === name));
  return problem === null ? null : { code: 'invalid-value', message: problem };
}

function saidValue(text: string): string | number {
  return /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
}
