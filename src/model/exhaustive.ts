/** The check that a switch over a union is complete: the compiler refuses a call while a case is missing. */

/** Throws: reaching it is our own bug. */
export function exhaustive(value: never): never {
  throw new Error(`unhandled case: ${String(value)}`);
}
