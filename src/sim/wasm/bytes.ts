/**
 * Numbers and sections in WebAssembly's binary format: whole numbers as LEB128, floats as IEEE 754 in little-endian
 * order, lists with their length first. WebAssembly Core Specification 2.0, chapter 5.
 */

export type Bytes = readonly number[];

/** A whole number of at least 0. */
export function unsigned(value: number): Bytes {
  const bytes: number[] = [];
  for (let rest = value; ; ) {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    if (rest === 0) return [...bytes, low];
    bytes.push(low | 0x80);
  }
}

/** A whole number of 32 bits with its sign. */
export function signed(value: number): Bytes {
  const bytes: number[] = [];
  for (let rest = value | 0; ; ) {
    const low = rest & 0x7f;
    rest >>= 7;
    const isWhole = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0);
    if (isWhole) return [...bytes, low];
    bytes.push(low | 0x80);
  }
}

export function float64(value: number): Bytes {
  return [...new Uint8Array(new Float64Array([value]).buffer)];
}

/** ASCII text, its length first. */
export function text(name: string): Bytes {
  return list([...name].map((letter) => [letter.charCodeAt(0)]));
}

/** Items one after the other, their count first. */
export function list(items: readonly Bytes[]): Bytes {
  return [...unsigned(items.length), ...items.flat()];
}

/** A section, or a function's body: its bytes, their count first. */
export function sized(bytes: Bytes): Bytes {
  return [...unsigned(bytes.length), ...bytes];
}
