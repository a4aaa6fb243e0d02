/** The Python parser as a chunk of its own: tolerant, incremental, on UTF-16 positions. */

export { TreeFragment } from '@lezer/common';
export { parser } from '@lezer/python';
