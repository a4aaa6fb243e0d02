/** The JSON parser as a chunk of its own: tolerant, with offsets. */

export { parseTree } from 'jsonc-parser';
