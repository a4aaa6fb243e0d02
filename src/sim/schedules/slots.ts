/** Orders made by placing actions in slots of time, all of one length: who comes first is all that remains of them. */

const ID_RANGE = 2 ** 27;

/** A sort key: slots before ids. Both stay small enough for an exact sum at the sizes that are simulated. */
export function slotKey(slot: number, id: number): number {
  return slot * ID_RANGE + id;
}

/** The ids in the order of their slots; sorts the keys in place. */
export function idsBySlot(keys: Float64Array): number[] {
  keys.sort();
  return Array.from(keys, (key) => key % ID_RANGE);
}
