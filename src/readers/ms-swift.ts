/**
 * ms-swift's `megatron sft`, `megatron pt` and `megatron rlhf` scripts: Megatron-core behind flags with underscores,
 * switches that take `true`, and the GPUs in NPROC_PER_NODE and NNODES. Mirrors modelscope/ms-swift@3602360a5
 * swift/cli/main.py (the launcher) and swift/megatron/arguments/megatron_args.py (defaults and checks).
 */

import type { Plan } from '../model/plan.ts';
import type { Reader } from '../model/reading.ts';
import { byDefault, fromText, rangeOf, unknown } from '../model/source.ts';
import { flagCompletions } from './completion/flags.ts';
import { finding } from './limits.ts';
import type { Companions } from './mcore/config.ts';
import { withLocalModel } from './mcore/hugging-face.ts';
import { groupedByCount, withDefaults, withNamedModel } from './mcore/settings.ts';
import type { Launch } from './megatron-lm/launches.ts';
import {
  isShell,
  readScript,
  type ScriptDialect,
  type Settings,
  SHELL_GLOBS,
  scriptEdits,
} from './megatron-lm/script.ts';
import { product, variableCount } from './megatron-lm/world.ts';
import { textOf } from './shell/values.ts';

const COMMAND = /(?:^|[\s;&|])(?:megatron[ \t]+(?:sft|pt|rlhf)\b|swift[./]cli[./]_megatron[./](?:sft|pt|rlhf)\b)/m;
/** Without one of these there is nothing to tell of a pipeline. */
const SIZE = /--(?:pipeline|tensor)_model_parallel_(?:size|layout)\b/;

function claims(path: string, text: string): boolean {
  return isShell(path, text) && text.includes('megatron') && COMMAND.test(text) && SIZE.test(text);
}

const SWITCHES = ['accountEmbedding', 'accountLoss', 'noOverlapP2p', 'recomputeActivations', 'bf16', 'fp16'] as const;

const DIALECT: ScriptDialect = {
  names: {
    virtualStages: 'virtual-pipeline-model-parallel-size',
    groupSize: 'microbatch-group-size-per-vp-stage',
    sequence: 'max-length',
    queryGroups: 'num-query-groups',
  },
  spell: (name) => name.replaceAll('-', '_'),
  switches: new Set(),
  takes: ({ words }) =>
    /(?:^|[\s/])megatron (?:sft|pt|rlhf)(?:\s|$)|_megatron[./](?:sft|pt|rlhf)\b/.test(
      words.map((word) => textOf(word) ?? '').join(' '),
    ),
  requires: false,
  settings,
  world: (launch) => {
    const input = worldInput(launch);
    const perNode = variableCount(input, 'NPROC_PER_NODE');
    const nodes = variableCount(input, 'NNODES');
    const absent = unknown(
      'the GPU count: NPROC_PER_NODE, which the script does not set',
      'cluster.gpus',
      launch.place,
    );
    return product(
      perNode ?? { value: absent, argument: null, label: '' },
      nodes ?? { value: byDefault(1, 'NNODES is 1 when it is absent'), argument: null, label: '' },
    );
  },
  finish,
};

function worldInput(launch: Launch) {
  const { flags, variables, place } = launch;
  return { launcher: [], flags, variables, slurm: new Map(), place };
}

function settings(launch: Launch, read: Settings, companions: Companions): void {
  for (const key of SWITCHES) {
    const setting = read.get(key);
    const text = launch.flags.byName.get(setting?.spelled.replace(/^-+/, '').replaceAll('_', '-') ?? '')?.values[0]
      ?.text;
    if (setting !== undefined && text != null && setting.value.value !== null && setting.place !== null) {
      read.set(key, { ...setting, value: fromText(String(!/^(?:false|0|no)$/i.test(text)), setting.place) });
    }
  }
  withDefaults(
    read,
    { microBatch: '1', globalBatch: '16', etp: '1', bf16: 'true' },
    'ms-swift: its own default when the flag is absent',
  );
  const flag = launch.flags.byName.get('model');
  const model = flag?.values[0];
  const named = model?.text == null ? null : { name: model.text, range: model.range };
  if (!withLocalModel(read, companions, named)) withNamedModel(read, named);
  groupedByCount(read);
}

/** Ends of its own need a pipeline; a share of frozen layers excludes one. */
function finish(plan: Plan, launch: Launch): Plan {
  const pp = plan.pp.value;
  const findings = [...plan.findings];
  const ends = ['decoder-first-pipeline-num-layers', 'decoder-last-pipeline-num-layers'].flatMap(
    (name) => launch.flags.byName.get(name) ?? [],
  );
  if (pp === 1 && ends[0] !== undefined) {
    const message =
      'pipeline_model_parallel_size must be greater than 1 if you want to set decoder_first_pipeline_num_layers or decoder_last_pipeline_num_layers.';
    findings.push(finding('options-conflict', message, ends[0].values[0]?.range ?? ends[0].range));
  }
  const frozen = launch.flags.byName.get('freeze-parameters-ratio');
  const ratio = Number(frozen?.values[0]?.text ?? Number.NaN);
  if (frozen !== undefined && pp !== null && pp > 1 && ratio > 0 && ratio < 1) {
    const message = '`freeze_parameters_ratio` is not supported when `pipeline_model_parallel_size` > 1';
    const range = rangeOf(plan.pp);
    const related = range === null ? [] : [{ message: `pipeline_model_parallel_size ${pp}`, range }];
    findings.push(finding('options-conflict', message, frozen.values[0]?.range ?? frozen.range, related));
  }
  return { ...plan, findings };
}

export const msSwift: Reader = {
  id: 'ms-swift',
  title: 'ms-swift scripts (megatron sft, pt, rlhf)',
  files: SHELL_GLOBS,
  parsers: ['jsonc'],
  claims,
  read: (path, texts, said) => readScript(path, texts, said, DIALECT),
  edits: (texts, plan, change) => scriptEdits(texts, plan, change, DIALECT),
  completions: (_path, text, offset) => flagCompletions(text, offset, DIALECT),
};
