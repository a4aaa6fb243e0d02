/**
 * A small assembler for WebAssembly: expressions nest as calls, `f64.add(a, b)`, and a module is a list of functions
 * over one memory. It exists so that the kernels need no build step and no dependency; it knows the few instructions
 * that they use. WebAssembly Core Specification 2.0, chapters 2 and 5, fixed-width SIMD included.
 */

import { type Bytes, list, pushFloat64, pushSigned, pushUnsigned, sized, text } from './bytes.ts';

type ValueType = 'i32' | 'f64' | 'v128';

interface Emitter {
  readonly bytes: number[];
  /** The labels of the loops and blocks around the next instruction, innermost last. */
  readonly labels: string[];
}

/** Appends instructions. */
export type Code = (emitter: Emitter) => void;

/** A parameter or local variable of a kernel. */
export interface Local {
  readonly get: Code;
  readonly set: (value: Code) => Code;
}

export interface Kernel {
  readonly name: string;
  readonly parameters: readonly ValueType[];
  readonly result: ValueType | null;
  readonly locals: readonly ValueType[];
  readonly body: Code;
}

const TYPES = { i32: 0x7f, f64: 0x7c, v128: 0x7b } as const;
const EMPTY = 0x40;
const END = 0x0b;
const SIMD = 0xfd;

/** Instructions one after the other. */
export function sequence(...codes: readonly Code[]): Code {
  return (emitter) => {
    for (const code of codes) code(emitter);
  };
}

/** `first` and `second` are the opcode's bytes; those of SIMD instructions follow a prefix. */
function opcode(first: number, second?: number): Code {
  return ({ bytes }) => {
    bytes.push(first);
    if (second !== undefined) pushUnsigned(bytes, second);
  };
}

const one = (code: Code) => (a: Code) => sequence(a, code);
const two = (code: Code) => (a: Code, b: Code) => sequence(a, b, code);

/** How aligned an access is (a power of two, as its exponent) and what is added to its address. */
function access(align: number, offset: number): Code {
  return ({ bytes }) => {
    bytes.push(align);
    pushUnsigned(bytes, offset);
  };
}

const load =
  (code: Code, align: number) =>
  (address: Code, offset = 0) =>
    sequence(address, code, access(align, offset));

const store =
  (code: Code, align: number) =>
  (address: Code, value: Code, offset = 0) =>
    sequence(address, value, code, access(align, offset));

export const i32 = {
  const:
    (value: number): Code =>
    ({ bytes }) => {
      bytes.push(0x41);
      pushSigned(bytes, value);
    },
  eqz: one(opcode(0x45)),
  eq: two(opcode(0x46)),
  ne: two(opcode(0x47)),
  ltS: two(opcode(0x48)),
  gtS: two(opcode(0x4a)),
  geS: two(opcode(0x4e)),
  add: two(opcode(0x6a)),
  sub: two(opcode(0x6b)),
  mul: two(opcode(0x6c)),
  and: two(opcode(0x71)),
  shl: two(opcode(0x74)),
  shrU: two(opcode(0x76)),
  load: load(opcode(0x28), 2),
  store: store(opcode(0x36), 2),
} as const;

export const f64 = {
  const:
    (value: number): Code =>
    ({ bytes }) => {
      bytes.push(0x44);
      pushFloat64(bytes, value);
    },
  lt: two(opcode(0x63)),
  gt: two(opcode(0x64)),
  ge: two(opcode(0x66)),
  add: two(opcode(0xa0)),
  sub: two(opcode(0xa1)),
  min: two(opcode(0xa4)),
  fromI32: one(opcode(0xb7)),
  load: load(opcode(0x2b), 3),
  store: store(opcode(0x39), 3),
} as const;

export const v128 = {
  load: load(opcode(SIMD, 0x00), 4),
  load32Splat: load(opcode(SIMD, 0x09), 2),
  store: store(opcode(SIMD, 0x0b), 4),
} as const;

/** `larger(a, b)` is b where a < b, else a, lane by lane: the plain scan's own comparison. */
export const f32x4 = {
  add: two(opcode(SIMD, 0xe4)),
  mul: two(opcode(SIMD, 0xe6)),
  larger: two(opcode(SIMD, 0xeb)),
} as const;

export const f64x2 = { add: two(opcode(SIMD, 0xf0)), larger: two(opcode(SIMD, 0xf7)) } as const;

/** `a` where the condition is not 0, else `b`; both are computed. */
export function select(a: Code, b: Code, condition: Code): Code {
  return sequence(a, b, condition, opcode(0x1b));
}

/** Runs once; a branch to its label starts it again. */
export function loop(label: string, ...body: readonly Code[]): Code {
  return structure(0x03, label, body);
}

/** Runs once; a branch to its label leaves it. */
export function block(label: string, ...body: readonly Code[]): Code {
  return structure(0x02, label, body);
}

/** Runs the body where the condition is not 0. */
export function when(condition: Code, ...body: readonly Code[]): Code {
  return sequence(condition, structure(0x04, '', body));
}

function structure(start: number, label: string, body: readonly Code[]): Code {
  return (emitter) => {
    emitter.bytes.push(start, EMPTY);
    emitter.labels.push(label);
    for (const code of body) code(emitter);
    emitter.labels.pop();
    emitter.bytes.push(END);
  };
}

export function branch(label: string): Code {
  return ({ bytes, labels }) => {
    const at = labels.lastIndexOf(label);
    if (at < 0) throw new Error(`no loop or block ${label} is around a branch to it`);
    bytes.push(0x0c);
    pushUnsigned(bytes, labels.length - 1 - at);
  };
}

/** Ends the function with a result. */
export function leave(result: Code): Code {
  return sequence(result, opcode(0x0f));
}

/**
 * A function from its types; `write` gets its parameters, then its locals, and makes the body. Locals are 0 at first.
 */
export function kernel(
  name: string,
  parameters: readonly ValueType[],
  result: ValueType | null,
  locals: readonly ValueType[],
  write: (...variables: readonly Local[]) => Code,
): Kernel {
  const variables = [...parameters, ...locals].map((_, index): Local => {
    const get = opcode(0x20, index);
    const set = opcode(0x21, index);
    return { get, set: (value) => sequence(value, set) };
  });
  return { name, parameters, result, locals, body: write(...variables) };
}

/** A module that exports its memory, one page at first, as `memory` and each kernel by its name. */
export function assemble(kernels: readonly Kernel[]): Uint8Array<ArrayBuffer> {
  const bytes = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
  const section = (id: number, items: readonly Bytes[]) => {
    bytes.push(id);
    for (const byte of sized(list(items))) bytes.push(byte);
  };
  const types = (all: readonly ValueType[]) => list(all.map((type) => [TYPES[type]]));
  section(
    1,
    kernels.map(({ parameters, result }) => [0x60, ...types(parameters), ...types(result === null ? [] : [result])]),
  );
  section(
    3,
    kernels.map((_, i) => [i]),
  );
  section(5, [[0x00, 0x01]]);
  section(7, [[...text('memory'), 0x02, 0x00], ...kernels.map(({ name }, i) => [...text(name), 0x00, i])]);
  section(10, kernels.map(bodyOf));
  return new Uint8Array(bytes);
}

function bodyOf({ locals, body }: Kernel): Bytes {
  const bytes = [...list(locals.map((type) => [1, TYPES[type]]))];
  body({ bytes, labels: [] });
  bytes.push(END);
  return sized(bytes);
}
