/**
 * slime's and miles' scripts: `ray job submit … train.py` with Megatron's flags in arrays, the model's in a sourced
 * file. The GPUs are the actor's, the global batch may follow from the rollout, and with `--use-dynamic-batch-size`
 * the number of microbatches depends on the lengths of the samples. Mirrors THUDM/slime@624b824a8
 * slime/utils/arguments.py; radixark/miles has the same arguments.
 */

import type { Plan } from '../model/plan.ts';
import type { Reader } from '../model/reading.ts';
import { derived, unknown } from '../model/source.ts';
import { flagCompletions } from './completion/flags.ts';
import { finding } from './limits.ts';
import { withDefaults } from './mcore/settings.ts';
import type { Launch } from './megatron-lm/launches.ts';
import {
  isShell,
  readScript,
  type ScriptDialect,
  type Settings,
  SHELL_GLOBS,
  scriptEdits,
} from './megatron-lm/script.ts';
import { flagCount, product } from './megatron-lm/world.ts';
import type { Flag } from './shell/flags.ts';

const ACTOR = /--actor-num-(?:gpus-per-node|nodes)\b/;

function claims(path: string, text: string): boolean {
  if (!isShell(path, text) || !text.includes('--actor-num-')) return false;
  return ACTOR.test(text) && (text.includes('MODEL_ARGS') || text.includes('model-parallel-size'));
}

const DIALECT: ScriptDialect = {
  requires: false,
  takes: ({ flags }) => flags.byName.has('actor-num-nodes') || flags.byName.has('actor-num-gpus-per-node'),
  settings,
  isInert: ({ flags }, key) =>
    flags.byName.has('use-dynamic-batch-size') && (key === 'batch.micro' || key === 'pipeline.microbatches'),
  world: (launch) => {
    const { flags, variables, place } = launch;
    const input = { launcher: [], flags: { ...flags, open: [] }, variables, slurm: new Map(), place };
    return product(flagCount(input, ['actor-num-gpus-per-node'], 8), flagCount(input, ['actor-num-nodes'], 1));
  },
  finish,
};

function settings(launch: Launch, read: Settings): void {
  const dynamic = launch.flags.byName.get('use-dynamic-batch-size');
  if (dynamic !== undefined && dynamic.maybe === null) {
    const packed = (what: string, say: string) =>
      unknown(
        `${what}, which ${dynamic.spelled} makes depend on the lengths of the samples${rolloutNote(launch)}`,
        say,
        dynamic.range,
      );
    const spelled = dynamic.spelled;
    read.set('microbatches', {
      value: packed('the number of microbatches', 'pipeline.microbatches'),
      spelled,
      place: dynamic.range,
    });
    read.set('microBatch', { value: packed('the micro batch size', 'batch.micro'), spelled, place: dynamic.range });
    return;
  }
  withDefaults(read, { microBatch: '1' }, 'slime: --micro-batch-size is 1 when it is absent');
  const rollout = rolloutBatch(launch);
  if (rollout === null || read.has('globalBatch')) return;
  const how = `${rollout.batch} prompts x ${rollout.samples} samples / ${rollout.steps} steps per rollout`;
  const value = derived(String(rollout.size), how, ['globalBatchSize']);
  read.set('globalBatch', { value, spelled: rollout.flag.spelled, place: rollout.flag.range });
}

interface Rollout {
  readonly batch: number;
  readonly samples: number;
  readonly steps: number;
  readonly size: number;
  readonly flag: Flag;
}

/** The global batch that `--num-steps-per-rollout` gives; null where the launch does not have it. */
function rolloutBatch({ flags }: Launch): Rollout | null {
  const number = (name: string, absent: number | null): number | null => {
    const text = flags.byName.get(name)?.values[0]?.text;
    return text === undefined ? absent : text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
  };
  const flag = flags.byName.get('num-steps-per-rollout');
  const [batch, samples, steps] = [
    number('rollout-batch-size', null),
    number('n-samples-per-prompt', 1),
    number('num-steps-per-rollout', null),
  ];
  if (flag === undefined || batch === null || samples === null || steps === null || steps < 1) return null;
  return { batch, samples, steps, size: Math.floor((batch * samples) / steps), flag };
}

function rolloutNote(launch: Launch): string {
  const rollout = rolloutBatch(launch);
  return rollout === null
    ? ''
    : ` (${rollout.batch} x ${rollout.samples} / ${rollout.steps} = ${rollout.size} samples a step)`;
}

/** The two ways to give the global batch must agree; a dynamic batch needs a bound. */
function finish(plan: Plan, launch: Launch): Plan {
  const findings = [...plan.findings];
  const rollout = rolloutBatch(launch);
  const written = launch.flags.byName.get('global-batch-size');
  const size = Number(written?.values[0]?.text ?? Number.NaN);
  if (rollout !== null && Number.isSafeInteger(size) && size !== rollout.size) {
    const message = `global_batch_size ${size} is not equal to rollout_batch_size ${rollout.batch} * n_samples_per_prompt ${rollout.samples} // num_steps_per_rollout ${rollout.steps}`;
    const related = [
      {
        message: `${rollout.flag.spelled} ${rollout.steps}`,
        range: rollout.flag.values[0]?.range ?? rollout.flag.range,
      },
    ];
    findings.push(finding('options-conflict', message, written!.values[0]!.range, related));
  }
  const dynamic = launch.flags.byName.get('use-dynamic-batch-size');
  if (dynamic !== undefined && !launch.flags.byName.has('max-tokens-per-gpu') && launch.flags.open.length === 0) {
    findings.push(
      finding('missing-value', 'max_tokens_per_gpu must be set when use_dynamic_batch_size is set', dynamic.range),
    );
  }
  return { ...plan, findings };
}

export const slime: Reader = {
  id: 'slime',
  title: 'slime and miles scripts',
  files: SHELL_GLOBS,
  parsers: ['jsonc'],
  claims,
  read: (path, texts, said) => readScript(path, texts, said, DIALECT),
  edits: (texts, plan, change) => scriptEdits(texts, plan, change, DIALECT),
  completions: (_path, text, offset) => flagCompletions(text, offset, DIALECT),
};
