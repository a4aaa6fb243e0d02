/**
 * Numbers and lists in WebAssembly's binary format: whole numbers as LEB128, floats as IEEE 754 in little-endian
 * order, lists with their length first. WebAssembly Core Specification 2.0, chapter 5.
 */

export type Bytes = readonly number[];

/** Appends a whole number of at least 0. */
export function pushUnsigned(bytes: number[], value: number): void {
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
}

/** Appends a whole number of 32 bits with its sign. */
export function pushSigned(bytes: number[], value: number): void {
  let rest = value | 0;
  for (; rest < -0x40 || rest > 0x3f; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest & 0x7f);
}

export function pushFloat64(bytes: number[], value: number): void {
  bytes.push(...new Uint8Array(new Float64Array([value]).buffer));
}

/** Items one after the other, their count first. */
export function list(items: readonly Bytes[]): Bytes {
  const bytes: number[] = [];
  pushUnsigned(bytes, items.length);
  for (const item of items) for (const byte of item) bytes.push(byte);
  return bytes;
}

/** ASCII text, its length first. */
export function text(name: string): Bytes {
  return list([...name].map((letter) => [letter.charCodeAt(0)]));
}

/** A section, or a function's body: its bytes, their count first. */
export function sized(content: Bytes): Bytes {
  const bytes: number[] = [];
  pushUnsigned(bytes, content.length);
  for (const byte of content) bytes.push(byte);
  return bytes;
}
