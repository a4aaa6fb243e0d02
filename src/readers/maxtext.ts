/**
 * MaxText configs: `base.yml` and those that build on it. The pipeline is the product of two mesh axes, its repeats
 * follow from the layers, and its microbatches from its stages. Mirrors AI-Hypercomputer/maxtext@e591f30c
 * src/maxtext/configs/{base.yml,types.py} and src/maxtext/layers/pipeline.py.
 */

import type { Change, TextEdit } from '../model/finding.ts';
import type { ModelShape, Plan, Said } from '../model/plan.ts';
import type { Reader, Reading, Texts } from '../model/reading.ts';
import { byDefault, derived, firstUnknown, fromText, rangeOf, type Sourced, unknown } from '../model/source.ts';
import { finding } from './limits.ts';
import { maxtextConfig } from './maxtext/config.ts';
import { type Config, pipelineOf } from './maxtext/pipeline.ts';
import { type Companions, openCompanions } from './mcore/config.ts';
import { modelByName } from './model-registry.ts';
import { anchorAt, baseName, openParts, saidSchedule } from './plan-base.ts';
import { saidNumber } from './said.ts';
import { has, nodeAt, type TreeNode } from './tree.ts';
import { NOT_NEGATIVE, numberAt, textAt, WHOLE, WHOLE_OR_REST, WHOLE_OR_ZERO } from './values.ts';
import { setYaml } from './yaml/edit.ts';
import { readYaml } from './yaml/read.ts';

const PIPELINE = /^(?:ici|dcn)_pipeline_parallelism[ \t]*:/m;
const BASE = /^base_config[ \t]*:/m;
const MESH = /^(?:(?:ici|dcn)_\w+_parallelism|num_pipeline_\w+|per_device_batch_size)[ \t]*:/m;

function claims(path: string, text: string): boolean {
  if (!/\.ya?ml$/i.test(path)) return false;
  return PIPELINE.test(text) || (BASE.test(text) && MESH.test(text));
}

function read(path: string, texts: Texts, said: Said): Reading {
  const { root, problems } = readYaml(path, texts[path] ?? '');
  if (root.kind !== 'map') return { plans: [], problems, needs: [] };
  const companions = openCompanions(path, texts);
  const tree = maxtextConfig(path, root, companions);
  const anchor = anchorAt(path, tree, [
    'ici_pipeline_parallelism',
    'dcn_pipeline_parallelism',
    'num_pipeline_microbatches',
    'base_config',
  ]);
  const plan = planOf(path, { root: tree, said, findings: [], anchor }, companions);
  return { plans: [plan], problems, needs: [...companions.needs], optional: [...companions.optional] };
}

/** A mesh axis over both networks; unknown where a size of -1 takes what is left. */
function axis({ root, findings }: Config, name: string): Sourced<number> {
  const part = (network: string, rest: boolean) =>
    numberAt(
      root,
      `${network}_${name}_parallelism`,
      WHOLE_OR_REST,
      byDefault(rest ? -1 : 1, `MaxText: ${network}_${name}_parallelism is ${rest ? -1 : 1}`),
      findings,
    );
  const parts = [part('ici', name === 'fsdp'), part('dcn', name === 'data')] as const;
  const missing = firstUnknown(parts);
  if (missing !== null) return missing;
  const left = parts.find((each) => each.value === -1);
  if (left !== undefined)
    return unknown(
      `the size of the ${name} axis, which takes the devices that are left (-1)`,
      'cluster.gpus',
      rangeOf(left) ?? undefined,
    );
  const [ici, dcn] = parts;
  if (dcn.value === 1) return ici;
  return ici.value === 1 ? dcn : derived(ici.value! * dcn.value!, `ici ${ici.value} x dcn ${dcn.value}`, []);
}

const MODEL_AXES = ['tensor', 'tensor_sequence', 'tensor_transpose', 'autoregressive'] as const;
const CONTEXT_AXES = ['context', 'sequence', 'context_autoregressive', 'context_usp_ulysses'] as const;
const DATA_AXES = ['data', 'fsdp', 'fsdp_transpose', 'diloco'] as const;

function productOf(values: readonly Sourced<number>[], from: readonly string[]): Sourced<number> {
  const missing = firstUnknown(values);
  if (missing !== null) return missing;
  const other = values.filter((each) => each.value !== 1);
  if (other.length <= 1) return other[0] ?? values[0]!;
  return derived(
    values.reduce((all, each) => all * each.value!, 1),
    other.map((each) => each.value).join(' x '),
    from,
  );
}

function sizesOf(config: Config) {
  const { said } = config;
  const size = (names: readonly string[], say: string) =>
    saidNumber(
      said,
      say,
      productOf(
        names.map((name) => axis(config, name)),
        [],
      ),
    );
  const pp = size(['pipeline'], 'pipeline.size');
  const tp = size(MODEL_AXES, 'parallel.tensor');
  const cp = size(CONTEXT_AXES, 'parallel.context');
  const ep = size(['expert'], 'parallel.expert');
  const model = productOf([pp, tp, cp, ep], ['pp', 'tp', 'cp', 'ep']);
  const written = size(DATA_AXES, 'parallel.data');
  const gpus = saidNumber(said, 'cluster.gpus', productOf([model, written], ['dp', 'pp', 'tp', 'cp', 'ep']));
  const dp =
    written.value === null && gpus.value !== null && model.value !== null
      ? dataOf(config, gpus.value, model.value, pp)
      : written;
  return { pp, tp, cp, ep, dp, gpus };
}

function dataOf({ findings, anchor }: Config, gpus: number, model: number, pp: Sourced<number>): Sourced<number> {
  if (gpus % model === 0) return derived(gpus / model, `${gpus} devices / ${model}`, ['gpus', 'pp', 'tp', 'cp', 'ep']);
  findings.push(
    finding(
      'world-size-not-divisible',
      `Unspecified parallelism axis: the ${gpus} devices do not divide by the product of the others, ${model}`,
      rangeOf(pp) ?? anchor,
    ),
  );
  return unknown('a device count that the mesh divides', 'cluster.gpus');
}

function planOf(file: string, config: Config, companions: Companions): Plan {
  const { root, said, findings, anchor } = config;
  const sizes = sizesOf(config);
  const model = modelOf(config);
  const pipeline = pipelineOf(config, sizes.pp, model.layers);
  const batch = batchOf(config, sizes, pipeline.microbatches);
  const note = companions.findings.map((each) => ({ ...each, severity: 'information' as const }));
  return {
    id: 'main',
    name: baseName(file),
    framework: 'maxtext',
    anchor,
    ...sizes,
    vpp: pipeline.repeats,
    schedule: saidSchedule(said) ?? scheduleOf(sizes.pp),
    groupSize: pipeline.microbatches,
    ...batch,
    microbatches: pipeline.microbatches,
    sequenceLength: saidNumber(
      said,
      'model.sequence',
      numberAt(root, 'max_target_length', WHOLE, byDefault(2048, 'MaxText: max_target_length is 2048'), findings),
    ),
    stages: pipeline.stages,
    model,
    ...openParts('MaxText'),
    run: {
      steps: numberAt(root, 'steps', WHOLE, unknown('the length of the run (steps)', 'run.steps'), []),
      tokens: unknown('the tokens of the run', 'run.tokens'),
    },
    findings: [...findings, ...note],
  };
}

function scheduleOf(pp: Sourced<number>): Plan['schedule'] {
  if (pp.value === null) return pp as Plan['schedule'];
  return pp.value === 1
    ? derived('none', 'one stage needs no schedule', ['pp'])
    : derived('circular', 'MaxText circulates all microbatches through the stages, once a repeat', ['pp']);
}

function modelOf({ root, said, findings }: Config): ModelShape {
  const name = textAt(root, 'model_name', unknown('a model name'), []);
  const known = name.value === null ? null : modelByName(name.value);
  const place = rangeOf(name);
  const number = (key: string, say: string, registry: number | undefined, absent: number) => {
    const fallback: Sourced<number> =
      registry === undefined || place === null
        ? byDefault(absent, `MaxText: ${key} is ${absent}`)
        : fromText(registry, place, `${known!.label} in the model registry, from ${known!.source}`);
    const written = has(root, key) && !(registry !== undefined && isBase(root, key));
    return saidNumber(said, say, written ? numberAt(root, key, WHOLE, fallback, findings) : fallback);
  };
  const experts = numberAt(root, 'num_experts', WHOLE, byDefault(1, 'MaxText: 1'), findings);
  const remat = textAt(root, 'remat_policy', byDefault('full', 'MaxText: full'), findings);
  return {
    layers: number('base_num_decoder_layers', 'model.layers', known?.layers, 16),
    hidden: number('base_emb_dim', 'model.hidden', known?.hidden, 2048),
    heads: number('base_num_query_heads', 'model.heads', known?.heads, 16),
    kvHeads: number('base_num_kv_heads', 'model.kvHeads', known?.kvHeads, 16),
    ffn: number('base_mlp_dim', 'model.ffn', known?.ffn, 7168),
    gated: byDefault(true, 'MaxText: silu and linear by default'),
    vocabulary: number('vocab_size', 'model.vocabulary', known?.vocabulary, 32_000),
    recompute:
      remat.value === null
        ? remat
        : {
            value: remat.value === 'full' ? 'full' : remat.value === 'none' ? 'none' : 'selective',
            source: remat.source,
          },
    dtype: textAt(root, 'dtype', byDefault('bfloat16', 'MaxText: bfloat16'), findings),
    experts:
      experts.value === null || experts.value === 1
        ? null
        : {
            count: experts,
            topK: numberAt(root, 'num_experts_per_tok', WHOLE, byDefault(1, 'MaxText: 1'), findings),
            ffn: numberAt(root, 'base_moe_mlp_dim', WHOLE, unknown('the width of an expert'), []),
            shared: numberAt(root, 'shared_experts', WHOLE_OR_ZERO, byDefault(0, 'MaxText: none'), findings),
          },
  };
}

/** Whether the value stands in `base.yml`, whose shape is that of no model. */
function isBase(root: TreeNode, key: string): boolean {
  const node = nodeAt(root, key);
  return node.kind === 'scalar' && /(?:^|\/)base\.ya?ml$/.test(node.range.file);
}

/** A device's share times the devices; the pipeline's microbatches part what the mesh holds together. */
function batchOf(
  { root, said, findings, anchor }: Config,
  { gpus, dp }: Pick<Plan, 'gpus' | 'dp'>,
  microbatches: Sourced<number>,
) {
  const share = numberAt(
    root,
    'per_device_batch_size',
    NOT_NEGATIVE,
    byDefault(12, 'MaxText: per_device_batch_size is 12'),
    findings,
  );
  const steps = numberAt(root, 'gradient_accumulation_steps', WHOLE, byDefault(1, 'MaxText: 1'), findings);
  const open = firstUnknown([share, gpus, steps]);
  const missing = open ?? unknown('the batch size', 'batch.global');
  if (share.value === null || gpus.value === null || steps.value === null || open !== null) {
    return {
      globalBatchSize: saidNumber(said, 'batch.global', missing),
      microBatchSize: saidNumber(said, 'batch.micro', missing),
    };
  }
  const pass = Math.floor(share.value * gpus.value);
  const m = microbatches.value ?? 1;
  const globalBatchSize = derived(pass * steps.value, `${share.value} x ${gpus.value} devices x ${steps.value}`, [
    'gpus',
  ]);
  if (pass > 0 && pass % m !== 0) {
    const message = `The batch size for a single forward pass (${pass}) must be divisible by the number of microbatches (${m})`;
    findings.push(finding('batch-not-divisible', message, rangeOf(share) ?? anchor));
  }
  const each = dp.value === null ? Number.NaN : pass / m / dp.value;
  const micro: Sourced<number> =
    Number.isInteger(each) && each >= 1
      ? derived(each, `${pass} / ${m} / ${dp.value}`, ['globalBatchSize', 'microbatches', 'dp'])
      : unknown('whole samples in a microbatch', 'batch.micro');
  return {
    globalBatchSize: saidNumber(said, 'batch.global', globalBatchSize),
    microBatchSize: saidNumber(said, 'batch.micro', micro),
  };
}

const PATHS: Readonly<Record<string, string>> = {
  'pipeline.microbatches': 'num_pipeline_microbatches',
  'pipeline.virtualStages': 'num_pipeline_repeats',
  'parallel.tensor': 'ici_tensor_parallelism',
  'parallel.context': 'ici_context_parallelism',
  'parallel.expert': 'ici_expert_parallelism',
  'model.layers': 'base_num_decoder_layers',
  'model.sequence': 'max_target_length',
  'run.steps': 'steps',
};

function edits(texts: Texts, plan: Plan, { key, value }: Change): readonly TextEdit[] | null {
  const { file } = plan.anchor;
  const text = texts[file];
  if (text === undefined || typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) return null;
  if (plan.pp.value === 1 && (key === 'pipeline.virtualStages' || key === 'pipeline.microbatches')) return null;
  const { root } = readYaml(file, text);
  if (key === 'pipeline.size') {
    const across = nodeAt(root, 'dcn_pipeline_parallelism');
    const other = across.kind === 'scalar' && typeof across.value === 'number' && across.value > 1 ? across.value : 1;
    const ici = nodeAt(root, 'ici_pipeline_parallelism');
    if (other > 1 && (ici.kind !== 'scalar' || ici.value === 1))
      return setYaml(file, text, root, 'dcn_pipeline_parallelism', String(value));
    return value % other === 0 ? setYaml(file, text, root, 'ici_pipeline_parallelism', String(value / other)) : null;
  }
  return Object.hasOwn(PATHS, key) ? setYaml(file, text, root, PATHS[key]!, String(value)) : null;
}

export const maxtext: Reader = {
  id: 'maxtext',
  title: 'MaxText configs',
  files: ['**/*.yml', '**/*.yaml'],
  parsers: ['yaml'],
  claims,
  read,
  edits,
};
