/**
 * The pipeline of a MaxText config: repeats from the layers, microbatches from the stages, and the same layers on every
 * stage. Mirrors AI-Hypercomputer/maxtext@e591f30c src/maxtext/configs/types.py (the checks, word for word) and
 * src/maxtext/layers/pipeline.py.
 */

import type { Finding } from '../../model/finding.ts';
import type { Plan, Said, StageContent } from '../../model/plan.ts';
import {
  byDefault,
  derived,
  firstUnknown,
  rangeOf,
  type Sourced,
  type TextRange,
  unknown,
} from '../../model/source.ts';
import { finding } from '../limits.ts';
import { wordAt } from '../mcore/config.ts';
import { saidNumber } from '../said.ts';
import { nodeAt, type TreeNode } from '../tree.ts';
import { booleanAt, numberAt, WHOLE, WHOLE_OR_REST, WHOLE_OR_ZERO } from '../values.ts';

const MAX_STAGES = 65_536;

export interface Config {
  readonly root: TreeNode;
  readonly said: Said;
  readonly findings: Finding[];
  readonly anchor: TextRange;
}

export interface Pipeline {
  readonly repeats: Sourced<number>;
  readonly microbatches: Sourced<number>;
  readonly stages: Plan['stages'];
}

export function pipelineOf(config: Config, pp: Sourced<number>, layers: Sourced<number>): Pipeline {
  const { root, said, findings } = config;
  if (pp.value === 1) {
    const whole =
      layers.value === null
        ? (layers as Plan['stages'])
        : derived([{ layers: layers.value, embedding: true, head: true, mtp: 0 }], 'one stage holds all', ['layers']);
    const none = saidNumber(
      said,
      'pipeline.microbatches',
      unknown('the microbatches: MaxText has them only in a pipeline', 'pipeline.microbatches'),
    );
    return { repeats: derived(1, 'no pipeline', ['pp']), microbatches: none, stages: whole };
  }
  const each = numberAt(
    root,
    'num_layers_per_pipeline_stage',
    WHOLE,
    byDefault(1, 'MaxText: num_layers_per_pipeline_stage is 1'),
    findings,
  );
  const pipelined = pipelinedLayers(config, layers);
  const repeats = saidNumber(said, 'pipeline.virtualStages', repeatsOf(config, { pp, each, pipelined }));
  return {
    repeats,
    microbatches: saidNumber(said, 'pipeline.microbatches', microbatchesOf(config, pp)),
    stages: stagesOf({ pp, each, repeats, pipelined }),
  };
}

/** DeepSeek's dense layers stand before the pipeline. */
function pipelinedLayers({ root, findings }: Config, layers: Sourced<number>): Sourced<number> {
  const written = numberAt(
    root,
    'pipeline_parallel_layers',
    WHOLE_OR_REST,
    byDefault(-1, 'MaxText: all decoder layers'),
    findings,
  );
  if (written.value !== -1) return written;
  if (wordAt(root, 'decoder_block') !== 'deepseek' || layers.value === null) return layers;
  const dense = numberAt(root, 'first_num_dense_layers', WHOLE_OR_ZERO, byDefault(0, 'MaxText: 0'), findings);
  if (dense.value === null || dense.value === 0) return layers;
  return derived(
    Math.max(0, layers.value - dense.value),
    `${layers.value} - ${dense.value} dense layers before the pipeline`,
    ['layers'],
  );
}

type Known = Readonly<Record<'pp' | 'each' | 'pipelined', Sourced<number>>>;

function repeatsOf(config: Config, { pp, each, pipelined }: Known): Sourced<number> {
  const written = numberAt(
    config.root,
    'num_pipeline_repeats',
    WHOLE_OR_REST,
    byDefault(-1, 'MaxText: from the layers'),
    config.findings,
  );
  const missing = firstUnknown([pp, each, pipelined, written]);
  if (pp.value === null || each.value === null || pipelined.value === null || written.value === null) return missing!;
  const pass = pp.value * each.value;
  const [stages, total] = [pp.value, pipelined.value];
  const refuse = (message: string): Sourced<number> => {
    const places = (
      [
        'num_pipeline_repeats',
        'num_layers_per_pipeline_stage',
        'base_num_decoder_layers',
        'pipeline_parallel_layers',
      ] as const
    ).flatMap((key) => {
      const node = nodeAt(config.root, key);
      return node.kind === 'scalar' && node.value !== -1 ? [{ message: `${key} ${node.text}`, range: node.range }] : [];
    });
    config.findings.push(finding('layers-not-divisible', message, rangeOf(pp) ?? config.anchor, places));
    return unknown('layers that the stages divide', 'pipeline.virtualStages');
  };
  if (written.value === -1) {
    return total % pass === 0
      ? derived(total / pass, `${total} layers / (${stages} stages x ${each.value} layers each)`, ['layers', 'pp'])
      : refuse(
          `The number of layers per stage (${each.value}) times the number of stages (${stages}) must divide the number of pipeline_parallel_layers which defaults to decoder layers (${total})`,
        );
  }
  return written.value * pass === total
    ? written
    : refuse(
        `The product of pipeline stages (${stages}), repeats (${written.value}), and layers per stage (${each.value}) must be equal to pipeline_parallel_layers which defaults to decoder layers (${total})`,
      );
}

function microbatchesOf({ root, findings, anchor }: Config, pp: Sourced<number>): Sourced<number> {
  const key = 'num_pipeline_microbatches';
  const delay =
    booleanAt(root, 'pipeline_delay_activation_forwarding', byDefault(false, 'MaxText: off'), findings).value === true;
  const written = numberAt(root, key, WHOLE_OR_REST, byDefault(-1, 'MaxText: as many as stages'), findings);
  if (pp.value === null) return pp;
  if (written.value === -1) {
    const how = delay
      ? 'MaxText: two for each stage with pipeline_delay_activation_forwarding'
      : 'MaxText: one for each stage when num_pipeline_microbatches is -1';
    return byDefault(delay ? 2 * pp.value : pp.value, how);
  }
  if (delay && written.value !== null && written.value < 2 * pp.value) {
    const message = `Delayed activation forwarding requires at least 2 * num_stages microbatches, but ${pp.value} stages are used with ${written.value} microbatches`;
    findings.push(finding('microbatches-below-minimum', message, rangeOf(written) ?? anchor));
  }
  return written;
}

/** Embedding and head run outside the pipeline, spread over its stages. */
function stagesOf({ pp, each, repeats, pipelined }: Known & { readonly repeats: Sourced<number> }): Plan['stages'] {
  const missing = firstUnknown([pp, each, repeats, pipelined]);
  if (pp.value === null || each.value === null || repeats.value === null)
    return (missing ?? unknown('the split')) as Plan['stages'];
  const count = pp.value * repeats.value;
  if (count > MAX_STAGES) return unknown('a split that can be listed');
  const stage: StageContent = { layers: each.value, embedding: false, head: false, mtp: 0 };
  return derived(new Array<StageContent>(count).fill(stage), `${each.value} layers on each of ${count} stages`, [
    'layers',
    'pp',
    'vpp',
  ]);
}
