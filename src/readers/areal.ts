/**
 * AReaL: `backend: "megatron:d4p4t2"` of the actor, critic or reference model. Sizes stand in the string, the GPU count
 * is their product, and batches are packed by tokens. AReaL lays the layers by parameters, not evenly. Mirrors
 * inclusionAI/AReaL@4aef98d8d areal/api/{alloc_mode,cli_args}.py, areal/engine/megatron_engine.py and
 * areal/engine/megatron_utils/pipeline_parallel.py. `rollout` is inference and has sizes of its own.
 */

import { arealSplit } from '../frameworks/areal-split.ts';
import type { MegatronKey } from '../frameworks/megatron-core/keys.ts';
import type { Change } from '../model/finding.ts';
import type { Plan } from '../model/plan.ts';
import { byDefault, derived, firstUnknown, fromText, type Sourced, type TextRange, unknown } from '../model/source.ts';
import { type Allocation, type Dimension, isMegatron, parseAllocation } from './areal/allocation.ts';
import { finding } from './limits.ts';
import { hasInner, isYaml } from './mcore/claims.ts';
import { mapAt, placeIn } from './mcore/config.ts';
import { withLocalModel } from './mcore/hugging-face.ts';
import { type Interpolation, textOf } from './mcore/interpolate.ts';
import { type Document, mcoreReader, type View } from './mcore/reader.ts';
import { type Settings, type Spelling, settingsOf, withDefaults, withNamedModel } from './mcore/settings.ts';
import { noWorld } from './mcore/world.ts';
import { stem } from './megatron-lm/plan.ts';
import { nodeAt } from './tree.ts';

const ROLES = ['actor', 'critic', 'ref', 'teacher'] as const;

function claims(path: string, text: string): boolean {
  return (
    isYaml(path) &&
    text.includes('megatron') &&
    hasInner(text, 'backend') &&
    /backend:[ \t]*["']?megatron(?:\[\w+\])?:/.test(text)
  );
}

interface Backend {
  readonly text: string;
  /** Of the characters of `text`. */
  readonly range: TextRange;
}

/** The role's backend; a critic or reference without one takes the actor's. */
function backendOf(interpolation: Interpolation, role: string): Backend | null {
  for (const each of role === 'actor' ? ['actor'] : [role, 'actor']) {
    const node = nodeAt(interpolation.root, `${each}.backend`);
    if (node.kind !== 'scalar' || node.value === null || node.value === '') continue;
    const { value, source } = textOf(node, `${each}.backend`, interpolation);
    return value === null || source.kind !== 'text' ? null : { text: value, range: source.range };
  }
  return null;
}

const LETTERS: readonly (readonly [letter: string, key: MegatronKey])[] = [
  ['p', 'pp'],
  ['t', 'tp'],
  ['c', 'cp'],
  ['e', 'ep'],
];

function rangeIn({ range }: Backend, { at, length }: Dimension): TextRange {
  return { ...range, offset: range.offset + at, length };
}

function spellingOf(role: string): Spelling {
  return {
    virtualStages: [`${role}.megatron.virtual_pipeline_parallel_size`],
    recomputeGranularity: [`${role}.megatron.recompute_granularity`],
    trainIters: ['total_train_steps'],
  };
}

function views(document: Document): readonly View[] {
  const interpolation: Interpolation = { root: document.root, dialect: 'omegaconf' };
  return ROLES.flatMap((role) => {
    if (mapAt(document.root, role) === null) return [];
    const backend = backendOf(interpolation, role);
    return backend === null || !isMegatron(backend.text) ? [] : [viewOf(document, interpolation, role, backend)];
  });
}

function viewOf(
  { file, root, companions }: Document,
  interpolation: Interpolation,
  role: string,
  backend: Backend,
): View {
  const allocation = parseAllocation(backend.text);
  const spelling = spellingOf(role);
  const settings = settingsOf(interpolation, spelling);
  sizes(settings, backend, allocation);
  const packed = unknown('the batch: sequences are packed up to max_tokens_per_mb', 'batch.micro', backend.range);
  settings.set('microBatch', { value: packed, spelled: 'mb_spec', place: null });
  settings.set('globalBatch', {
    value: { ...packed, source: { ...packed.source, say: 'batch.global' } },
    spelled: 'mb_spec',
    place: null,
  });
  const model = modelOf(interpolation, role);
  withLocalModel(settings, companions, model);
  withNamedModel(settings, model);
  withDefaults(settings, { virtualStages: '1', etp: '1' }, 'AReaL: 1 when it is absent');
  const product = ['d', 't', 'p', 'c'].map((letter) =>
    allocation.ok ? (allocation.attention.get(letter)?.value ?? 1) : null,
  );
  const gpus: Sourced<number> = product.some((each) => each === null)
    ? unknown('a backend string that AReaL can parse', 'cluster.gpus', backend.range)
    : derived(
        (product as number[]).reduce((a, b) => a * b),
        `the sizes in "${backend.text}" together`,
        ['pp', 'tp', 'cp'],
      );
  const dynamic = role === 'actor' || role === 'critic' ? microbatches(interpolation, role, allocation) : null;
  return {
    id: role === 'actor' ? 'main' : role,
    name: `${stem(file)}: ${role}`,
    settings,
    spelling,
    interpolation,
    world: { ...noWorld(''), gpus, gpusPerNode: perNode(root) },
    worldKeys: null,
    elsewhere: null,
    near: placeIn(file, root, [`${role}.backend`, role]),
    anchor: isOwn(root, role, backend) ? null : placeIn(file, root, [`${role}.backend`, role]),
    dynamic: typeof dynamic === 'number' ? null : (dynamic ?? `the number of microbatches: ${role} only runs forwards`),
    finish: (plan) => finished(plan, backend, allocation, typeof dynamic === 'number' ? dynamic : null),
    edit: (plan, change) => edit(plan, change, backend, allocation),
  };
}

/** Whether the role's sizes stand in its own backend. */
function isOwn(root: Document['root'], role: string, { range }: Backend): boolean {
  const node = nodeAt(root, `${role}.backend`);
  return (
    node.kind === 'scalar' && range.offset >= node.range.offset && range.offset < node.range.offset + node.range.length
  );
}

function sizes(settings: Settings, backend: Backend, allocation: Allocation): void {
  for (const [letter, key] of LETTERS) {
    const found = allocation.ok
      ? (key === 'ep' ? (allocation.experts ?? allocation.attention) : allocation.attention).get(letter)
      : undefined;
    if (!allocation.ok) {
      const value = unknown('a backend string that AReaL can parse', undefined, backend.range);
      settings.set(key, { value, spelled: 'backend', place: backend.range });
    } else if (found !== undefined) {
      const range = rangeIn(backend, found);
      settings.set(key, { value: fromText(String(found.value), range), spelled: letter, place: range });
    } else {
      const value = byDefault('1', `AReaL: 1 when the backend has no ${letter}`);
      settings.set(key, { value, spelled: letter, place: null });
    }
  }
  const tensor = allocation.ok ? allocation.experts?.get('t') : undefined;
  if (tensor === undefined) return;
  const range = rangeIn(backend, tensor);
  settings.set('etp', { value: fromText(String(tensor.value), range), spelled: 'ffn t', place: range });
}

function modelOf(interpolation: Interpolation, role: string) {
  for (const path of [`${role}.path`, 'actor.path']) {
    const node = nodeAt(interpolation.root, path);
    if (node.kind !== 'scalar' || node.value === null) continue;
    const text = textOf(node, path, interpolation);
    if (text.value !== null && text.source.kind === 'text') return { name: text.value, range: text.source.range };
  }
  return null;
}

function perNode(root: Document['root']): Sourced<number> {
  const node = nodeAt(root, 'cluster.n_gpus_per_node');
  return node.kind === 'scalar' && typeof node.value === 'number' && node.value >= 1
    ? fromText(node.value, node.range)
    : unknown('the GPUs per node', 'cluster.gpusPerNode');
}

/** At least two per rank, in multiples of the pipeline; only without a token limit is that the number itself. */
function microbatches({ root }: Interpolation, role: string, allocation: Allocation): string | number {
  const number = (key: string): number | null => {
    const node = nodeAt(root, `${role}.mb_spec.${key}`);
    return node.kind === 'scalar' && typeof node.value === 'number' ? node.value : null;
  };
  const pp = allocation.ok ? (allocation.attention.get('p')?.value ?? 1) : 1;
  const least = Math.max(pp > 1 ? 2 * pp : 1, number('n_mbs') ?? 1);
  if (number('max_tokens_per_mb') === null && allocation.ok) return Math.ceil(least / pp) * pp;
  return `the number of microbatches: ${role}.mb_spec packs by tokens, at least ${least}`;
}

function finished(plan: Plan, backend: Backend, allocation: Allocation, microbatches: number | null): Plan {
  const findings = plan.findings.filter(({ code }) => code !== 'layers-not-divisible');
  if (!allocation.ok)
    findings.push(
      finding(
        'invalid-value',
        allocation.reason,
        backend.range.file === plan.anchor.file ? backend.range : plan.anchor,
      ),
    );
  const how = `AReaL: ${microbatches} when mb_spec has no max_tokens_per_mb`;
  const m =
    microbatches === null || plan.microbatches.source.kind === 'assumed'
      ? plan.microbatches
      : derived(microbatches, how, ['pp']);
  const dp = allocation.ok ? allocation.attention.get('d') : undefined;
  const dpSource = dp !== undefined && plan.dp.value === dp.value ? fromText(dp.value, rangeIn(backend, dp)) : plan.dp;
  return { ...plan, dp: dpSource, microbatches: m, stages: split(plan), findings };
}

/** By parameters, as far as the model's shape is known. */
function split(plan: Plan): Plan['stages'] {
  const { pp, vpp, model, ep } = plan;
  if (pp.value === 1) return plan.stages;
  const missing = firstUnknown([
    pp,
    vpp,
    model.layers,
    model.hidden,
    model.heads,
    model.kvHeads,
    model.ffn,
    model.vocabulary,
  ]);
  if (missing !== null) return missing;
  const [h, v] = [model.hidden.value!, model.vocabulary.value!];
  const stages = pp.value! * vpp.value!;
  if (stages * model.layers.value! ** 2 > 4_000_000) return unknown('a split that can be searched');
  const attention = 2 * h * h + 2 * model.kvHeads.value! * Math.floor(h / model.heads.value!) * h + 2 * h;
  const mlp = (width: number) => 3 * h * width;
  const experts = model.experts;
  // Models with shared experts mostly have dense layers in front, and which ones is not in the registry.
  if (experts !== null && (experts.shared.value ?? 0) > 0)
    return unknown('the split: AReaL lays dense and expert layers by their parameters');
  const layer =
    experts === null
      ? attention + mlp(model.ffn.value!)
      : attention +
        h * (experts.count.value ?? 0) +
        mlp(experts.ffn.value ?? 0) *
          (Math.ceil((experts.count.value ?? 0) / (ep.value ?? 1)) + (experts.shared.value ?? 0));
  const lengths = arealSplit(stages, {
    layers: Array<number>(model.layers.value!).fill(layer),
    embedding: v * h,
    head: v * h,
  });
  if (lengths === null) return unknown('a split: there are too few layers');
  const last = stages - 1;
  const contents = lengths.map((layers, i) => ({ layers, embedding: i === 0, head: i === last, mtp: 0 }));
  return derived(contents, 'AReaL: by parameters, embedding and head counted, layers taken as equal', [
    'layers',
    'pp',
    'vpp',
  ]);
}

function edit(plan: Plan, { key, value }: Change, backend: Backend, allocation: Allocation) {
  const letters: Readonly<Record<string, string>> = {
    'pipeline.size': 'p',
    'parallel.tensor': 't',
    'parallel.context': 'c',
    'parallel.expert': 'e',
    'parallel.data': 'd',
  };
  const size = Number(value);
  if (key === 'pipeline.virtualStages' || key === 'run.steps') return undefined;
  if (!allocation.ok || !Number.isSafeInteger(size) || size < 1) return null;
  if (key === 'cluster.gpus') {
    const [dp, gpus] = [plan.dp.value, plan.gpus.value];
    return dp === null || gpus === null ? null : put(backend, allocation.attention.get('d'), (size * dp) / gpus);
  }
  const letter = Object.hasOwn(letters, key) ? letters[key]! : null;
  if (letter === null) return null;
  const { attention, experts } = allocation;
  if (experts === null) return put(backend, attention.get(letter), size);
  if (letter === 'e') return put(backend, experts.get('e'), size);
  if (letter !== 'p') return null;
  const both = [put(backend, attention.get('p'), size), put(backend, experts.get('p'), size)];
  return both.includes(null) ? null : both.flatMap((each) => each ?? []);
}

function put(backend: Backend, dimension: Dimension | undefined, size: number) {
  if (dimension === undefined || !Number.isSafeInteger(size) || size < 1) return null;
  return [{ ...rangeIn(backend, dimension), text: String(size) }];
}

export const arealReader = mcoreReader({
  id: 'areal',
  title: 'AReaL YAML on Megatron',
  name: 'AReaL',
  files: ['**/*.yaml', '**/*.yml'],
  claims,
  views,
});
