/**
 * Companion files that a config refers to and that are not there (or lie outside the root, or are too many): one
 * finding each, on the name where the config writes it.
 */

import type { Analysis } from '../model/analysis.ts';
import type { Finding } from '../model/finding.ts';
import type { TextRange } from '../model/source.ts';

/** The analysis when nothing more can be read: companions that are still needed, and that are missed, are said. */
export function settled(analysis: Analysis, text: string): Analysis {
  const missed = analysis.needs.filter((path) => analysis.optional?.includes(path) !== true);
  if (missed.length === 0) return analysis;
  return { ...analysis, problems: [...analysis.problems, ...missingCompanions(analysis.file, text, missed)] };
}

/** `needs` are the paths that the reader still asks for when nothing more can be read. */
export function missingCompanions(file: string, text: string, needs: readonly string[]): readonly Finding[] {
  return needs.map((path) => ({
    code: 'companion-missing',
    severity: 'information',
    message: `${path} was not found here: what it says is not known`,
    range: mention(file, text, path),
    related: [],
    fixes: [],
  }));
}

/** Where the text names the path: as a whole, else its last part, else the start of the file. */
function mention(file: string, text: string, path: string): TextRange {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const stem = name.replace(/\.[^.]+$/, '');
  for (const wanted of [path, name, stem]) {
    const offset = wanted === '' ? -1 : text.indexOf(wanted);
    if (offset >= 0) return { file, offset, length: wanted.length };
  }
  return { file, offset: 0, length: 0 };
}
