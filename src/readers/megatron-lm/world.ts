/**
 * The number of GPUs of a launch: torchrun's processes and nodes, Slurm's tasks, DeepSpeed's or MPI's counts. A count
 * that the launch does not determine stays unknown, with what is missing.
 */

import type { WorldPart } from '../../frameworks/megatron-core/keys.ts';
import { byDefault, derived, fromText, type Sourced, type TextRange, unknown } from '../../model/source.ts';
import { type Argument, argumentOf, type Flags } from '../shell/flags.ts';
import { type SlurmSize, slurmSizes } from '../shell/slurm.ts';
import { type Pieces, textOf, type Value } from '../shell/values.ts';

export interface World {
  readonly gpus: Sourced<number>;
  readonly gpusPerNode: Sourced<number>;
  readonly parts: readonly WorldPart[];
  /** The tokens whose product is the number of GPUs, where both are written. */
  readonly perNode: Argument | null;
  readonly nodes: Argument | null;
}

export interface WorldInput {
  /** Words before the Python script. */
  readonly launcher: readonly Pieces[];
  readonly flags: Flags;
  readonly variables: ReadonlyMap<string, Value>;
  readonly slurm: ReadonlyMap<SlurmSize, Pieces>;
  readonly place: TextRange;
}

export interface Count {
  readonly value: Sourced<number>;
  readonly argument: Argument | null;
  readonly label: string;
}

const SAY = 'cluster.gpus';

export function readWorld(input: WorldInput): World {
  const names = input.launcher.map((word) => (textOf(word) ?? '').replace(/^.*\//, ''));
  const has = (...wanted: readonly string[]): boolean => names.some((name) => wanted.includes(name));
  const torchrun =
    has('torchrun', 'torch.distributed.run', 'torch.distributed.launch') ||
    input.flags.byName.has('nproc-per-node') ||
    names.some((name) => /\btorchrun\b/.test(name));
  if (torchrun) return torchrunWorld(input);
  if (has('deepspeed')) return product(flagCount(input, ['num-gpus'], null), flagCount(input, ['num-nodes'], 1));
  if (has('mpirun', 'mpiexec')) return single(flagCount(input, ['np', 'n'], null));
  if (has('srun')) return slurmWorld(input);
  return single(variableCount(input, 'WORLD_SIZE') ?? absent(input, 'the GPU count: the command has no launcher'));
}

function absent({ place }: WorldInput, missing: string): Count {
  return { value: unknown(missing, SAY, place), argument: null, label: '' };
}

/** A whole number from 1 out of a word, or why there is none. */
export function countOf(argument: Argument, label: string): Count {
  const { text, range, note, maybe } = argument;
  const number = text !== null && /^\s*\d{1,9}\s*$/.test(text) ? Number(text) : Number.NaN;
  if (maybe === null && number >= 1) {
    return { value: fromText(number, range, note ?? undefined), argument, label: `${label} ${number}` };
  }
  const missing = maybe !== null ? `${label}, ${maybe}` : (argument.missing ?? `a number for ${label}, not ${text}`);
  return { value: unknown(`the GPU count: ${missing}`, SAY, range), argument, label };
}

export function flagCount(
  input: WorldInput,
  names: readonly string[],
  fallback: number | null,
  variable?: string,
): Count {
  for (const name of names) {
    const flag = input.flags.byName.get(name);
    const value = flag?.values[0];
    if (flag !== undefined && value !== undefined) {
      return countOf(flag.maybe === null ? value : { ...value, maybe: flag.maybe }, flag.spelled);
    }
    if (flag !== undefined) return absent(input, `the GPU count: the value of ${flag.spelled}`);
  }
  const set = variable === undefined ? null : variableCount(input, variable);
  if (set !== null) return set;
  const open = input.flags.open.find((each) => each.kind !== 'arguments');
  if (open !== undefined) return absent(input, `the GPU count: ${open.missing}`);
  if (fallback === null) return absent(input, `the GPU count (--${names[0]})`);
  const why = `${names[0]} is ${fallback} when it is absent`;
  return { value: byDefault(fallback, why), argument: null, label: '' };
}

export function variableCount(input: WorldInput, name: string): Count | null {
  const value = input.variables.get(name);
  return value?.kind === 'scalar' ? countOf(argumentOf(value.pieces, input.place), name) : null;
}

function torchrunWorld(input: WorldInput): World {
  const nodes = flagCount(input, ['nnodes'], 1, 'PET_NNODES');
  return product(perNodeCount(input), nodes);
}

/** `--nproc_per_node gpu` takes every visible GPU. */
function perNodeCount(input: WorldInput): Count {
  const flag = input.flags.byName.get('nproc-per-node');
  const text = flag?.values[0]?.text;
  if (text !== 'gpu' && text !== 'auto') return flagCount(input, ['nproc-per-node'], 1, 'PET_NPROC_PER_NODE');
  const visible = input.variables.get('CUDA_VISIBLE_DEVICES');
  const argument = visible?.kind === 'scalar' ? argumentOf(visible.pieces, input.place) : null;
  const list = argument?.text?.trim() ?? '';
  if (argument === null || !/^\w[\w-]*(,\w[\w-]*)*$/.test(list)) {
    return absent(input, `the GPU count: --nproc_per_node ${text} takes the GPUs that the node has`);
  }
  const devices = list.split(',').length;
  const note = `${devices} devices in CUDA_VISIBLE_DEVICES`;
  return { value: fromText(devices, argument.range, note), argument: null, label: '' };
}

/** One process per Slurm task. */
function slurmWorld(input: WorldInput): World {
  const sizes = new Map(input.slurm);
  slurmSizes(input.launcher, sizes);
  const count = (size: SlurmSize): Count | null => {
    const pieces = sizes.get(size);
    return pieces === undefined ? null : countOf(argumentOf(pieces, input.place), `--${size}`);
  };
  const [tasks, nodes, perNode] = [count('ntasks'), count('nodes'), count('ntasks-per-node')];
  if (perNode !== null && nodes !== null) return product(perNode, nodes);
  if (tasks !== null) return single(tasks);
  const missing = perNode === null ? '--ntasks-per-node' : '--nodes';
  return single(absent(input, `the GPU count: ${missing} of the Slurm job`));
}

export function single(count: Count): World {
  const parts = count.argument === null ? [] : [{ message: count.label, range: count.argument.range }];
  return {
    gpus: count.value,
    gpusPerNode: unknown('the GPUs per node', 'cluster.gpusPerNode'),
    parts,
    perNode: count.argument,
    nodes: null,
  };
}

export function product(perNode: Count, nodes: Count): World {
  const parts = [perNode, nodes].flatMap(({ argument, label }) =>
    argument === null ? [] : [{ message: label, range: argument.range }],
  );
  const tokens = { parts, perNode: perNode.argument, nodes: nodes.argument };
  const [a, b] = [perNode.value, nodes.value];
  if (a.value === null || b.value === null) {
    const missing = a.value === null ? a : b;
    return { gpus: missing as Sourced<number>, gpusPerNode: a, ...tokens };
  }
  const notes = [told(perNode), told(nodes)].join(' x ');
  return { gpus: derived(a.value * b.value, notes, ['gpusPerNode', 'nodes']), gpusPerNode: a, ...tokens };
}

/** "8 per node", with the note that belongs to it. */
function told({ value, label }: Count): string {
  if (value.value === null) return '?';
  const name = label === '' ? String(value.value) : label;
  if (value.source.kind === 'default') return `${name} (${value.source.why})`;
  return value.source.kind === 'text' && value.source.note !== undefined ? `${name} (${value.source.note})` : name;
}
