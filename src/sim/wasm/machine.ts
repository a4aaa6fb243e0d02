/**
 * A WebAssembly module of ours, running: its kernels and its memory. It is made at once and without a file, on first
 * use; where WebAssembly, or an instruction of the module, is missing there is none, and the plain code stands in.
 */

import { assemble, type Kernel } from './assembler.ts';

interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

declare const WebAssembly:
  | {
      readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
      readonly Instance: new (module: object) => { readonly exports: Readonly<Record<string, unknown>> };
      validate(bytes: Uint8Array<ArrayBuffer>): boolean;
    }
  | undefined;

export interface Machine {
  /** Runs a kernel; 0 for one that returns nothing. */
  readonly call: (kernel: string, ...parameters: readonly number[]) => number;
  /** Views of the whole memory, until `reserve` is called again. */
  readonly i32: Int32Array;
  readonly f32: Float32Array;
  readonly f64: Float64Array;
}

/** Where a module's machine comes from; the memory holds at least so many bytes, with what it held before. */
export interface MachineSource {
  /** null where there is no machine, or not that much memory. */
  readonly reserve: (bytes: number) => Machine | null;
  /** How often the memory was made anew: what was left in it before is gone. */
  readonly generation: () => number;
}

const PAGE_BYTES = 65_536;
/** Addresses are whole numbers of 32 bits with a sign. */
const MOST_BYTES = 2 ** 31 - 1;
/** Memory never shrinks, so a larger one is given up when the next program needs less than an eighth of it. */
const KEPT_BYTES = 1 << 26;

export function machineSource(kernels: readonly Kernel[]): MachineSource {
  let module: object | null | undefined;
  let running: { readonly exports: Readonly<Record<string, unknown>>; readonly memory: Memory } | null = null;
  let machine: Machine | null = null;
  let generation = 0;
  const start = () => {
    module ??= moduleOf(kernels);
    if (module === null || WebAssembly === undefined) return null;
    const { exports } = new WebAssembly.Instance(module);
    generation++;
    machine = null;
    return { exports, memory: exports.memory as Memory };
  };
  return {
    generation: () => generation,
    reserve: (bytes) => {
      if (module === null || bytes > MOST_BYTES) return null;
      const held = running?.memory.buffer.byteLength ?? 0;
      if (held > KEPT_BYTES && bytes < held / 8) running = null;
      running ??= start();
      if (running === null) return null;
      const missing = bytes - running.memory.buffer.byteLength;
      if (missing > 0) {
        if (!grow(running.memory, Math.ceil(missing / PAGE_BYTES))) return null;
        machine = null;
      }
      machine ??= viewOf(running.exports, running.memory);
      return machine;
    },
  };
}

function moduleOf(kernels: readonly Kernel[]): object | null {
  if (typeof WebAssembly === 'undefined') return null;
  const bytes = assemble(kernels);
  return WebAssembly.validate(bytes) ? new WebAssembly.Module(bytes) : null;
}

function grow(memory: Memory, pages: number): boolean {
  try {
    memory.grow(pages);
    return true;
  } catch {
    return false;
  }
}

function viewOf(exports: Readonly<Record<string, unknown>>, { buffer }: Memory): Machine {
  return {
    call: (kernel, ...parameters) =>
      (exports[kernel] as (...all: readonly number[]) => number | undefined)(...parameters) ?? 0,
    i32: new Int32Array(buffer),
    f32: new Float32Array(buffer),
    f64: new Float64Array(buffer),
  };
}
