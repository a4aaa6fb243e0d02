/**
 * How the layers lie on the stages, and how many virtual stages a rank has. Five ways lead there, and they exclude
 * each other: a hybrid pattern, a layout string, layers per virtual stage, virtual stages per rank with even or
 * uneven ends, and plain even division. Mirrors NVIDIA/Megatron-LM@d98e8a64dd megatron/training/arguments.py,
 * megatron/core/transformer/transformer_config.py (__post_init__) and transformer_block.py (get_num_layers_to_build).
 */

import type { StageContent } from '../../model/plan.ts';
import { byDefault, derived, firstUnknown, type Sourced, unknown } from '../../model/source.ts';
import { type Context, defaulted, given, isOn, numberOf, refuse, textOf } from './context.ts';
import { parseHybridPattern } from './hybrid.ts';
import { flagOf, type MegatronKey } from './keys.ts';
import { checkLayout, count, parseLayout } from './layout.ts';

export interface Split {
  readonly layers: Sourced<number>;
  readonly vpp: Sourced<number>;
  readonly stages: Sourced<readonly StageContent[]>;
}

/** Stages that are worth listing; no pipeline that runs comes near it. */
const MAX_STAGES = 65_536;

const VPP_KEYS = ['layersPerVirtualStage', 'virtualStages', 'layout'] as const;
const END_KEYS = ['firstLayers', 'lastLayers'] as const;
const ACCOUNT_KEYS = ['accountEmbedding', 'accountLoss'] as const;

export function resolveSplit(context: Context, pp: Sourced<number>): Split {
  checkExclusions(context);
  const pattern = textOf(context, 'hybridPattern') ?? textOf(context, 'hybridOverride');
  if (pattern !== null) return hybridSplit(context, pattern, pp);
  const layers = layerCount(context);
  const layout = textOf(context, 'layout');
  const split = layout !== null ? layoutSplit(context, layout, pp, layers) : countedSplit(context, pp, layers);
  const fork = given(context, 'forkLayerList');
  if (fork === undefined) return split;
  return {
    ...split,
    stages: unknown(`the split, which ${fork.spelled} gives in a way that Megatron-LM does not know`),
  };
}

function layerCount(context: Context): Sourced<number> {
  const written = numberOf(context, 'layers', 1, 'model.layers');
  const encoder = numberOf(context, 'encoderLayers', 1, 'model.layers');
  if (written !== null && encoder !== null) {
    refuse(context, 'options-conflict', 'cannot have both num-layers and encoder-num-layers specified', [
      'layers',
      'encoderLayers',
    ]);
  }
  const found = written ?? encoder;
  if (found !== null) return found;
  if (context.input.complete) {
    refuse(context, 'missing-value', 'either num-layers or encoder-num-layers should be specified', []);
  }
  return unknown('the number of layers (--num-layers)', 'model.layers');
}

function writtenKeys(context: Context, keys: readonly MegatronKey[]): readonly MegatronKey[] {
  return keys.filter((key) => given(context, key) !== undefined && isOn(context, key) === true);
}

/** Options that exclude each other, whatever their values. */
function checkExclusions(context: Context): void {
  const vpp = writtenKeys(context, VPP_KEYS);
  const ends = writtenKeys(context, END_KEYS);
  const accounts = writtenKeys(context, ACCOUNT_KEYS);
  const told = (keys: readonly MegatronKey[]) => keys.map(flagOf).join(', ');
  if (vpp.length > 1) {
    const message = `No more than one of the following arguments can be set at the same time: --num-layers-per-virtual-pipeline-stage, --num-virtual-stages-per-pipeline-rank, --pipeline-model-parallel-layout. Set are ${told(vpp)}.`;
    refuse(context, 'options-conflict', message, vpp);
  }
  if (ends.length > 0 && accounts.length > 0) {
    const message =
      'num_layers_in_first_pipeline_stage and num_layers_in_last_pipeline_stage cannot be set at the same time with account_for_embedding_in_pipeline_split and account_for_loss_in_pipeline_split';
    refuse(context, 'options-conflict', message, [...ends, ...accounts]);
  }
  if (vpp.includes('layout') && ends.length + accounts.length > 0) {
    const message = `pipeline_model_parallel_layout cannot be set with other pipeline layout arguments. Set are ${told([...ends, ...accounts])}.`;
    refuse(context, 'options-conflict', message, ['layout', ...ends, ...accounts]);
  }
  if (vpp.includes('layersPerVirtualStage') && ends.length > 0) {
    const message =
      'please use --num-virtual-stages-per-pipeline-rank to specify virtual pipeline parallel degree when enable uneven pipeline parallelism';
    refuse(context, 'options-conflict', message, ['layersPerVirtualStage', ...ends]);
  }
}

function layoutSplit(context: Context, layout: Sourced<string>, pp: Sourced<number>, layers: Sourced<number>): Split {
  const missing = firstUnknown([layout, pp]);
  if (layout.value === null || pp.value === null) return { layers, vpp: missing!, stages: missing! };
  const parsed = parseLayout(layout.value);
  const invalid = (reason: string, keys: readonly MegatronKey[]): Split => {
    refuse(context, 'layout-invalid', reason, ['layout', ...keys]);
    return { layers, vpp: unknown('a legal layout'), stages: unknown('a legal layout') };
  };
  if (!parsed.ok) return invalid(parsed.reason, []);
  const { stages } = parsed;
  const mtp = numberOf(context, 'mtpLayers', 0);
  const mtpLayers = mtp === null ? (context.input.elsewhere === null ? 0 : null) : mtp.value;
  const reason = checkLayout(stages, { pp: pp.value, layers: layers.value, mtpLayers });
  if (stages.length % pp.value !== 0) return invalid(reason ?? '', ['pp']);
  if (reason !== null) refuse(context, 'layout-invalid', reason, ['layout', 'layers', 'mtpLayers', 'pp']);
  const vpp = stages.length / pp.value;
  const content = stages.map((stage) => ({
    layers: count(stage, 't'),
    embedding: stage.includes('E'),
    head: stage.includes('L'),
    mtp: count(stage, 'm'),
  }));
  const how = `${stages.length} stages in the layout`;
  const fromLayout = derived(count(stages.join(''), 't'), 'decoder layers in the layout', ['stages']);
  return {
    layers: layers.value === null ? fromLayout : layers,
    vpp: derived(vpp, `${how} / ${pp.value}`, ['stages', 'pp']),
    stages: layout.source.kind === 'text' ? { value: content, source: layout.source } : derived(content, how, ['pp']),
  };
}

/** Everything that counts layers: even, uneven ends, virtual stages either way. */
function countedSplit(context: Context, pp: Sourced<number>, layers: Sourced<number>): Split {
  const extra = extraLayers(context);
  const vpp = virtualStages(context, pp, layers, extra);
  const missing = firstUnknown([pp, vpp, layers]);
  if (pp.value === null || vpp.value === null || layers.value === null) return { layers, vpp, stages: missing! };
  if (extra === null) return { layers, vpp, stages: unknown('whether embedding and loss count in the split') };
  if (pp.value * vpp.value > MAX_STAGES) return { layers, vpp, stages: unknown('a pipeline that can be listed') };
  const first = numberOf(context, 'firstLayers', 1);
  const last = numberOf(context, 'lastLayers', 1);
  const open = firstUnknown([first, last].filter((each) => each !== null));
  if (open !== null) return { layers, vpp, stages: open };
  const shape = {
    pp: pp.value,
    vpp: vpp.value,
    layers: layers.value,
    first: first?.value ?? null,
    last: last?.value ?? null,
    ...extra,
  };
  const perRank = shape.first !== null || shape.last !== null ? unevenRanks(context, shape) : evenRanks(context, shape);
  if (perRank === null) return { layers, vpp, stages: unknown('a split that the framework accepts') };
  const chunks = chunked(context, shape, perRank);
  if (chunks === null) return { layers, vpp, stages: unknown('a split that the framework accepts') };
  return { layers, vpp, stages: derived(contents(context, shape, chunks), how(shape), ['layers', 'pp', 'vpp']) };
}

interface Shape {
  readonly pp: number;
  readonly vpp: number;
  readonly layers: number;
  readonly first: number | null;
  readonly last: number | null;
  readonly embedding: 0 | 1;
  readonly loss: 0 | 1;
}

function how(shape: Shape): string {
  if (shape.first !== null || shape.last !== null) {
    return `${shape.first ?? 'even'} layers on the first rank, ${shape.last ?? 'even'} on the last, the rest even`;
  }
  const ends = [shape.embedding === 1 ? 'embedding' : null, shape.loss === 1 ? 'loss' : null].filter(
    (end) => end !== null,
  );
  const counted = ends.length === 0 ? '' : `, ${ends.join(' and ')} counted as a layer`;
  const stages = shape.pp * shape.vpp;
  return `${shape.layers} layers evenly over ${stages} ${stages === 1 ? 'stage' : 'stages'}${counted}`;
}

/** What embedding and loss add to the layers that are divided; null when that is not known. */
function extraLayers(context: Context): Pick<Shape, 'embedding' | 'loss'> | null {
  const [embedding, loss] = [isOn(context, 'accountEmbedding'), isOn(context, 'accountLoss')];
  return embedding === null || loss === null ? null : { embedding: embedding ? 1 : 0, loss: loss ? 1 : 0 };
}

function virtualStages(
  context: Context,
  pp: Sourced<number>,
  layers: Sourced<number>,
  extra: Pick<Shape, 'embedding' | 'loss'> | null,
): Sourced<number> {
  const direct = numberOf(context, 'virtualStages', 1, 'pipeline.virtualStages');
  if (direct !== null) return direct;
  const each = numberOf(context, 'layersPerVirtualStage', 1, 'pipeline.virtualStages');
  if (each === null) {
    const why =
      'one stage per rank when neither --num-layers-per-virtual-pipeline-stage nor --num-virtual-stages-per-pipeline-rank is given';
    return defaulted(context, 'virtualStages', 1, why, 'pipeline.virtualStages');
  }
  if (each.value === null || pp.value === null || layers.value === null) return firstUnknown([each, pp, layers])!;
  if (extra === null) return unknown('whether embedding and loss count in the split');
  const total = layers.value + extra.embedding + extra.loss;
  const counted = countedLayers(layers.value, extra);
  const keys = ['pp', 'layersPerVirtualStage', 'layers', ...writtenKeys(context, ACCOUNT_KEYS)] as const;
  if (total % pp.value !== 0) {
    const message = `number of layers of the model must be divisible pipeline model parallel size (${counted} layers, pipeline-model-parallel size ${pp.value})`;
    refuse(context, 'layers-not-divisible', message, keys);
    return unknown('layers that divide over the stages', 'pipeline.virtualStages');
  }
  const perRank = total / pp.value;
  if (perRank % each.value === 0)
    return derived(perRank / each.value, `${counted} / ${pp.value} / ${each.value}`, ['layers', 'pp']);
  const run = Math.floor(perRank / each.value) * each.value * pp.value;
  const older = run === 0 ? '' : `; older builds train ${run} of ${counted} layers`;
  const message = `number of layers per pipeline stage must be divisible number of layers per virtual pipeline stage (${perRank} layers per pipeline stage, ${each.value} per virtual stage)${older}`;
  refuse(context, 'layers-not-divisible', message, ['layersPerVirtualStage', 'layers', 'pp']);
  return unknown('layers that divide over the virtual stages', 'pipeline.virtualStages');
}

/** "30", or "32 (30 + embedding + loss)". */
function countedLayers(layers: number, { embedding, loss }: Pick<Shape, 'embedding' | 'loss'>): string {
  if (embedding + loss === 0) return String(layers);
  const parts = [String(layers), ...(embedding === 1 ? ['embedding'] : []), ...(loss === 1 ? ['loss'] : [])];
  return `${layers + embedding + loss} (${parts.join(' + ')})`;
}

/** Layers that each rank takes part in, embedding and loss counted in; null when Megatron refuses. */
function evenRanks(context: Context, shape: Shape): readonly number[] | null {
  const total = shape.layers + shape.embedding + shape.loss;
  if (total % shape.pp === 0) return Array<number>(shape.pp).fill(total / shape.pp);
  const accounts = writtenKeys(context, ACCOUNT_KEYS);
  const counted = countedLayers(shape.layers, shape);
  const message =
    shape.vpp > 1
      ? `num_layers=${counted} should be divisible by config.pipeline_model_parallel_size=${shape.pp}`
      : `Number of layers should be divisible by the pipeline-model-parallel size (${counted} layers, pipeline-model-parallel size ${shape.pp})`;
  refuse(context, 'layers-not-divisible', message, ['pp', 'layers', ...accounts]);
  return null;
}

function unevenRanks(context: Context, shape: Shape): readonly number[] | null {
  const { pp, vpp, first, last } = shape;
  const keys = ['firstLayers', 'lastLayers', 'layers', 'pp'] as const;
  const refused = (message: string): null => {
    refuse(context, 'split-invalid', message, keys);
    return null;
  };
  for (const [end, name] of [
    [first, 'first'],
    [last, 'last'],
  ] as const) {
    if (end !== null && vpp > 1 && end % vpp !== 0) {
      return refused(
        `number of layers at ${name} stage: ${end} must be divisible by virtual pipeline parallel degree ${vpp}`,
      );
    }
  }
  const middleLayers = shape.layers - (first ?? 0) - (last ?? 0);
  const middleRanks = pp - (first === null ? 0 : 1) - (last === null ? 0 : 1);
  if ((middleLayers !== 0) !== (middleRanks !== 0) || middleLayers < 0 || middleRanks < 0) {
    const older =
      middleLayers > 0 && middleRanks === 0 && pp > 1 ? ' Older builds train without the middle layers.' : '';
    return refused(
      `Mismatch: ${middleLayers} middle layers remaining but ${middleRanks} middle PP stages available.${older}`,
    );
  }
  if (middleRanks > 0 && middleLayers % middleRanks !== 0) {
    return refused(
      `With uneven pipelineing the left over layers must be divisible by left over stages: number of layers at middle stage: ${middleLayers} must be divisible by the middle pipeline model parallel size ${middleRanks}`,
    );
  }
  const middle = middleRanks === 0 ? 0 : middleLayers / middleRanks;
  if (middleRanks > 0 && middle % vpp !== 0) {
    return refused(
      `number of layers on each middle pipeline rank: ${middle} must be divisible by virtual pipeline parallel degree ${vpp}`,
    );
  }
  return Array.from({ length: pp }, (_, rank) =>
    rank === 0 && first !== null ? first : rank === pp - 1 && last !== null ? last : middle,
  );
}

/** [rank][chunk] decoder layers, embedding and loss taken off the ends; null when Megatron refuses. */
function chunked(context: Context, shape: Shape, perRank: readonly number[]): number[][] | null {
  const { pp, vpp } = shape;
  const uneven = perRank.find((layers) => layers % vpp !== 0);
  if (uneven !== undefined) {
    const message = `num_layers_per_pipeline_rank ${uneven} should be divisible by vp_size ${vpp}`;
    refuse(context, 'layers-not-divisible', message, [
      'virtualStages',
      'pp',
      'layers',
      ...writtenKeys(context, ACCOUNT_KEYS),
    ]);
    return null;
  }
  const chunks = perRank.map((layers) => Array<number>(vpp).fill(layers / vpp));
  chunks[0]![0]! -= shape.embedding;
  chunks[pp - 1]![vpp - 1]! -= shape.loss;
  for (const [layers, name, key] of [
    [chunks[0]![0]!, 'first', 'accountEmbedding'],
    [chunks[pp - 1]![vpp - 1]!, 'last', 'accountLoss'],
  ] as const) {
    if (layers < 0) {
      refuse(context, 'split-invalid', `Not enough layers in the ${name} virtual pipeline stage`, [
        key,
        'layers',
        'pp',
      ]);
      return null;
    }
  }
  return chunks;
}

function contents(
  context: Context,
  { pp, vpp }: Shape,
  chunks: readonly (readonly number[])[],
): readonly StageContent[] {
  const mtp = numberOf(context, 'mtpLayers', 0)?.value ?? 0;
  const last = pp * vpp - 1;
  return Array.from({ length: pp * vpp }, (_, stage) => ({
    layers: chunks[stage % pp]![Math.floor(stage / pp)]!,
    embedding: stage === 0,
    head: stage === last,
    mtp: stage === last ? mtp : 0,
  }));
}

function hybridSplit(context: Context, pattern: Sourced<string>, pp: Sourced<number>): Split {
  const key: MegatronKey = given(context, 'hybridPattern') === undefined ? 'hybridOverride' : 'hybridPattern';
  if (given(context, 'hybridPattern') !== undefined && given(context, 'hybridOverride') !== undefined) {
    refuse(
      context,
      'options-conflict',
      '--hybrid-override-pattern and --hybrid-layer-pattern cannot both be specified.',
      ['hybridOverride', 'hybridPattern'],
    );
  }
  for (const other of writtenKeys(context, [...VPP_KEYS, ...ACCOUNT_KEYS])) {
    const message = `${flagOf(other)} should not be used with --hybrid-layer-pattern: the | segments of the pattern define the pipeline stages`;
    refuse(context, 'options-conflict', message, [other, key]);
  }
  const missing = firstUnknown([pattern, pp]);
  if (pattern.value === null || pp.value === null) return { layers: missing!, vpp: missing!, stages: missing! };
  const parsed = parseHybridPattern(pattern.value);
  if (!parsed.ok) {
    refuse(context, 'layout-invalid', parsed.reason, [key]);
    const illegal = unknown('a legal hybrid pattern');
    return { layers: illegal, vpp: illegal, stages: illegal };
  }
  const layers = derived(parsed.layers, 'letters of the hybrid layer pattern', ['stages']);
  if (parsed.segments.length === 1 && pp.value > 1) {
    return hybridWithoutPipes(context, layers, pp);
  }
  const ends = writtenKeys(context, END_KEYS);
  if (parsed.segments.length > 1 && ends.length > 0) {
    const message = `If --hybrid-layer-pattern contains pipe separators, ${flagOf(ends[0]!)} should not be specified as the pipeline layout is explicitly defined.`;
    refuse(context, 'options-conflict', message, [...ends, key]);
  }
  if (parsed.segments.length % pp.value !== 0) {
    const message = `The number of hybrid pipeline segments described by --hybrid-layer-pattern must be evenly divisible by --pipeline-model-parallel-size. Got ${parsed.segments.length} segments and ${pp.value} pipeline parallel size.`;
    refuse(context, 'layout-invalid', message, [key, 'pp']);
    return {
      layers,
      vpp: unknown('segments that divide over the ranks'),
      stages: unknown('segments that divide over the ranks'),
    };
  }
  const lastStage = parsed.segments.length - 1;
  const stages = parsed.segments.map((segment, i) => ({
    layers: segment,
    embedding: i === 0,
    head: i === lastStage,
    mtp: i === lastStage ? parsed.mtpDepths : 0,
  }));
  return {
    layers,
    vpp: derived(parsed.segments.length / pp.value, `${parsed.segments.length} segments / ${pp.value}`, [
      'stages',
      'pp',
    ]),
    stages: derived(stages, 'segments of the hybrid layer pattern', ['pp']),
  };
}

/** A pattern without `|` is cut at launch, evenly or with given ends; virtual stages then do not apply. */
function hybridWithoutPipes(context: Context, layers: Sourced<number>, pp: Sourced<number>): Split {
  const ignored: readonly MegatronKey[] = [...VPP_KEYS, ...ACCOUNT_KEYS];
  const keys = new Map([...context.input.keys].filter(([key]) => !ignored.includes(key)));
  const vpp = byDefault(1, 'Megatron-LM: a hybrid pattern without | has one stage per rank');
  return { ...countedSplit({ ...context, input: { ...context.input, keys, elsewhere: null } }, pp, layers), vpp };
}
