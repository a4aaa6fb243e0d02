/**
 * What a batch header or an `srun`/`sbatch` command line says of the job's size, and the variables that Slurm sets
 * from it (`SLURM_NNODES` and the like). Options as in sbatch(1).
 */

import type { Directive } from './syntax.ts';
import { computed, literal, missing, type Piece, type Pieces, textOf, type Value } from './values.ts';

export const SLURM_SIZES = ['nodes', 'ntasks', 'ntasks-per-node', 'gpus', 'gpus-per-node', 'gres'] as const;
export type SlurmSize = (typeof SLURM_SIZES)[number];
export type SlurmSizes = ReadonlyMap<SlurmSize, Pieces>;

const SHORT: Readonly<Record<string, SlurmSize>> = { N: 'nodes', n: 'ntasks', G: 'gpus' };

/** Reads sizes from the words of an option list; later ones win. `words` are pieces as expanded. */
export function slurmSizes(words: readonly Pieces[], into: Map<SlurmSize, Pieces>): void {
  words.forEach((word, i) => {
    const text = textOf(word);
    if (text === null) {
      const [head, ...rest] = word;
      const option = head?.text?.match(/^--([a-z-]+)=$/)?.[1];
      const size = SLURM_SIZES.find((each) => each === option);
      if (size !== undefined) into.set(size, rest);
      return;
    }
    const long = /^--([a-z-]+)(=?)/.exec(text);
    if (long !== null) {
      const size = SLURM_SIZES.find((each) => each === long[1]);
      if (size === undefined) return;
      const value = long[2] === '=' ? dropFront(word, long[0].length) : words[i + 1];
      if (value !== undefined) into.set(size, value);
      return;
    }
    const short = /^-([NnG])(.*)$/s.exec(text);
    if (short === null) return;
    const value = short[2] === '' ? words[i + 1] : dropFront(word, 2);
    if (value !== undefined) into.set(SHORT[short[1]!]!, value);
  });
}

/** The pieces without their first characters. */
export function dropFront(pieces: Pieces, count: number): Pieces {
  const rest: Piece[] = [];
  let left = count;
  for (const piece of pieces) {
    const length = piece.text?.length ?? 0;
    if (left >= length && piece.text !== null) left -= length;
    else if (left === 0 || piece.text === null) rest.push(piece);
    else {
      const { range } = piece;
      const offset = range.offset + left;
      const cut = { file: range.file, offset, length: range.length - left };
      rest.push({ ...piece, text: piece.text.slice(left), range: piece.exact ? cut : range });
      left = 0;
    }
  }
  return rest;
}

/** The words of a `#SBATCH` line, up to a comment. */
export function directiveWords({ text, offset }: Directive, file: string): readonly Pieces[] {
  const words: Pieces[] = [];
  const pattern = /[^ \t\r]+/g;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    if (found[0].startsWith('#')) break;
    words.push([literal(found[0], file, offset + found.index)]);
  }
  return words;
}

/** GPUs per node from `--gpus-per-node=8`, `--gpus-per-node=h100:8` or `--gres=gpu:h100:8`. */
export function gpusPerNode(sizes: SlurmSizes): Pieces | undefined {
  const plain = sizes.get('gpus-per-node');
  if (plain !== undefined) return afterColon(plain);
  const gres = sizes.get('gres');
  const text = gres === undefined ? null : textOf(gres);
  return gres !== undefined && text !== null && /^gpu(:[A-Za-z0-9_.-]+)?(:\d+)?$/.test(text) && /\d$/.test(text)
    ? afterColon(gres)
    : undefined;
}

function afterColon(pieces: Pieces): Pieces {
  const text = textOf(pieces);
  return text === null ? pieces : dropFront(pieces, text.lastIndexOf(':') + 1);
}

/** A variable that Slurm sets inside the job; undefined where the header does not determine it. */
export function slurmVariable(name: string, sizes: SlurmSizes): Value | undefined {
  if (sizes.size === 0 || !name.startsWith('SLURM_')) return undefined;
  const pieces = slurmPieces(name, sizes);
  return pieces === undefined ? undefined : { kind: 'scalar', pieces };
}

function slurmPieces(name: string, sizes: SlurmSizes): Pieces | undefined {
  switch (name) {
    case 'SLURM_NNODES':
    case 'SLURM_JOB_NUM_NODES':
      return sizes.get('nodes');
    case 'SLURM_NTASKS_PER_NODE':
      return sizes.get('ntasks-per-node');
    case 'SLURM_GPUS_PER_NODE':
    case 'SLURM_GPUS_ON_NODE':
      return gpusPerNode(sizes);
    case 'SLURM_NTASKS':
    case 'SLURM_NPROCS':
      return sizes.get('ntasks') ?? product(sizes.get('nodes'), sizes.get('ntasks-per-node'));
    default:
      return undefined;
  }
}

function product(a: Pieces | undefined, b: Pieces | undefined): Pieces | undefined {
  if (a === undefined || b === undefined || b[0] === undefined) return undefined;
  const [x, y] = [Number(textOf(a) ?? Number.NaN), Number(textOf(b) ?? Number.NaN)];
  if (!Number.isSafeInteger(x * y)) return [missing('the number of Slurm tasks', b[0].range)];
  return [computed(String(x * y), b[0].range, `${x} nodes x ${y} tasks per node`)];
}
