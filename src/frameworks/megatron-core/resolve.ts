/**
 * Megatron-core keys to plan values: sizes, batches, split, schedule and model shape, with everything that Megatron
 * would refuse. One resolver serves every front end whose framework feeds Megatron-core. Rules about the group size
 * and the microbatches of a schedule are the framework's `refuse`, which is asked for every plan.
 */

import type { Finding } from '../../model/finding.ts';
import type { Plan, Run } from '../../model/plan.ts';
import type { ScheduleId } from '../../model/schedule.ts';
import { byDefault, derived, firstUnknown, type Sourced, unknown } from '../../model/source.ts';
import { resolveBatches } from './batch.ts';
import { type Context, createContext, given, numberOf } from './context.ts';
import type { MegatronInput } from './keys.ts';
import { resolveShape } from './model-shape.ts';
import { checkOptions } from './options.ts';
import { resolveSizes } from './sizes.ts';
import { resolveSplit } from './split.ts';

/** The plan without what only a reader knows: its id, name, anchor and cluster. */
export type Resolved = Omit<Plan, 'id' | 'name' | 'framework' | 'anchor' | 'cluster' | 'findings'> & {
  readonly findings: readonly Finding[];
};

/** Never throws; what the keys do not determine is unknown. */
export function resolveMegatron(input: MegatronInput): Resolved {
  const context = createContext(input);
  const sizes = resolveSizes(context);
  const sequenceLength =
    numberOf(context, 'sequence', 1, 'model.sequence') ??
    numberOf(context, 'encoderSequence', 1, 'model.sequence') ??
    unknown('the sequence length (--seq-length)', 'model.sequence');
  const batches = resolveBatches(context, sizes.dp, sequenceLength);
  const split = resolveSplit(context, sizes.pp);
  const model = resolveShape(context, split.layers);
  checkOptions(context, sizes, split.vpp, model, sequenceLength);
  return {
    ...sizes,
    vpp: split.vpp,
    schedule: schedule(context, sizes.pp, split.vpp),
    groupSize: groupSize(context, sizes.pp),
    ...batches,
    sequenceLength,
    communication: byDefault('async', 'Megatron-LM: transfers overlap, sends do not block'),
    stages: split.stages,
    model,
    run: run(context, batches.globalBatchSize, sequenceLength),
    stageTimes: unknown('measured times per stage'),
    transferMs: unknown('the time of a transfer', 'transfer.ms'),
    measuredStepMs: unknown('a measured step time', 'measured.stepMs'),
    findings: context.findings,
  };
}

function schedule(context: Context, pp: Sourced<number>, vpp: Sourced<number>): Sourced<ScheduleId> {
  const fork = given(context, 'forkSchedule');
  if (fork !== undefined)
    return unknown(`the schedule, which ${fork.spelled} gives in a way that Megatron-LM does not know`);
  if (pp.value === null || vpp.value === null) return firstUnknown([pp, vpp]) ?? unknown('the schedule');
  if (pp.value === 1 && vpp.value === 1) return derived('none', 'one stage needs no schedule', ['pp']);
  return vpp.value > 1
    ? derived('interleaved-1f1b', `${vpp.value} virtual stages per rank`, ['pp', 'vpp'])
    : derived('1f1b', 'one stage per rank', ['pp', 'vpp']);
}

function groupSize(context: Context, pp: Sourced<number>): Sourced<number> {
  const written = numberOf(context, 'groupSize', 1, 'pipeline.groupSize');
  if (written !== null) return written;
  const why = 'Megatron-LM: the pipeline size when --microbatch-group-size-per-virtual-pipeline-stage is absent';
  return pp.value === null ? pp : byDefault(pp.value, why);
}

function run(context: Context, batch: Sourced<number>, sequence: Sourced<number>): Run {
  const steps = numberOf(context, 'trainIters', 1, 'run.steps');
  const samples = numberOf(context, 'trainSamples', 1);
  const tokens = unknown('the tokens of the run', 'run.tokens');
  if (samples === null)
    return { steps: steps ?? unknown('the length of the run (--train-iters)', 'run.steps'), tokens };
  return {
    steps: steps ?? stepsOf(samples, batch),
    tokens:
      samples.value === null || sequence.value === null
        ? tokens
        : derived(samples.value * sequence.value, `${samples.value} samples x ${sequence.value}`, ['sequenceLength']),
  };
}

function stepsOf(samples: Sourced<number>, batch: Sourced<number>): Sourced<number> {
  if (samples.value === null || batch.value === null)
    return firstUnknown([samples, batch]) ?? unknown('the steps', 'run.steps');
  return derived(Math.ceil(samples.value / batch.value), `${samples.value} samples / ${batch.value}`, [
    'globalBatchSize',
  ]);
}
