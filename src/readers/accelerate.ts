/**
 * Hugging Face Accelerate's config for Megatron-LM: `distributed_type: MEGATRON_LM` with `megatron_lm_config`. The
 * model comes with the script, so its layers are not here. Mirrors huggingface/accelerate@16cb6eb8
 * src/accelerate/utils/dataclasses.py (MegatronLMPlugin) and commands/launch.py. A YAML block in a page of
 * documentation is read in its place.
 */

import type { Plan } from '../model/plan.ts';
import type { Reader, Texts } from '../model/reading.ts';
import { byDefault, derived, fromText, unknown } from '../model/source.ts';
import { hasSection } from './mcore/claims.ts';
import { mapAt, placeIn } from './mcore/config.ts';
import type { Interpolation } from './mcore/interpolate.ts';
import { type Document, mcoreReader, type View } from './mcore/reader.ts';
import { type Settings, type Spelling, settingsOf, under, withDefaults } from './mcore/settings.ts';
import { countAt, type World } from './mcore/world.ts';
import { stem } from './megatron-lm/plan.ts';
import { nodeAt, type TreeNode } from './tree.ts';

const SPELLING: Spelling = under('megatron_lm_config', {
  pp: ['megatron_lm_pp_degree'],
  tp: ['megatron_lm_tp_degree'],
  cp: ['megatron_lm_context_parallel_size'],
  ep: ['megatron_lm_expert_model_parallel_size'],
  etp: ['megatron_lm_expert_tensor_parallel_size'],
  lastLayers: ['megatron_lm_decoder_last_pipeline_num_layers'],
  microbatches: ['megatron_lm_num_micro_batches'],
  recomputeActivations: ['megatron_lm_recompute_activations'],
});

const MARK = /^distributed_type:[ \t]*["']?MEGATRON_LM\b/m;

function claims(path: string, text: string): boolean {
  return (
    /\.(?:ya?ml|md)$/i.test(path) &&
    text.includes('MEGATRON_LM') &&
    MARK.test(text) &&
    hasSection(text, 'megatron_lm_config')
  );
}

function views({ file, root }: Document): readonly View[] {
  if (mapAt(root, 'megatron_lm_config') === null) return [];
  const interpolation: Interpolation = { root, dialect: 'omegaconf' };
  const settings = settingsOf(interpolation, SPELLING);
  withDefaults(settings, { microbatches: '1', pp: '1', tp: '1', ep: '1', etp: '1' }, 'Accelerate: 1 when it is absent');
  const cpGiven = settings.has('cp');
  withDefaults(
    settings,
    { cp: '2' },
    'Accelerate: 2 when megatron_lm_context_parallel_size is absent (older builds: 1)',
  );
  settings.set('microBatch', {
    value: unknown('the micro batch size, which the script gives', 'batch.micro'),
    spelled: '',
    place: null,
  });
  precision(settings, root);
  return [
    {
      id: 'main',
      name: stem(file),
      settings,
      spelling: SPELLING,
      interpolation,
      world: world(interpolation),
      worldKeys: null,
      elsewhere: null,
      near: placeIn(file, root, ['megatron_lm_config.megatron_lm_pp_degree', 'megatron_lm_config']),
      finish: (plan) => (cpGiven ? plan : mild(plan)),
      edit: (_, { key, value }) => {
        const node = nodeAt(root, 'num_processes');
        if (key !== 'cluster.gpus') return undefined;
        return node.kind === 'scalar' && typeof node.value === 'number'
          ? [{ ...node.range, text: String(value) }]
          : null;
      },
    },
  ];
}

function precision(settings: Settings, root: TreeNode): void {
  const node = nodeAt(root, 'mixed_precision');
  if (node.kind !== 'scalar' || (node.value !== 'bf16' && node.value !== 'fp16')) return;
  settings.set(node.value, { value: fromText('true', node.range), spelled: 'mixed_precision', place: node.range });
}

/** `num_processes` counts the processes of all machines. */
function world(interpolation: Interpolation): World {
  const gpus = countAt(interpolation, 'num_processes', null, '');
  const machines = countAt(interpolation, 'num_machines', 1, 'Accelerate: one machine when num_machines is absent');
  const each = gpus.value === null || machines.value === null ? null : gpus.value / machines.value;
  return {
    gpus,
    gpusPerNode:
      each !== null && Number.isSafeInteger(each)
        ? derived(each, `num_processes ${gpus.value} / num_machines ${machines.value}`, ['gpus'])
        : unknown('the GPUs per node', 'cluster.gpusPerNode'),
    parts: gpus.source.kind === 'text' ? [{ message: `num_processes ${gpus.value}`, range: gpus.source.range }] : [],
  };
}

/** What only the new default of the context-parallel size refuses is a warning: older builds take 1 and run. */
function mild(plan: Plan): Plan {
  const cp = byDefault(1, '');
  const fits = (plan.gpus.value ?? 0) % ((plan.tp.value ?? 1) * (plan.pp.value ?? 1) * cp.value) === 0;
  const findings = plan.findings.map((each) =>
    each.code === 'world-size-not-divisible' && fits
      ? {
          ...each,
          severity: 'warning' as const,
          message: `${each.message}: megatron_lm_context_parallel_size is 2 when it is absent; older builds take 1`,
        }
      : each,
  );
  return { ...plan, findings };
}

const yaml = mcoreReader({
  id: 'accelerate',
  title: 'Hugging Face Accelerate for Megatron-LM',
  name: 'Accelerate',
  files: ['**/*.yaml', '**/*.yml'],
  claims,
  views,
});

/** A page of documentation with everything but its block blanked, so that offsets stay. */
function blockOnly(path: string, texts: Texts): Texts {
  const text = texts[path];
  if (text === undefined || !/\.md$/i.test(path)) return texts;
  const mark = MARK.exec(text)?.index ?? 0;
  const before = text.lastIndexOf('\n```', mark);
  const start = Math.max(text.indexOf('\n', before + 1) + 1, 0);
  const end = text.indexOf('\n```', mark);
  const head = text.slice(0, start) + text.slice(start).replace(/^[~$#>][^\n]*/, (line) => ' '.repeat(line.length));
  const kept = end < 0 ? head : head.slice(0, end) + blank(head.slice(end));
  return { ...texts, [path]: blank(kept.slice(0, start)) + kept.slice(start) };
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}

export const accelerateReader: Reader = {
  ...yaml,
  read: (path, texts, said) => yaml.read(path, blockOnly(path, texts), said),
  edits: (texts, plan, change) => yaml.edits(blockOnly(plan.anchor.file, texts), plan, change),
};
