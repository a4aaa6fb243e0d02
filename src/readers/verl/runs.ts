/**
 * The runs of a verl script: `python3 -m verl.trainer.main_ppo a.b=c …`, and in each the models that are trained with
 * Megatron: the actor, the critic, or the one of a fine-tuning. Keys as in volcengine/verl@b178a3cd5
 * verl/trainer/config/{actor,critic,engine}/*.yaml.
 */

import type { Texts } from '../../model/reading.ts';
import type { TextRange } from '../../model/source.ts';
import { evaluateShell } from '../shell/evaluate.ts';
import type { ShellCommand, ShellReading } from '../shell/machine.ts';
import { type Overrides, readOverrides } from '../shell/overrides.ts';
import type { Pieces } from '../shell/values.ts';

/** Where one trained model keeps its keys. */
export interface Scope {
  readonly id: string;
  /** Parallel sizes. */
  readonly megatron: string;
  readonly micro: string;
  readonly dynamic: string;
  /** Prompts of one optimizer step. */
  readonly mini: string;
  readonly miniDefault: number | null;
  /** Samples of one prompt; null where there is one. */
  readonly samples: string | null;
  readonly model: readonly string[];
}

const ACTOR: Scope = {
  id: 'actor',
  megatron: 'actor_rollout_ref.actor.megatron',
  micro: 'actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu',
  dynamic: 'actor_rollout_ref.actor.use_dynamic_bsz',
  mini: 'actor_rollout_ref.actor.ppo_mini_batch_size',
  miniDefault: 256,
  samples: 'actor_rollout_ref.rollout.n',
  model: ['actor_rollout_ref.model.path'],
};

const CRITIC: Scope = {
  id: 'critic',
  megatron: 'critic.megatron',
  micro: 'critic.ppo_micro_batch_size_per_gpu',
  dynamic: 'critic.use_dynamic_bsz',
  mini: 'critic.ppo_mini_batch_size',
  miniDefault: null,
  samples: 'actor_rollout_ref.rollout.n',
  model: ['critic.model.path'],
};

const FINE_TUNING: Scope = {
  id: 'engine',
  megatron: 'engine',
  micro: 'data.micro_batch_size_per_gpu',
  dynamic: 'data.use_dynamic_bsz',
  mini: 'data.train_batch_size',
  miniDefault: null,
  samples: null,
  model: ['model.path'],
};

export interface Run {
  readonly command: ShellCommand;
  readonly overrides: Overrides;
  readonly scope: Scope;
  readonly id: string;
  /** The run has several trained models. */
  readonly shared: boolean;
}

const MARK = /(?:^|\.)(?:megatron|engine)\.(?:pipeline|tensor)_model_parallel_size=/;

function wanted(words: readonly Pieces[]): boolean {
  return words.some((word) => MARK.test(word[0]?.text ?? ''));
}

/** The trained models of every run of a script; the first one is `main`. */
export function readRuns(path: string, texts: Texts): { readonly runs: readonly Run[]; readonly shell: ShellReading } {
  const shell = evaluateShell(path, texts, wanted);
  const runs: Run[] = [];
  for (const command of shell.commands) {
    const overrides = readOverrides(command.words, command.range);
    const scopes = [ACTOR, CRITIC, FINE_TUNING].filter(({ megatron }) => hasSizes(overrides, megatron));
    for (const scope of scopes) {
      const id = runs.length === 0 ? 'main' : `${scope.id}-${runs.length + 1}`;
      runs.push({ command, overrides, scope, id, shared: scopes.length > 1 });
    }
  }
  return { runs, shell };
}

function hasSizes({ byKey }: Overrides, section: string): boolean {
  return byKey.has(`${section}.pipeline_model_parallel_size`) || byKey.has(`${section}.tensor_model_parallel_size`);
}

/** The token of a key in the run, for messages and places. */
export function placeOfKey({ overrides }: Run, key: string): TextRange | null {
  const found = overrides.byKey.get(key);
  return found === undefined ? null : found.value.range;
}

/** A whole number from 1 that the run sets; null where it sets none, or one that is not known. */
export function countOfKey({ overrides }: Run, key: string, absent: number | null): number | null {
  const found = overrides.byKey.get(key);
  if (found === undefined) return absent;
  const { text, maybe } = found.value;
  return maybe === null && text !== null && /^\s*\d{1,9}\s*$/.test(text) && Number(text) >= 1 ? Number(text) : null;
}
