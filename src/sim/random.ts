/**
 * Random numbers from a seed, the same on every machine: a counter mixed by shifts and multiplications, after Steele
 * et al., Fast Splittable Pseudorandom Number Generators (OOPSLA 2014), with 32 bits.
 */

export interface Random {
  /** A whole number of 32 bits, with its sign. */
  readonly bits: () => number;
  /** From 0 to 1, without 1. */
  readonly uniform: () => number;
  /** With mean 0 and standard deviation 1. */
  readonly normal: () => number;
}

const GOLDEN = 0x9e3779b9;

/** Any whole number is a seed. */
export function randomFrom(seed: number): Random {
  let counter = mixed((seed | 0) ^ Math.imul(mixed(Math.floor(seed / 2 ** 32) | 0), GOLDEN));
  let spare = Number.NaN;
  const bits = () => {
    counter = (counter + GOLDEN) | 0;
    return mixed(counter);
  };
  const uniform = () => (bits() >>> 0) / 2 ** 32;
  const normal = () => {
    if (!Number.isNaN(spare)) {
      const held = spare;
      spare = Number.NaN;
      return held;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - uniform()));
    const angle = 2 * Math.PI * uniform();
    spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  };
  return { bits, uniform, normal };
}

/** Spreads the bits of a whole number so that each depends on all. */
export function mixed(value: number): number {
  let x = value | 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return x ^ (x >>> 16);
}
