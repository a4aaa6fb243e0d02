/**
 * A small assembler for WebAssembly: expressions nest as calls, `f64.add(a, b)`, and a module is a list of functions
 * over one memory. It exists so that the kernels need no build step and no dependency; it knows the few instructions
 * that they use. WebAssembly Core Specification 2.0, chapters 2 and 5; fixed-width SIMD included.
 */

import { type Bytes, float64, list, signed, sized, text, unsigned } from './bytes.ts';

export type ValueType = 'i32' | 'f64' | 'v128';

/** Instructions, given the labels of the loops and blocks around them, innermost last. */
export type Code = (labels: readonly string[]) => Bytes;

export interface Local {
  readonly index: number;
  readonly get: Code;
  readonly set: (value: Code) => Code;
  /** Sets it and leaves the value. */
  readonly tee: (value: Code) => Code;
}

export interface Kernel {
  readonly name: string;
  readonly parameters: readonly ValueType[];
  readonly result: ValueType | null;
  /** Local variables of the function, parameters left out. */
  readonly locals: readonly ValueType[];
  readonly body: Code;
}

const TYPES = { i32: 0x7f, f64: 0x7c, v128: 0x7b } as const;
const EMPTY = 0x40;
const SIMD = 0xfd;

const plain =
  (...bytes: Bytes): Code =>
  () =>
    bytes;

/** Instructions one after the other. */
export function sequence(...codes: readonly Code[]): Code {
  return (labels) => codes.flatMap((code) => code(labels));
}

const one = (opcode: Bytes) => (a: Code) => sequence(a, plain(...opcode));
const two = (opcode: Bytes) => (a: Code, b: Code) => sequence(a, b, plain(...opcode));
const simd = (opcode: number): Bytes => [SIMD, ...unsigned(opcode)];

/** At `address` + `offset`, which is a constant. `align` is a power of two, as its exponent. */
const load =
  (opcode: Bytes, align: number) =>
  (address: Code, offset = 0) =>
    sequence(address, plain(...opcode, align, ...unsigned(offset)));

const store =
  (opcode: Bytes, align: number) =>
  (address: Code, value: Code, offset = 0) =>
    sequence(address, value, plain(...opcode, align, ...unsigned(offset)));

export const i32 = {
  const: (value: number): Code => plain(0x41, ...signed(value)),
  eqz: one([0x45]),
  eq: two([0x46]),
  ltS: two([0x48]),
  gtS: two([0x4a]),
  geS: two([0x4e]),
  ltU: two([0x49]),
  add: two([0x6a]),
  sub: two([0x6b]),
  mul: two([0x6c]),
  and: two([0x71]),
  or: two([0x72]),
  shl: two([0x74]),
  shrS: two([0x75]),
  shrU: two([0x76]),
  load: load([0x28], 2),
  store: store([0x36], 2),
} as const;

export const f64 = {
  const: (value: number): Code => plain(0x44, ...float64(value)),
  lt: two([0x63]),
  gt: two([0x64]),
  ge: two([0x66]),
  add: two([0xa0]),
  sub: two([0xa1]),
  min: two([0xa4]),
  load: load([0x2b], 3),
  store: store([0x39], 3),
} as const;

export const v128 = {
  load: load(simd(0x00), 4),
  load32Splat: load(simd(0x09), 2),
  store: store(simd(0x0b), 4),
} as const;

/** `larger(a, b)` is b where a < b, else a: the plain scan's comparison, lane by lane. */
export const f32x4 = { add: two(simd(0xe4)), mul: two(simd(0xe6)), larger: two(simd(0xeb)) } as const;
export const f64x2 = { add: two(simd(0xf0)), larger: two(simd(0xf7)) } as const;

/** `a` where the condition is not 0, else `b`; both are computed. */
export function select(a: Code, b: Code, condition: Code): Code {
  return sequence(a, b, condition, plain(0x1b));
}

/** Runs once; `branch` to its label starts it again. */
export function loop(label: string, ...body: readonly Code[]): Code {
  return (labels) => [0x03, EMPTY, ...sequence(...body)([...labels, label]), 0x0b];
}

/** Runs once; `branch` to its label leaves it. */
export function block(label: string, ...body: readonly Code[]): Code {
  return (labels) => [0x02, EMPTY, ...sequence(...body)([...labels, label]), 0x0b];
}

/** Runs the body where the condition is not 0. */
export function when(condition: Code, ...body: readonly Code[]): Code {
  return (labels) => [...condition(labels), 0x04, EMPTY, ...sequence(...body)([...labels, '']), 0x0b];
}

export function branch(label: string): Code {
  return (labels) => [0x0c, ...unsigned(depth(labels, label))];
}

/** A branch where the condition is not 0. */
export function branchIf(label: string, condition: Code): Code {
  return (labels) => [...condition(labels), 0x0d, ...unsigned(depth(labels, label))];
}

function depth(labels: readonly string[], label: string): number {
  const at = labels.lastIndexOf(label);
  if (at < 0) throw new Error(`no label ${label} around a branch`);
  return labels.length - 1 - at;
}

/** A function from its parameters' and locals' types; `write` gets both, in that order, and makes the body. */
export function kernel(
  name: string,
  parameters: readonly ValueType[],
  result: ValueType | null,
  locals: readonly ValueType[],
  write: (...variables: readonly Local[]) => Code,
): Kernel {
  const variables = [...parameters, ...locals].map((_, index): Local => {
    const at = unsigned(index);
    return {
      index,
      get: plain(0x20, ...at),
      set: (value) => sequence(value, plain(0x21, ...at)),
      tee: (value) => sequence(value, plain(0x22, ...at)),
    };
  });
  return { name, parameters, result, locals, body: write(...variables) };
}

/** A module that exports its memory as `memory` and each kernel by its name. */
export function assemble(kernels: readonly Kernel[]): Uint8Array<ArrayBuffer> {
  const section = (id: number, items: readonly Bytes[]) => [id, ...sized(list(items))];
  const types = kernels.map(({ parameters, result }) => [
    0x60,
    ...list(parameters.map((type) => [TYPES[type]])),
    ...list(result === null ? [] : [[TYPES[result]]]),
  ]);
  const exported = kernels.map(({ name }, i) => [...text(name), 0x00, ...unsigned(i)]);
  const bodies = kernels.map(({ locals, body }) => [
    ...sized([...list(locals.map((type) => [1, TYPES[type]])), ...body([]), 0x0b]),
  ]);
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, types),
    ...section(
      3,
      kernels.map((_, i) => unsigned(i)),
    ),
    ...section(5, [[0x00, 0x01]]),
    ...section(7, [[...text('memory'), 0x02, 0x00], ...exported]),
    ...section(10, bodies),
  ]);
}
