/**
 * What no front end reads: a text that is too large or binary. Each is one clear problem, said before any parser
 * sees the text, so that bad input costs nothing.
 */

import type { Finding, RelatedPlace } from '../model/finding.ts';
import type { FindingCode } from '../model/finding-codes.ts';
import { FINDING_CODES } from '../model/finding-codes.ts';
import type { TextRange } from '../model/source.ts';

/** In UTF-16 code units. */
export const MAX_TEXT_LENGTH = 1 << 20;
/** For YAML and TOML, whose parsers take a second or more for hostile texts beyond this; configs stay far below. */
export const MAX_SLOW_TEXT_LENGTH = 1 << 18;
/** Nested containers. */
export const MAX_DEPTH = 64;
/** Problems of one kind that are told of one file; a broken file has thousands. */
export const MAX_PROBLEMS = 20;

/** A finding with the severity that its code usually has. */
export function finding(
  code: FindingCode,
  message: string,
  range: TextRange,
  related: readonly RelatedPlace[] = [],
): Finding {
  return { code, severity: FINDING_CODES[code].severity, message, range, related, fixes: [] };
}

/** Why a text is not read at all; null when it may be. */
export function refuseText(file: string, text: string, limit: number = MAX_TEXT_LENGTH): Finding | null {
  if (text.length > limit) {
    const message = `Not read: the file has ${text.length} characters, more than ${limit}`;
    return finding('syntax-error', message, { file, offset: 0, length: 0 });
  }
  const nul = text.indexOf('\0');
  if (nul < 0) return null;
  return finding('syntax-error', 'Not read: a NUL byte, so this is no text file', { file, offset: nul, length: 1 });
}
