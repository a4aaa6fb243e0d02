/** Changes in the keywords and attributes of torchtitan's Python configs, in the spelling of the file's era. */

import { torchName } from '../../frameworks/torch-names.ts';
import type { Change } from '../../model/finding.ts';
import type { Plan } from '../../model/plan.ts';
import { SCHEDULE_IDS } from '../../model/schedule.ts';
import { type Edits, type PythonPlan, setPart } from '../python/edits.ts';
import { has, nodeAt } from '../tree.ts';
import type { TitanConfig } from './config.ts';

const PLAIN: Readonly<Record<string, string>> = {
  'pipeline.size': 'parallelism.pipeline_parallel_degree',
  'parallel.tensor': 'parallelism.tensor_parallel_degree',
  'parallel.context': 'parallelism.context_parallel_degree',
  'parallel.expert': 'parallelism.expert_parallel_degree',
  'run.steps': 'training.steps',
};

export function titanPythonEdits(python: PythonPlan, config: TitanConfig, plan: Plan, { key, value }: Change): Edits {
  if (plan.pp.value === 1 && (key === 'pipeline.schedule' || key === 'pipeline.virtualStages')) return null;
  if (key === 'pipeline.schedule') {
    const known = SCHEDULE_IDS.find((each) => each === value);
    const name = known === undefined ? null : torchName(known);
    return name === null ? null : setPart(python, 'parallelism.pipeline_parallel_schedule', `"${name}"`);
  }
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < 1) return null;
  if (Object.hasOwn(PLAIN, key)) return setPart(python, PLAIN[key]!, String(number));
  if (key === 'pipeline.virtualStages') return virtualStages(python, config, plan, number);
  return config.era === 'tokens' ? inTokens(python, plan, key, number) : inSamples(python, plan, key, number);
}

function inTokens(python: PythonPlan, plan: Plan, key: string, value: number): Edits {
  const context = plan.sequenceLength.value;
  switch (key) {
    case 'pipeline.microbatches':
      return plan.pp.value === 1 ? null : setPart(python, 'parallelism.num_pp_microbatches', String(value));
    case 'batch.micro':
      if (context === null) return null;
      return setPart(python, 'training.num_tokens_per_microbatch_per_dp_rank', String(value * context));
    case 'batch.global':
      return context === null ? null : setPart(python, 'training.num_tokens_per_train_step', String(value * context));
    default:
      // A longer context holds fewer samples: that would change the batch, too.
      return null;
  }
}

function inSamples(python: PythonPlan, plan: Plan, key: string, value: number): Edits {
  const size = plan.microBatchSize.value;
  switch (key) {
    case 'pipeline.microbatches':
      if (plan.pp.value === 1 || size === null) return null;
      return setPart(python, 'training.local_batch_size', String(value * size));
    case 'batch.micro':
      return setPart(python, 'parallelism.pipeline_parallel_microbatch_size', String(value));
    case 'batch.global':
      return setPart(python, 'training.global_batch_size', String(value));
    case 'model.sequence':
      return setPart(python, 'training.seq_len', String(value));
    default:
      return null;
  }
}

/** By layers per stage, where some number of them gives exactly the stages asked for. */
function virtualStages(python: PythonPlan, config: TitanConfig, { pp, model }: Plan, value: number): Edits {
  if (pp.value === null || model.layers.value === null) return null;
  if (has(config.root, 'parallelism.module_fqns_per_model_part')) return null;
  const weight = (name: string) => {
    const node = nodeAt(config.root, `parallelism.${name}`);
    return node.kind === 'scalar' && typeof node.value === 'number' ? node.value : 1;
  };
  const ends = weight('pipeline_parallel_first_stage_less_layers') + weight('pipeline_parallel_last_stage_less_layers');
  const effective = model.layers.value + ends;
  const perStage = Math.ceil(effective / (pp.value * value));
  if (Math.ceil(effective / perStage) !== pp.value * value) return null;
  return setPart(python, 'parallelism.pipeline_parallel_layers_per_stage', String(perStage));
}
