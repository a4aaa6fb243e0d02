/**
 * Lines and columns of a text: both count from 1, a column counts UTF-16 code units. Line breaks are LF, CRLF and a
 * lone CR, as the editor counts them.
 */

export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Offsets at which lines start; the first is 0. */
export function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 10 || (c === 13 && text.charCodeAt(i + 1) !== 10)) starts.push(i + 1);
  }
  return starts;
}

/** Line and column of an offset, by binary search in the starts of the text's lines. */
export function positionAt(starts: readonly number[], offset: number): Position {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: offset - starts[low]! + 1 };
}
