/**
 * Where a token stands after the text around it was edited. While a text is broken the last good numbers stay on
 * their line, and the line may have moved since they were computed.
 */

/** One replaced piece of text, as the editor's change event describes it. */
export interface Replaced {
  readonly rangeOffset: number;
  readonly rangeLength: number;
  readonly text: string;
}

/**
 * The offset after the changes. Changes of one event are all in the coordinates of the text before it and do not
 * overlap; an offset inside a replaced piece goes to that piece's start.
 */
export function movedOffset(offset: number, changes: readonly Replaced[]): number {
  let moved = offset;
  for (const { rangeOffset, rangeLength, text } of changes) {
    if (rangeOffset + rangeLength <= offset) moved += text.length - rangeLength;
    else if (rangeOffset < offset) moved -= offset - rangeOffset;
  }
  return moved;
}
