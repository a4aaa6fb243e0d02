/** The JSON parser as a chunk of its own: tolerant, with offsets. */

export { getLocation, parseTree } from 'jsonc-parser';
