/**
 * Parallel sizes, the GPU count and the data-parallel size of a torchtitan config. The GPU count is never a key: it
 * comes from outside, from a comment, or follows when every size is given. Mirrors `ParallelDims` in
 * pytorch/torchtitan torchtitan/distributed/parallel_dims.py.
 */

import { byDefault, derived, fromText, rangeOf, type Sourced, unknown } from '../../model/source.ts';
import { saidNumber } from '../said.ts';
import { entryAt } from '../tree.ts';
import { WHOLE, WHOLE_OR_REST } from '../values.ts';
import { parallelNumber, pathOf, report, type TitanConfig } from './config.ts';

export interface TitanSizes {
  readonly pp: Sourced<number>;
  readonly tp: Sourced<number>;
  readonly cp: Sourced<number>;
  readonly ep: Sourced<number>;
  readonly dp: Sourced<number>;
  readonly gpus: Sourced<number>;
}

/** The comment at the top of a file speaks of the whole run. */
const HEADER = /^(?:\uFEFF)?(?:[ \t]*(?:#[^\n]*)?\r?\n)*/;
/** "128 H100 GPUs": the count, then up to three words that describe them. */
const GPUS = /\b(\d{1,7})[ \t]+(?:x[ \t]+)?((?:[A-Za-z][\w-]*[ \t]+){0,3}?)GPUs?\b/gi;
/** A count for one machine, or of some other thing than the run. */
const OTHER_COUNT = /\bnodes?\b|\beach\b|\bper\b|\bor\b|\bleast\b|\bmost\b/i;

interface GpuComment {
  readonly count: Sourced<number>;
  readonly kind: Sourced<string>;
}

/** "preset for 128 H100 GPUs" above the first key. Two different counts, or a count per machine, tell nothing. */
export function gpuComment(file: string, text: string): GpuComment {
  const header = HEADER.exec(text.slice(0, 4096))![0];
  const found = [...header.matchAll(GPUS)].filter((match) => {
    const start = header.lastIndexOf('\n', match.index) + 1;
    const end = header.indexOf('\n', match.index);
    return Number(match[1]) > 0 && !OTHER_COUNT.test(header.slice(start, end < 0 ? undefined : end));
  });
  const [first] = found;
  if (first === undefined || found.some((match) => match[1] !== first[1])) {
    return { count: unknown('the GPU count', 'cluster.gpus'), kind: unknown('the kind of GPU', 'cluster.gpu') };
  }
  const count = first[1]!;
  const place = (offset: number, length: number) => ({ file, offset, length });
  const kind = /\b[A-Z]{1,3}\d{2,4}\w*/.exec(first[2] ?? '');
  const words = first.index + first[0].indexOf(first[2] ?? '', count.length);
  return {
    count: fromText(Number(count), place(first.index, count.length), 'from a comment'),
    kind:
      kind === null
        ? unknown('the kind of GPU', 'cluster.gpu')
        : fromText(kind[0], place(words + kind.index, kind[0].length), 'from a comment'),
  };
}

/** All sizes; a combination that torchtitan refuses becomes a finding. */
export function titanSizes(config: TitanConfig): TitanSizes {
  const one = (what: string) => byDefault(1, `torchtitan: ${what} is 1 when the key is absent`);
  const size = (name: string, say?: string) => parallelNumber(config, name, WHOLE, one(name), say);
  const pp = size('pipeline_parallel_degree', 'pipeline.size');
  const tp = size('tensor_parallel_degree', 'parallel.tensor');
  const cp = size('context_parallel_degree', 'parallel.context');
  const ep = size('expert_parallel_degree', 'parallel.expert');
  const replicate = size('data_parallel_replicate_degree');
  const shard = parallelNumber(config, shardName(config), WHOLE_OR_REST, byDefault(-1, 'torchtitan: what is left'));
  const stated = saidNumber(config.said, 'cluster.gpus', gpuComment(config.file, config.text).count);
  const world = { pp, tp, cp, replicate, shard };
  const gpus = stated.value === null ? impliedGpus(world) : stated;
  const dp = saidNumber(config.said, 'parallel.data', dataParallel(config, world, stated));
  checkExperts(config, { tp, cp, ep, shard });
  return { pp, tp, cp, ep, dp, gpus };
}

/** Before replicas and shards were told apart (2024-10) one key gave both. */
function shardName(config: TitanConfig): string {
  const old = pathOf(config, 'data_parallel_degree');
  return entryAt(config.root, old) === null ? 'data_parallel_shard_degree' : 'data_parallel_degree';
}

interface World {
  readonly pp: Sourced<number>;
  readonly tp: Sourced<number>;
  readonly cp: Sourced<number>;
  readonly replicate: Sourced<number>;
  readonly shard: Sourced<number>;
}

function impliedGpus({ pp, tp, cp, replicate, shard }: World): Sourced<number> {
  if (pp.value === null || tp.value === null || cp.value === null || replicate.value === null || shard.value === null) {
    return unknown('the GPU count', 'cluster.gpus');
  }
  if (shard.value === -1) return unknown('the GPU count', 'cluster.gpus');
  const gpus = replicate.value * shard.value * cp.value * tp.value * pp.value;
  return derived(
    gpus,
    `replicas × shards × cp × tp × pp = ${replicate.value} × ${shard.value} × ${cp.value} × ${tp.value} × ${pp.value}`,
    ['dp', 'cp', 'tp', 'pp'],
  );
}

function dataParallel(config: TitanConfig, world: World, gpus: Sourced<number>): Sourced<number> {
  const { pp, tp, cp, replicate, shard } = world;
  if (pp.value === null || tp.value === null || cp.value === null || replicate.value === null || shard.value === null) {
    return unknown('the data-parallel size', 'parallel.data');
  }
  const model = cp.value * tp.value * pp.value;
  if (shard.value !== -1) {
    const dp = replicate.value * shard.value;
    if (gpus.value !== null && dp * model !== gpus.value) invalidDims(config, world, shard.value, gpus);
    const how = `replicas × shards = ${replicate.value} × ${shard.value}`;
    const range = rangeOf(shard) ?? rangeOf(replicate);
    return range === null ? derived(dp, how, []) : fromText(dp, range, how);
  }
  if (gpus.value === null) return unknown('the GPU count', 'cluster.gpus');
  if (gpus.value % (replicate.value * model) !== 0) {
    invalidDims(config, world, Math.floor(gpus.value / (replicate.value * model)), gpus);
    return unknown('a GPU count that the parallel sizes divide', 'cluster.gpus');
  }
  return derived(gpus.value / model, `${gpus.value} GPUs / (cp ${cp.value} × tp ${tp.value} × pp ${pp.value})`, [
    'gpus',
    'cp',
    'tp',
    'pp',
  ]);
}

function invalidDims(config: TitanConfig, world: World, shard: number, gpus: Sourced<number>): void {
  const { pp, tp, cp, replicate } = world;
  const product = `dp_replicate(${replicate.value}) * dp_shard(${shard}) * cp(${cp.value}) * tp(${tp.value}) * pp(${pp.value})`;
  report(config, 'world-size-not-divisible', `Invalid parallel dims: ${product} != WORLD_SIZE(${gpus.value})`, [
    ['pipeline size', pp],
    ['tensor-parallel size', tp],
    ['context-parallel size', cp],
    ['data-parallel replicas', replicate],
    ['data-parallel shards', world.shard],
    ['GPU count', gpus],
  ]);
}

/** Expert parallelism borrows ranks from the data-parallel shards, and with etp 1 from the tensor-parallel ones too. */
function checkExperts(
  config: TitanConfig,
  { tp, cp, ep, shard }: Pick<World, 'tp' | 'cp' | 'shard'> & { readonly ep: Sourced<number> },
): void {
  const etp = parallelNumber(config, 'expert_tensor_parallel_degree', WHOLE, byDefault(1, 'torchtitan: 1'));
  if (ep.value === null || ep.value === 1 || etp.value === null || tp.value === null || cp.value === null) return;
  const about = [
    ['expert-parallel size', ep],
    ['expert tensor-parallel size', etp],
    ['tensor-parallel size', tp],
    ['context-parallel size', cp],
    ['data-parallel shards', shard],
  ] as const;
  if (etp.value !== tp.value && etp.value !== 1) {
    const message = `Currently we only support ETP=TP or ETP=1 (ETP ${etp.value}, TP ${tp.value})`;
    report(config, 'expert-size-not-divisible', message, [about[1], about[2]]);
    return;
  }
  if (shard.value === null || shard.value === -1) return;
  const ranks = shard.value * cp.value * (etp.value === tp.value ? 1 : tp.value);
  if (ranks % ep.value === 0) return;
  const factors = etp.value === tp.value ? 'dp_shard × cp' : 'dp_shard × cp × tp';
  report(
    config,
    'expert-size-not-divisible',
    `Expert parallel size ${ep.value} does not divide ${factors} = ${ranks}`,
    about,
  );
}
