/** What edits of every text format share: where a line ends, how it is indented, and which line break a file uses. */

export function lineBreakOf(text: string): string {
  return /\r\n/.test(text) ? '\r\n' : '\n';
}

/** The offset at which the line that holds `offset` ends, its line break excluded. */
export function lineEnd(text: string, offset: number): number {
  const newline = text.indexOf('\n', offset);
  if (newline < 0) return text.length;
  return newline > offset && text[newline - 1] === '\r' ? newline - 1 : newline;
}

/** The white space at the start of the line that holds `offset`. */
export function indentOf(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))![0];
}
