/** `bubblelens readers`: what can be read, from the table. */

import { READERS } from '../readers/table.ts';

export function readersText(): string {
  const width = Math.max(...READERS.map((reader) => reader.id.length));
  return READERS.map((reader) => `${reader.id.padEnd(width)}  ${reader.title}: ${reader.files.join(', ')}`).join('\n');
}

export function readersJson(): readonly {
  readonly id: string;
  readonly title: string;
  readonly files: readonly string[];
}[] {
  return READERS.map(({ id, title, files }) => ({ id, title, files }));
}
