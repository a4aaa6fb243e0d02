/** What a shell script is told about its own text: ends that never come, and a script that does too much to be followed. */

import type { Finding } from '../../model/finding.ts';
import { finding, MAX_PROBLEMS } from '../limits.ts';
import type { ShellReading } from './machine.ts';

/** The findings about the script at `path`, which was evaluated. */
export function shellFindings(path: string, { problems, overrun }: ShellReading): readonly Finding[] {
  const broken = problems
    .slice(0, MAX_PROBLEMS)
    .map(({ message, offset, length }) => finding('syntax-error', message, { file: path, offset, length }));
  if (overrun === null) return broken;
  const { message, offset, length } = overrun;
  return [...broken, finding('too-much-to-follow', message, { file: path, offset, length })];
}
