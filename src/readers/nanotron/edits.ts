/** Changes in nanotron's spelling: one value of `parallelism` or `tokens` each. */

import type { Change, TextEdit } from '../../model/finding.ts';
import type { Plan } from '../../model/plan.ts';
import { setYaml } from '../yaml/edit.ts';
import { readYaml } from '../yaml/read.ts';

const PATHS: Readonly<Record<string, string>> = {
  'pipeline.size': 'parallelism.pp',
  'pipeline.microbatches': 'tokens.batch_accumulation_per_replica',
  'parallel.tensor': 'parallelism.tp',
  'parallel.data': 'parallelism.dp',
  'parallel.context': 'parallelism.context_parallel_size',
  'parallel.expert': 'parallelism.expert_parallel_size',
  'batch.micro': 'tokens.micro_batch_size',
  'model.sequence': 'tokens.sequence_length',
  'model.layers': 'model.model_config.num_hidden_layers',
  'run.steps': 'tokens.train_steps',
};

const ENGINES: Readonly<Record<string, string>> = { gpipe: 'afab', '1f1b': '1f1b' };

/** null where nanotron cannot express the change. */
export function nanotronEdits(file: string, text: string, plan: Plan, change: Change): readonly TextEdit[] | null {
  const { key, value } = change;
  const { root } = readYaml(file, text);
  if (key === 'pipeline.schedule') {
    const engine = typeof value === 'string' && Object.hasOwn(ENGINES, value) ? ENGINES[value]! : null;
    return engine === null ? null : setYaml(file, text, root, 'parallelism.pp_engine', engine);
  }
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) return null;
  if (key === 'batch.global') {
    const accumulation = accumulationFor(plan, value);
    const path = 'tokens.batch_accumulation_per_replica';
    return accumulation === null ? null : setYaml(file, text, root, path, String(accumulation));
  }
  return Object.hasOwn(PATHS, key) ? setYaml(file, text, root, PATHS[key]!, String(value)) : null;
}

/** A global batch is micro batch × accumulation × dp; only the accumulation is free. */
function accumulationFor({ microBatchSize, dp }: Plan, globalBatch: number): number | null {
  if (microBatchSize.value === null || dp.value === null) return null;
  const share = globalBatch / (microBatchSize.value * dp.value);
  return Number.isInteger(share) ? share : null;
}
